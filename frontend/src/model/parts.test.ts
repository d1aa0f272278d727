import { describe, expect, it } from "vitest";

import type { DashboardResponse, DiagnosedDevice, Diagnosis } from "../api/types";
import { exposedCommunication, exposedOf, mainDevice, partKinds, runningOf, shownParts } from "./parts";

const device = (parts: Partial<DiagnosedDevice["parts"]>) => ({ parts, rows: [] }) as unknown as DiagnosedDevice;
const mean = (devices: Record<string, DiagnosedDevice>) => ({ devices }) as unknown as Diagnosis["mean"];

it("tells for how much of the time of the headline kernels run, and of which", () => {
  const worked = mean({ 0: device({ compute_other: 20, communication: 5, copy: 9 }) });
  const diagnosis = { marked: false, mean: { ...worked, wall_ns: 100 }, lower_bound: [] } as unknown as Diagnosis;
  expect(runningOf(diagnosis)).toEqual({ share: 0.25, said: "25.0 % of the 100 ns from first to last GPU work" });
  const missing: Diagnosis = { ...diagnosis, marked: true, lower_bound: ["missing_work"] };
  expect(runningOf(missing)?.said).toBe("at least 25.0 % of the 100 ns of an iteration");
  expect(runningOf({ ...diagnosis, mean: mean({}) })).toBeNull();
});

describe("the GPU that the headline is about", () => {
  it("computes least of those that the program works with, not one that only gets a copy now and then", () => {
    const devices = {
      1: device({ copy: 30 }),
      4: device({ compute_other: 15_000, copy: 200 }),
      6: device({ compute_other: 14_000, communication: 900 }),
    };
    expect(mainDevice({ mean: mean(devices) })?.[0]).toBe("6");
  });

  it("is not one that only copies beside one that computes less", () => {
    const devices = { 0: device({ copy: 300 }), 1: device({ compute_other: 200 }) };
    expect(mainDevice({ mean: mean(devices) })?.[0]).toBe("1");
  });

  it("is any where none computes, and none where none works", () => {
    expect(mainDevice({ mean: mean({ 0: device({ copy: 30 }) }) })?.[0]).toBe("0");
    expect(mainDevice({ mean: mean({}) })).toBeNull();
  });
});

describe("what a sentence names beside idle time", () => {
  it("is what is exposed for a tenth of the time or more, however long the GPU is idle, the longest first", () => {
    expect(exposedOf({ communication: 70, copy: 4 }, 100)).toEqual([{ key: "communication", ns: 70 }]);
    expect(exposedOf({ communication: 12, copy: 20, blocked: 60 }, 100)).toEqual([
      { key: "copy", ns: 20 },
      { key: "communication", ns: 12 },
    ]);
  });

  it("is nothing where little is exposed", () => {
    expect(exposedOf({ communication: 9 }, 100)).toEqual([]);
    expect(exposedOf({ compute_other: 99 }, 100)).toEqual([]);
  });
});

describe("exposed communication", () => {
  const iteration = (typical: boolean, parts: Partial<DiagnosedDevice["parts"]>) =>
    ({ typical, devices: { 0: device(parts) } }) as unknown as Diagnosis["iterations"][number];
  const asked = (counted: number, others: number) =>
    ({
      performance: { profiled_iterations: counted },
      resource_breakdown: [{ resource: "other_kernel", time_ns: others, fraction: null }],
    }) as unknown as DashboardResponse;
  const answer = {
    mean: mean({ 0: device({}) }),
    iterations: [
      iteration(false, { communication: 900 }),
      iteration(true, { communication: 30, compute_other: 70 }),
      iteration(true, { communication: 40, compute_other: 60 }),
    ],
  };

  it("is a sum over the iterations that DLProf's numbers are of", () => {
    expect(exposedCommunication(answer, asked(2, 200))).toBe(70);
  });

  it("is not told where the diagnosis is of others", () => {
    expect(exposedCommunication(answer, asked(3, 200))).toBe(0);
    expect(exposedCommunication(answer, asked(2, 300))).toBe(0);
    expect(exposedCommunication({ ...answer, mean: mean({ 0: device({}), 1: device({}) }) }, asked(2, 200))).toBe(0);
  });
});

describe("the parts with an entry of their own", () => {
  const keys = (parts: Partial<DiagnosedDevice["parts"]>): string[] =>
    shownParts(parts, 1000, "Tensor Core").shown.map(({ kind }) => kind.key);

  it("have a hundredth of the time, or are all the computing there is", () => {
    expect(keys({ compute_tensor: 2, compute_other: 1, copy: 9, unrecorded: 988 })).toEqual([
      "compute_tensor",
      "compute_other",
      "unrecorded",
    ]);
    expect(keys({ compute_tensor: 900, compute_other: 9, copy: 91 })).toEqual(["compute_tensor", "copy"]);
  });

  it("communicate, however little: the timeline beside the bar shows it", () => {
    expect(keys({ compute_other: 17, communication: 3, queued: 980 })).toEqual([
      "compute_other",
      "communication",
      "queued",
    ]);
  });
});

it("leads from what was computed to the kernels that did it", () => {
  const opens = (key: string) => partKinds("Tensor Core").find((kind) => kind.key === key)?.to;
  const kernels = { view: "ops", "ops.by": "kernel" };
  expect(opens("compute_tensor")).toEqual({ ...kernels, "allkernels.where.using_tensor_cores": "yes" });
  expect(opens("compute_other")).toEqual({ ...kernels, "allkernels.where.using_tensor_cores": "no" });
});
