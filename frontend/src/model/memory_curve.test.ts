import { describe, expect, it } from "vitest";

import type { MemoryCurveResponse } from "../api/types";
import { byteTicks, cutOf, runsOf } from "./memory_curve";

const MiB = 1024 ** 2;

const curve = (floor: number[], above: number[]): MemoryCurveResponse =>
  ({
    categories: [
      { category: "held before the recording", bytes: floor },
      { category: "gradient", bytes: above },
    ],
    in_use_max_bytes: floor.map((bytes, i) => bytes + (above[i] ?? 0)),
  }) as MemoryCurveResponse;

describe("the axis of the curve", () => {
  it("is cut below what changes, where a constant floor takes more than 60 %", () => {
    expect(cutOf(curve([175, 175], [10, 30]), 295)).toBeCloseTo(175 - 12);
    expect(cutOf(curve([175, 90], [10, 30]), 295)).toBe(0);
    expect(cutOf(curve([100, 100], [10, 90]), 295)).toBe(0);
    expect(cutOf({ ...curve([5], [5]), categories: [] }, 295)).toBe(0);
  });

  it("has round marks in one unit, above the cut, and 0", () => {
    expect(byteTicks(1.9 * 1024 * MiB).map((bytes) => bytes / MiB)).toEqual([0, 512, 1024, 1536]);
    expect(byteTicks(298 * MiB, 163 * MiB).map((bytes) => bytes / MiB)).toEqual([0, 200, 250]);
  });
});

it("joins marks that cannot be told apart", () => {
  expect(runsOf([1, 3, 5, 9, 40], 4)).toEqual([
    [1, 9],
    [40, 40],
  ]);
  expect(runsOf([], 4)).toEqual([]);
});
