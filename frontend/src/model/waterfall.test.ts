import { expect, test } from "vitest";

import type { CompareResponse } from "../api/types";
import { waterfall, waterfallAxis } from "./waterfall";

const MS = 1e6;

const part = (name: string, change: number, a = 90) => ({
  part: name,
  label: name,
  a_ns: a * MS,
  b_ns: (a + change) * MS,
  change_ns: change * MS,
});

/** Of times in ms: what is not in a part is in `other`. */
function pair(
  parts: readonly ReturnType<typeof part>[],
  kinds: readonly (readonly [string, number])[],
  kernelTime: number | null = null,
  communication = 0,
): CompareResponse {
  const sum = (key: "a_ns" | "b_ns") => parts.reduce((all, one) => all + one[key], 0);
  return {
    a: { value_ns: sum("a_ns") },
    b: { value_ns: sum("b_ns") },
    change_ns: sum("b_ns") - sum("a_ns"),
    parts,
    kinds: kinds.map(([name, change]) => ({ name, change_ns: change * MS })),
    communication_ns: communication * MS,
    measures: kernelTime === null ? {} : { kernel_time: { a: 0, b: kernelTime * MS } },
  } as unknown as CompareResponse;
}

const told = (result: CompareResponse) => waterfall(result).steps.map(({ label, kind, text }) => [label, kind, text]);

test("the waterfall goes from A to B without a gap", () => {
  const { steps } = waterfall(pair([part("other_kernel", -10, 60), part("data_loader", 40, 40), part("io", 0, 0)], []));
  expect(steps.map(({ kind }) => kind)).toEqual(["total", "less", "more", "total"]);
  expect(steps[2]).toMatchObject({ from: 90 * MS, to: 130 * MS });
  expect(waterfallAxis(steps)[0]).toBeGreaterThan(0);
});

test("without parts, types of ops are the steps, so many that others together are not the largest", () => {
  const kinds = Array.from({ length: 30 }, (_, i) => [`op${i}`, i < 3 ? 4 - i : 1] as const);
  const one = { ...pair([], kinds), a: { value_ns: 10 * MS }, b: { value_ns: 46 * MS } } as CompareResponse;
  const steps = told(one);
  expect(steps).toHaveLength(15);
  expect(steps[13]).toEqual(["18 smaller changes", "more", "+18.0 ms"]);
  const fewer = { ...one, kinds: one.kinds.slice(0, 14), b: { value_ns: 30 * MS } } as CompareResponse;
  const few = told(fewer).map(([label]) => label);
  expect(few.slice(9)).toEqual(["op8", "op9", "4 smaller changes", "B"]);
});

test("kernels are one step, which says what moved to other units; those of communication are another, with what hides them", () => {
  const parts = [part("compute_tensor", 6), part("compute_other", -57), part("communication", 9), part("queued", 2)];
  expect(told(pair(parts, [], -30, 20))).toEqual([
    ["A", "total", "360.0 ms"],
    ["While kernels compute", "less", "−51.0 ms"],
    ["compute_tensor", "detail", "+6.0 ms"],
    ["compute_other", "detail", "−57.0 ms"],
    ["communication", "more", "+9.0 ms"],
    ["its kernels", "detail", "+20.0 ms"],
    ["overlap and boundaries", "detail", "−11.0 ms"],
    ["queued", "more", "+2.0 ms"],
    ["B", "total", "320.0 ms"],
  ]);
});

test("the kernel time beside it is reconciled with the time while kernels run where no unit tells more", () => {
  const { steps } = waterfall(pair([part("compute_other", -10), part("data_loader", 30)], [["x", -8]], -8));
  expect(steps.map(({ label, text }) => [label, text]).slice(2, 4)).toEqual([
    ["kernel time, summed", "−8.0 ms"],
    ["overlap and boundaries", "−2.0 ms"],
  ]);
});

test("kernels that are nearly all of the change are divided by the types of ops that explain it, and by overlap", () => {
  const kinds = [
    ["conv2d", -60],
    ["add", 20],
    ["relu", -10],
    ["mul", -5],
    ["sum", -2],
    ["max", -2],
  ] as const;
  const parts = [part("compute_other", -56), part("queued", 1)];
  expect(told(pair(parts, kinds))).toEqual([
    ["A", "total", "180.0 ms"],
    ["While kernels run", "less", "−56.0 ms"],
    ["conv2d", "detail", "−60.0 ms"],
    ["add", "detail", "+20.0 ms"],
    ["relu", "detail", "−10.0 ms"],
    ["mul", "detail", "−5.0 ms"],
    ["2 smaller changes", "detail", "−4.0 ms"],
    ["overlap and boundaries", "detail", "+3.0 ms"],
    ["queued", "more", "+1.0 ms"],
    ["B", "total", "125.0 ms"],
  ]);
  // Where much else changed, only that kernels did; with communication, overlap has no type.
  expect(told(pair([...parts, part("io", -30)], kinds))).toHaveLength(5);
  expect(told(pair([...parts, part("communication", 1)], kinds, null, 1))).toHaveLength(5);
});

test("types of ops that explain less than half give way to the units of the GPU, or become more where there is one unit", () => {
  const kinds = [
    ["linear", -2.76],
    ["mul", 2.21],
    ["contiguous", 1.32],
    ["attention", -1.29],
    ["add", 0.71],
    ["cat", 0.66],
    ["to", 0.59],
    ["pow", 0.4],
    ["silu", 0.4],
    ["mean", 0.1],
  ] as const;
  const [tensor, other] = [part("compute_tensor", -4.63), part("compute_other", 8.98)];
  expect(told(pair([tensor, other], kinds)).map(([label]) => label)).toEqual([
    "A",
    "While kernels run",
    "compute_tensor",
    "compute_other",
    "B",
  ]);
  const one = told(pair([part("compute_other", 4.35)], kinds));
  expect(one.slice(2, -1).map(([label]) => label)).toEqual([
    ...["linear", "mul", "contiguous", "attention", "add", "5 smaller changes", "overlap and boundaries"],
  ]);
});

test("numbers have one unit, and add up as they are shown", () => {
  const parts = [
    part("large", -3.3334, 50),
    part("one", 1.3333, 10.3333),
    part("two", 1.3333, 9),
    part("io", 0.004, 1),
  ];
  const texts = told(pair(parts, [])).map(([, , text]) => Number(text?.replace("−", "-").replace(" ms", "")));
  const [a = 0, ...rest] = texts;
  expect(rest.slice(0, -1).reduce((sum, one) => sum + one, a)).toBeCloseTo(rest.at(-1) ?? 0, 9);
  // Of 3.39 s, changes of some ms have digits, too.
  const little = pair([part("large", 17.945, 3389.0686), part("io", 0.3, 2)], []);
  expect(told(little).map(([, , text]) => text)).toEqual(["3,391.1 ms", "+17.9 ms", "+0.3 ms", "3,409.3 ms"]);
});

test("the waterfall leaves out what did not change, and sums what is too small to be seen", () => {
  const parts = [part("large", -1, 9), part("one", 0.007, 0.001), part("same", 0, 5), part("other", -0.004, 0.009)];
  expect(told(pair(parts, []))).toEqual([
    ["A", "total", "14.01 ms"],
    ["large", "less", "−1.00 ms"],
    ["B", "total", "13.01 ms"],
  ]);
  const more = [part("large", -1, 9), part("one", 0.008, 0.001), part("same", 0, 5), part("other", 0.004, 0.009)];
  expect(told(pair(more, []))[2]).toEqual(["2 smaller changes", "more", "+0.01 ms"]);
});
