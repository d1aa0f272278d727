import { expect, it, test } from "vitest";

import type { CompareResponse } from "../api/types";
import {
  barAt,
  changeOf,
  changesOf,
  isPaired,
  median,
  orderBars,
  orderLabels,
  programOrder,
  withNames,
} from "./comparison";
import { nodes } from "../testing/tree";
import { buildTree, Rows } from "./group_tree";
import { signedAmount, signedDuration, signedPercent, signedShare } from "./change";

const compared = {
  a: { value_ns: 100 },
  b: { value_ns: 130 },
  change_ns: 30,
  measures: {},
  parts: [
    { part: "other_kernel", label: "Other kernels", a_ns: 60, b_ns: 50, change_ns: -10 },
    { part: "data_loader", label: "Data loader", a_ns: 40, b_ns: 80, change_ns: 40 },
    { part: "io", label: "I/O", a_ns: 0, b_ns: 0, change_ns: 0 },
  ],
  kinds: [
    { name: "y", change_ns: 40 },
    { name: "x", change_ns: -10 },
  ],
  order: { name: ["x", "y"], kind: ["op", "part"], count: [1, 1], position: [0, 1], a_ns: [60, 40], b_ns: [50, 80] },
  modules: [
    { path: "/m", level: 1, a_ns: 60, b_ns: 50, rows: 2, change_ns: -10 },
    { path: "/m/n", level: 2, a_ns: 30, b_ns: 20, rows: 1, change_ns: -10 },
  ],
} as unknown as CompareResponse;

test("the sum over the bars in program order ends at the whole change", () => {
  const bars = orderBars(programOrder(compared, true));
  expect(bars.at(-1)?.sum).toBe(30);
  expect(bars.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1);
  expect(barAt(bars, 0)).toBe(0);
  expect(barAt(bars, 1)).toBe(1);
});

test("layers that repeat are one in program order, and all time stays", () => {
  const name = ["/embed", ...["/h.0/a", "/h.0/b", "/h.1/a", "/h.1/b", "/h.2/b"], "/loss1", "Idle 1"];
  const ones = name.map(() => 1);
  const kind = name.map((each) => (each.startsWith("/") ? "op" : "part"));
  const order = { name, kind, count: ones, position: name.map((_, i) => i), a_ns: ones, b_ns: name.map((_, i) => i) };
  const compared = { order } as unknown as CompareResponse;
  expect(programOrder(compared, false).name).toEqual(name);
  const folded = programOrder(compared, true);
  expect(folded.name).toEqual(["/embed", "/h.0..1/a", "/h.0..2/b", "/loss1", "Idle 1"]);
  expect(folded.count).toEqual([1, 2, 3, 1, 1]);
  expect(folded.position).toEqual([0, 1, 2, 6, 7]);
  expect(folded.last).toEqual([0, 3, 5, 6, 7]);
  expect(folded.b_ns).toEqual([0, 4, 11, 6, 7]);
});

test("changes have a sign", () => {
  expect(signedDuration(22_230_539)).toBe("+22.2 ms");
  expect(signedDuration(-1_310_000)).toBe("−1.31 ms");
  expect(signedAmount(12, "<0.0001")).toBe("<0.0001");
  expect(signedShare(-0.506)).toBe("−50.6 %");
  expect(signedShare(-0.9998)).toBe("<−99.9 %");
  expect(signedShare(0.9998)).toBe(">+99.9 %");
  expect(signedShare(8.5)).toBe("+850 %");
  expect(signedShare(2137.999)).toBe("×2,140");
  expect(signedPercent(12.3)).toBe("+1,230 %");
  expect(median([3, 1, 2, 10])).toBe(2.5);
  expect(median([])).toBeNull();
});

it("names the runs of A and B once each, outside of names of ops", () => {
  const text =
    "An iteration of B takes 23 % less time. 41 ms of it is `A B`, which only A has; those of B and of A are B's";
  expect(withNames(text, "fp32", "amp")).toBe(
    "An iteration of B (amp) takes 23 % less time. 41 ms of it is `A B`, which only A (fp32) has; those of B and of A are B's",
  );
  expect(withNames("B is slower", "runs", "runs")).toBe("B is slower");
});

