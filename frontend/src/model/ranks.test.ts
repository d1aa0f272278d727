import { expect, test } from "vitest";

import type { RankJob } from "../api/types";
import {
  barRows,
  decodeCells,
  differInLength,
  draggedOver,
  exposedOf,
  facetOf,
  firstMeasure,
  hasUnmatched,
  isMostlyLast,
  labelsOf,
  largestOf,
  linesOf,
  barsOf,
  besideLargest,
  kindsIn,
  membersCsv,
  rowsShown,
  scaleOf,
  sortedRows,
  sortsOf,
  zoomedRange,
} from "./ranks";

const packed = (values: readonly number[]): string => {
  const bytes = new Uint8Array(new Uint32Array(values).buffer);
  return btoa(String.fromCharCode(...bytes));
};

const job = {
  verdict: { cost_ns: null },
  dimensions: [{ kind: "tp" }, { kind: "pp" }],
  ranks: {
    coordinates: ["0,10", "0,9", "1,9"],
    rank: [0, 1, 2],
    iterations: [2, 2, 2],
    host: ["b10", "b9", "b9"],
    window_ns: [200, 200, null],
    compute_ns: [120, 100, null],
    compute_tensor_ns: [100, 90, null],
    compute_other_ns: [20, 10, null],
    compute_unknown_ns: [0, 0, null],
    exposed_communication_ns: [60, 80, null],
    exposed_transfer_ns: [20, 20, null],
    exposed_wait_ns: [30, 60, null],
    exposed_copy_ns: [8, 8, null],
    idle_ns: [12, 12, null],
    data_loader_ns: [6, 0, null],
    queued_ns: [2, 0, null],
    launching_ns: [4, 12, null],
    ...Object.fromEntries(
      ["blocked", "host_op", "host_code", "io", "launch_unknown", "unrecorded"].map((part) => [
        `${part}_ns`,
        [0, 0, null],
      ]),
    ),
    own_delay_ns: [1, 9, null],
    cost_ns: [0, 5, null],
  },
} as unknown as RankJob;

test("of the own rank's bar, what GPU work is missing from is told apart from queued time", () => {
  const queued = { ...job, rank: 0, ranks: { ...job.ranks, queued_ns: [60, 60, null] } };
  const seen = (missing: number) =>
    barsOf(queued, [0, 1], "Tensor Core", missing).map((bar) =>
      bar?.flatMap(({ label, ns }) => (label.startsWith("Queued") ? [[label, ns]] : [])),
    );
  expect(seen(0.8)).toEqual([
    [
      ["Queued", 6],
      ["Queued, GPU work missing", 24],
    ],
    [["Queued", 30]],
  ]);
  expect(seen(0)[0]).toEqual([["Queued", 30]]);
});

test("cells are numbers of the unit, and what is unknown is not 0", () => {
  const shape = { rows: 1, columns: 3, first: 0, ranks: 1, iterations: 1, unit_ns: 1000, unknown: 7 };
  expect([...decodeCells({ ...shape, cells: packed([1, 7, 0]) })]).toEqual([1000, NaN, 0]);
  expect(scaleOf([5, NaN, 3], false)).toEqual({ low: 3, high: 5 });
  expect(scaleOf([NaN], true)).toBeNull();
});

test("a rank that is last as often as by chance is not named", () => {
  expect([16 / 31, 0.5, 4 / 9, null].map((share) => isMostlyLast({ last_fraction: share }))).toEqual(
    Array(4).fill(false),
  );
  expect([0.6, 1].map((share) => isMostlyLast({ last_fraction: share }))).toEqual([true, true]);
});

test("where nobody can tell who costs time, iterations are shown first", () => {
  const shown = { ...job, own_delay_fraction: 0.1 };
  expect(firstMeasure({ ...shown, own_delay_fraction: null })).toBe("duration");
  expect(firstMeasure(shown)).toBe("own_delay");
  expect(firstMeasure({ ...shown, verdict: { ...job.verdict, cost_ns: 5 } })).toBe("cost");
});

test("iterations are looked at closer around one of them, never beyond the first and the last", () => {
  expect(zoomedRange([0, 9], 9, 0.5, 10)).toEqual([5, 9]);
  expect(zoomedRange([5, 9], 6, 0.5, 10)).toEqual([5, 6]);
  expect(zoomedRange([3, 3], 3, 0.5, 10)).toEqual([3, 3]);
  expect(zoomedRange([0, 3], 0, 2, 10)).toEqual([0, 7]);
  expect(zoomedRange([0, 7], 4, 2, 10)).toBeNull();
});

test("a drag along one axis does not mean the other, a slanting one means both", () => {
  expect(draggedOver([5, 8], [6, 2], [-60, 14])).toEqual({ places: null, columns: [2, 8] });
  expect(draggedOver([5, 8], [2, 7], [-14, -60])).toEqual({ places: [2, 5], columns: null });
  expect(draggedOver([5, 8], [2, 2], [-60, -30])).toEqual({ places: [2, 5], columns: [2, 8] });
  expect(draggedOver([5, 8], [5, 8], [3, 2])).toEqual({ places: null, columns: null });
});

test("rows are counted from 1, and all are shown where a link names none of them", () => {
  expect(rowsShown("3-4", 8)).toEqual([2, 3]);
  expect(rowsShown("7-99", 8)).toEqual([6, 7]);
  for (const text of [undefined, "9-12", "4-3", "0-2", "x"]) expect(rowsShown(text, 8)).toEqual([0, 7]);
});

