import { expect, test } from "vitest";

import { limitOf, limitsOfRow, partsOf } from "./row_limits";

const row = {
  family: "gemm",
  bound: "memory",
  gpu_time_ns: 400,
  kernel_time_ns: 400,
  tensor_core_fraction: 0.5,
  kept_off_ns: 100,
};

test("of what is not on matrix units, what could be is that of the server, and the rest is limited as the row is", () => {
  expect(limitsOfRow(row, true)).toEqual([
    ["tensor_core", 0.5],
    ["kept_off", 0.25],
    ["by_memory", 0.25],
  ]);
  expect(limitsOfRow({ ...row, tensor_core_fraction: 0, kept_off_ns: 400 }, true)).toEqual([["kept_off", 1]]);
  expect(limitsOfRow({ ...row, tensor_core_fraction: 0, kept_off_ns: 0, bound: "compute" }, true)).toEqual([
    ["neither", 1],
  ]);
  expect(limitsOfRow({ ...row, tensor_core_fraction: null, kept_off_ns: 400 }, true, false)).toEqual([
    ["by_memory", 1],
  ]);
});

test("copies and communication could not be on matrix units", () => {
  const copies = { ...row, family: "copies and memsets", kernel_time_ns: 0, kept_off_ns: 0 };
  expect(limitsOfRow(copies, true)).toEqual([["memory", 1]]);
  expect(limitsOfRow({ ...row, family: "collective", tensor_core_fraction: null }, true)).toEqual([
    ["communication", 1],
  ]);
});

test("what the server sums by limit, less what is drawn by itself, is that of all others", () => {
  const sums = (["matrix_unit", "memory", "layout", "too_small", "other"] as const).map(
    (limit, i) => [limitOf(limit), [200, 500, 30, 20, 50][i] ?? 0] as const,
  );
  const drawn = limitsOfRow(row, true).map(([kind, share]) => [kind, -400 * share] as const);
  expect(partsOf([...sums, ...drawn], 400)).toEqual([
    ["by_memory", 1],
    ["neither", 0.125],
  ]);
});
