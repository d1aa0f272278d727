import { describe, expect, it } from "vitest";
import { PARTS } from "../testing/builders";

import type { IterationBar } from "../api/types";
import { iterationRow } from "../testing/builders";
import { around, axisLabels, clamped, panned, placedBars, rangeProblem, toAsk, zoomed } from "./iteration_window";
import { meanBar } from "./iterations";

const whole = { from: 0, to: 100 };
const bar = (iteration: number, stop: number, profiled = true): IterationBar => ({
  ...iterationRow({ iteration, stop_iteration: stop, profiled, duration_ns: 100 * (stop - iteration + 1) }),
  count: stop - iteration + 1,
  shortest_ns: 100,
  longest_ns: 100,
});

describe("the window", () => {
  it("stays within all iterations and keeps its width", () => {
    expect(clamped({ from: -10, to: 10 }, whole)).toEqual({ from: 0, to: 20 });
    expect(clamped({ from: 95, to: 115 }, whole)).toEqual({ from: 80, to: 100 });
    expect(clamped({ from: -50, to: 500 }, whole)).toEqual(whole);
    expect(panned({ from: 10, to: 20 }, whole, 5)).toEqual({ from: 15, to: 25 });
    expect(panned({ from: 10, to: 20 }, whole, 500)).toEqual({ from: 90, to: 100 });
  });

  it("zooms about the iteration under the pointer, down to a few bars and out to all", () => {
    expect(zoomed(whole, whole, 0.5, 50)).toEqual({ from: 25, to: 75 });
    expect(zoomed(whole, whole, 0.5, 0)).toEqual({ from: 0, to: 50 });
    expect(zoomed({ from: 10, to: 14 }, whole, 0.1, 12)).toEqual({ from: 10, to: 14 });
    expect(zoomed({ from: 10, to: 90 }, whole, 2, 50)).toEqual(whole);
  });

  it("leaves room beside the aggregated iterations", () => {
    expect(around(20, 39, whole)).toEqual({ from: 19, to: 41 });
    expect(around(0, 99, whole)).toEqual(whole);
  });

  it("asks for half a window more on each side, in bars that can be told apart", () => {
    expect(toAsk({ from: 40, to: 60 }, whole, 600)).toEqual({ from: 30, to: 69, bins: 400 });
    expect(toAsk({ from: 0, to: 100_000 }, { from: 0, to: 100_000 }, 900)).toEqual({ from: 0, to: 99_999, bins: 300 });
  });
});

it("bars stand where their iterations are, and those outside the window are left out", () => {
  const placed = placedBars([bar(0, 9), bar(10, 19), bar(20, 20)], { from: 10, to: 30 }, 200);
  expect(placed.map(({ row }) => row.iteration)).toEqual([10, 20]);
  expect(placed[0]?.x).toBeGreaterThanOrEqual(0);
  expect((placed[0]?.x ?? 0) + (placed[0]?.width ?? 0)).toBeLessThanOrEqual(100);
  expect(placed[1]?.x).toBeGreaterThanOrEqual(100);
});

it("a bar of several iterations is their mean", () => {
  expect(meanBar(bar(0, 9)).duration_ns).toBe(100);
  expect(meanBar({ ...bar(0, 1), parts: { ...PARTS, cpu: 60, io: null } }).parts).toEqual({
    ...PARTS,
    cpu: 30,
    io: null,
  });
});

it("labels are round and far enough apart", () => {
  expect(axisLabels({ from: 0, to: 10 }, 560)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(axisLabels({ from: 13, to: 1013 }, 560)).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
});

it.each([
  [3, 5, ""],
  [null, 5, ""],
  [5, 3, "The start is after the stop."],
  [-1, 3, "The start is outside of 0 to 9."],
  [0, 10, "The stop is outside of 0 to 9."],
])("the range %s to %s: %s", (start, stop, problem) => {
  expect(rangeProblem(start, stop, 0, 9)).toBe(problem);
});