test("the largest bars in program order are named first, however narrow they are, and no name lies on another", () => {
  const bar = (x: number, width: number, change: number) => ({ x, width, change, sum: 0 });
  const bars = [bar(0, 0.5, -1e6), bar(0.5, 0.48, 1e5), bar(0.98, 0.01, 24e6), bar(0.99, 0.01, 20e6)];
  const y = (ns: number) => 120 - ns / 2.5e5;
  const labels = orderLabels(bars, ["linear", "relu", "Data loader", "Launching"], 1000, y);
  expect(labels.map(({ bar: place, anchor }) => [place, anchor])).toEqual([
    [2, "end"],
    [0, "middle"],
    [1, "middle"],
  ]);
  // What is less stands below its bar, so that it lies on no bar that is more beside it.
  expect(labels[1]?.y).toBeGreaterThan(y(-1e6));
  expect(labels[0]?.y).toBeLessThan(y(24e6));
  // A name that would hide another bar is left out.
  const beside = [bar(0, 0.2, 9e6), bar(0.2, 0.02, 4e6), bar(0.22, 0.78, -4e6)];
  expect(orderLabels(beside, ["a", "beside", "c"], 1000, y).map(({ bar: place }) => place)).toEqual([0, 2]);
});

test("all work, modules and ops of the tree have their change, but no row with kernels of which nothing is told", () => {
  const tree = buildTree(nodes(), "");
  const rows = new Rows(tree, { sort: "", fold: false, visible: null }).visible(() => true);
  const op = tree.nodes.op_id.find((id) => id !== null) ?? "";
  const times = { level: 1, rows: 1, a_ns: 5, b_ns: 3 };
  const changes = changesOf({
    modules: [{ path: "/Net", ...times }],
    ops: [{ op_id: op, a_ns: 4, b_ns: 6 }],
    measures: { kernel_time: { a: 9, b: 7 } } as unknown as CompareResponse["measures"],
  });
  const told = rows.flatMap((row) => {
    const change = changeOf(changes, tree, row);
    return typeof change === "string" ? [] : [[row.gathers ?? (row.isOp ? "op" : row.name), change.b_ns - change.a_ns]];
  });
  expect(new Map(told as [string, number][])).toEqual(
    new Map([
      ["all", -2],
      ["Net", -2],
      ["no op", 2],
      ["op", 2],
    ]),
  );
});

test("ops without kernels of which nothing is told add nothing to the change of a folded row", () => {
  const few = nodes();
  few.kernel_time_ns = few.kernel_time_ns.map((time, i) => (few.op_id[i] === "CONV_1" ? 0 : time));
  const tree = buildTree(few, "");
  const rows = new Rows(tree, { sort: "", fold: true, visible: null }).visible(() => true);
  const folded = rows.find(({ members }) => members.length > 1 && few.op_id[members[0] ?? 0] === "CONV_0");
  const linear = rows.find(
    ({ members }) => few.op_id[members[0] ?? 0] === "LINEAR_0" || few.name[members[0] ?? 0] === "Head",
  );
  const changes = (ops: { op_id: string; a_ns: number; b_ns: number }[]) =>
    changesOf({ modules: [], ops, measures: {} });
  const conv = { op_id: "CONV_0", a_ns: 4, b_ns: 6 };
  expect(isPaired(changes([conv]), tree)).toBe(true);
  // As where only kernels of one name are compared.
  expect(isPaired(changes([{ ...conv, op_id: "some_kernel" }]), tree)).toBe(false);
  const folds = folded ?? rows[0];
  if (folds === undefined || linear === undefined) throw new Error("no rows");
  expect(changeOf(changes([conv]), tree, folds)).toEqual({ a_ns: 4, b_ns: 6 });
  expect(changeOf(changes([]), tree, folds)).toContain("not known");
  expect(changeOf(changes([conv]), tree, linear)).toContain("not known");
  few.kernel_time_ns = few.kernel_time_ns.map(() => 0);
  expect(changeOf(changes([]), tree, linear)).toContain("No kernels");
});