test("rows are sorted by rank, by host in the order that people count, or by what is shown", () => {
  const shape = { rows: 3, columns: 2, ranks: 1 };
  const values = new Float64Array([1, 1, NaN, 9, 4, 0]);
  expect(sortedRows(job, values, shape, "rank")).toEqual([0, 1, 2]);
  expect(sortedRows(job, values, shape, "value")).toEqual([1, 2, 0]);
  expect(sortedRows(job, values, shape, "host")).toEqual([1, 2, 0]);
  expect(sortedRows(job, values, shape, "stage")).toEqual([1, 2, 0]);
  expect(sortsOf(job).map(([id]) => id)).toContain("stage");
  expect(sortsOf({ ...job, dimensions: [] }).map(([id]) => id)).not.toContain("stage");
  expect([facetOf(job, 0, "stage"), facetOf(job, 0, "host"), facetOf(job, 0, "rank")]).toEqual(["Stage 10", "b10", ""]);
});

test("the exposed communication of a rank is told apart where the job knows it of the same time", () => {
  const own = {
    iterations_by_number: { iteration: [1, 2, 3] },
    exposed_by_iteration: {
      exposed_transfer_ns: [5, 10, 20],
      exposed_wait_ns: [5, 30, 40],
      exposed_unmatched_ns: [0, 0, 0],
    },
  } as unknown as RankJob;
  expect(exposedOf(own, [2, 3], 50)).toEqual({ transfer: 15, wait: 35, unmatched: 0 });
  expect(exposedOf(own, [2, 3], 60)).toBeNull();
  expect(exposedOf(own, [3, 4], 50)).toBeNull();
});

test("the bars of ranks are divided as that of one GPU, communication told apart; a rank without GPU work has none", () => {
  const bars = barsOf(job, [0, 1, 2], "Tensor Core");
  expect(bars.map((bar) => bar?.map(({ label, ns }) => [label, ns]) ?? null)).toEqual([
    [
      ["Tensor Cores", 50],
      ["Other kernels", 10],
      ["Transfer", 10],
      ["Waiting", 15],
      ["Unmatched", 5],
      ["Copies, exposed", 4],
      ["Data loader", 3],
      ["Launching", 2],
      ["Queued", 1],
    ],
    [
      ["Tensor Cores", 45],
      ["Other kernels", 5],
      ["Transfer", 10],
      ["Waiting", 30],
      ["Copies, exposed", 4],
      ["Launching", 6],
    ],
    null,
  ]);
  expect(bars[0]?.reduce((sum, { ns }) => sum + ns, 0)).toBe(100);
  expect(kindsIn(bars, "Tensor Core").map(({ label }) => label)).toEqual([
    "Tensor Cores",
    "Other kernels",
    "Transfer",
    "Waiting",
    "Unmatched",
    "Copies, exposed",
    "Data loader",
    "Launching",
    "Queued",
  ]);
});

test("what is noise beside the largest is only told to be less, and nothing is 0", () => {
  expect(besideLargest(100, 1_200_000)).toEqual({ text: "<0.012", isNoise: true });
  expect(besideLargest(0, 1_200_000)).toEqual({ text: "0", isNoise: true });
  expect(besideLargest(1_200_000, 1_200_000)).toEqual({ text: "1.20", isNoise: false });
});

test("of a large job only those bars are drawn that differ most", () => {
  expect(barRows(job)).toEqual([0, 1, 2]);
  expect(barRows(job, 2, 1)).toEqual([1]);
});

test("where rows are more than lines, each line shows the largest of its rows", () => {
  const rows = [0, 1, 2, 3, 4];
  expect([0, 1].map((line) => linesOf(rows, line, 2))).toEqual([
    [0, 1],
    [2, 3, 4],
  ]);
  expect(linesOf(rows, 4, 5)).toEqual([4]);
  expect(largestOf(new Float64Array([1, NaN, 7]), [0, 1, 2], 0, 1)).toBe(7);
  expect(largestOf(new Float64Array([NaN]), [0], 0, 1)).toBeNaN();
});

test("where a host or a stage begins it is named, and ranks where there is room", () => {
  const facets = ["a", "a", "a", "a", "b", "b", "b"];
  const ranks = facets.map((_, rank) => `Rank ${rank}`);
  expect(labelsOf(facets, ranks, 2).map(({ text }) => text)).toEqual(["a", "Rank 2", "b", "Rank 6"]);
  expect(labelsOf(facets, ranks, 3).map(({ text }) => text)).toEqual(["a", "b"]);
  const none = ranks.map(() => "");
  expect(labelsOf(none, ranks, 3).map(({ place }) => place)).toEqual([0, 4]);
  expect(labelsOf(none, ranks, 2, 3).map(({ place }) => place)).toEqual([3, 0, 6]);
});

test("an operation as CSV has a line for each rank", () => {
  const members = [
    { rank: 0, start_ns: 5, wait_ns: 20 },
    { rank: 3, start_ns: 25, wait_ns: 0 },
  ];
  expect(membersCsv({ members, transfer_ns: 7 })).toBe("rank,start_ns,wait_ns,transfer_ns\r\n0,5,20,7\r\n3,25,0,7\r\n");
});

test("communication that is neither waiting nor transfer is said to be there", () => {
  expect(hasUnmatched(job)).toBe(true);
  const matched = { ...job, ranks: { ...job.ranks, exposed_communication_ns: [25, 40, null] } };
  expect(hasUnmatched(matched)).toBe(false);
});

test("tells whether iterations of ranks differ in length, of those known", () => {
  const ofLengths = (window_ns: (number | null)[]): boolean =>
    differInLength({ ...job, ranks: { ...job.ranks, window_ns } });
  expect(ofLengths([200, 209, null])).toBe(false);
  expect(ofLengths([200, 211, null])).toBe(true);
  expect(ofLengths([null, null, null])).toBe(false);
});
