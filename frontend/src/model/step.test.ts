import { expect, it } from "vitest";

import type { Diagnosis } from "../api/types";
import { dashboard, iterationRow } from "../testing/builders";
import { isWarmUp, splitRows, stepOf, stepWithout } from "./step";

const NONE = { tensor_core: 0, unknown_kernel: 0, other_kernel: 0, memory: 0, data_loader: 0, io: 0, cpu: 0, other: 0 };

it("warm-up are the first iterations of the recording, wherever one looks", () => {
  const rows = [5, 6, 7, 8, 9].map((iteration) => iterationRow({ iteration }));
  const data = dashboard({ iterations: { ...dashboard().iterations, rows } });
  const diagnosis = {
    typical: { start: 2, stop: 3, left_out: [], why: ["warm_up"], said: "", labels: [] },
    iterations: rows.map((_, index) => ({ index })),
  } as unknown as Diagnosis;
  expect(
    rows.filter(({ iteration }) => isWarmUp(iteration, diagnosis, data)).map(({ iteration }) => iteration),
  ).toEqual([5, 6]);
  const other = { ...diagnosis, typical: { ...diagnosis.typical, why: ["became_slower"] } };
  expect(isWarmUp(5, other, data)).toBe(false);
});

it("shows in all bars of iterations what is large enough in any of them", () => {
  const rows = [
    iterationRow({ iteration: 0, duration_ns: 1000, parts: { ...NONE, other_kernel: 985, memory: 8, io: 7 } }),
    iterationRow({ iteration: 1, duration_ns: 100, parts: { ...NONE, other_kernel: 90, memory: 10 } }),
  ];
  const step = stepWithout(dashboard({ iterations: { ...dashboard().iterations, rows } }));
  expect(step?.iterations.map(({ segments }) => segments.map(({ label, ns }) => [label, ns]))).toEqual([
    [
      ["Other kernels", 985],
      ["Copies, exposed", 8],
      ["Rest", 7],
    ],
    [
      ["Other kernels", 90],
      ["Copies, exposed", 10],
    ],
  ]);
});

it("splits bars by DLProf's classes under the names of parts, as the Dashboard does, where no GPU worked", () => {
  const rows = [
    iterationRow({ parts: { ...NONE, tensor_core: null, cpu: 96, other: 4 } }),
    iterationRow({ parts: null }),
  ];
  const split = splitRows(rows, { mean: { devices: {} } } as Diagnosis, dashboard());
  expect(split?.[0]?.parts).toMatchObject({ host_op: 96, unrecorded: 4, compute_tensor: null });
  expect(split?.[1]?.parts).toBeNull();
});

it("tells the time that GPU work is missing from apart from other queued time, as the sentence does", () => {
  const queued = (unexplained: number, findings: object[]) => {
    const device = {
      parts: { compute_other: 1_000_000, queued: 53_600_000 },
      queued: { turnaround: 53_600_000 - unexplained, dependency: 0, graph: 0, unexplained },
      rows: [],
    };
    const mean = { wall_ns: 62_600_000, iterations: 1, selected: [0], devices: { 0: device } };
    const diagnosis = { marked: true, mean, iterations: [], findings } as unknown as Diagnosis;
    return stepOf(diagnosis, dashboard())?.segments.map(({ label, ns }) => [label, ns]);
  };
  const finding = { rule: "unrecorded_gpu_work", missing_work: "some", time_ns: 53_400_000, share: 0.853, part: null };
  const computing = ["Other kernels", 1_000_000];
  const missing = ["Queued, GPU work missing", 53_400_000];
  expect(queued(53_400_000, [finding])).toEqual([computing, missing, ["Rest", 200_000]]);
  expect(queued(20_000_000, [finding])).toEqual([computing, ["Queued", 53_600_000]]);
  expect(queued(53_400_000, [])).toEqual([computing, ["Queued", 53_600_000]]);
});
