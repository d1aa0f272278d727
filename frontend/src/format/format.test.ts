import { describe, expect, it } from "vitest";

import { formatBytes, sizeUnit } from "./bytes";
import { formatMoment } from "./date";
import {
  withoutSteps,
  exactNumber,
  countInAll,
  formatCalls,
  formatCount,
  formatCounted,
  formatRanges,
  ofIterations,
  withinSentence,
} from "./number";
import { aroundQuantities, typeset } from "./sentence";
import { formatShare, shareOf } from "./share";
import {
  axisUnit,
  columnUnit,
  exactDuration,
  formatDuration,
  formatRange,
  readableAndExact,
  formatTimestamp,
} from "./time";
import { inUnit, unitsOfColumns } from "./unit";

describe("durations", () => {
  it.each([
    [0, "0 s"],
    [1, "1 ns"],
    [999, "999 ns"],
    [1000, "1.00 µs"],
    [12_040, "12.0 µs"],
    [177_609_666, "178 ms"],
    [999_400, "999 µs"],
    [999_600, "1.00 ms"],
    [1_065_658_000, "1.07 s"],
    [59_940_000_000, "59.9 s"],
    [599_400_000_000, "599 s"],
    [725_000_000_000, "12 min 5 s"],
    [7_260_000_000_000, "2 h 1 min"],
    [-1_500, "−1.50 µs"],
  ])("%d ns reads %s", (ns, text) => {
    expect(formatDuration(ns)).toBe(text);
  });

  it("never shows an unknown duration as nothing", () => {
    expect(formatDuration(null)).toBe("unknown");
    expect(exactDuration(null)).toBe("unknown");
    expect(readableAndExact(undefined)).toBe("unknown");
  });

  it.each([
    [29_600_000, 59_300_000, "29.6 to 59.3 ms"],
    [935_000, 1_870_000, "0.935 to 1.87 ms"],
    [935, 1_870, "0.935 to 1.87 µs"],
    [120, 450, "120 to 450 ns"],
    [5_001_000, 5_002_000, "5.00 ms"],
    [0, 1_381_937, "up to 1.38 ms"],
    [0, 0, "0 s"],
    [90e9, 725e9, "90.0 s to 12 min 5 s"],
  ])("a range from %d to %d ns reads %s, in the unit of its upper end", (low, high, text) => {
    expect(formatRange(low, high)).toBe(text);
  });

  it("gives every digit where asked", () => {
    expect(readableAndExact(1_065_658_000)).toBe("1.07 s (1,065,658,000 ns)");
    expect(readableAndExact(512)).toBe("512 ns");
  });

  it("shows one column in one unit, without rounding a small value to nothing", () => {
    const unit = columnUnit(148_044_000);
    expect(unit.name).toBe("ms");
    expect(
      [148_044_000, 12_345_678, 999_600, 12_400, 9_960, 7_040, 1_500, -1_010, 700, 90, 0].map((ns) => inUnit(ns, unit)),
    ).toEqual([
      ...["148", "12.3", "1.00", "0.012", "0.010", "0.0070"],
      ...["0.0015", "−0.0010", "0.00070", "<0.0001", "0"],
    ]);
    expect(columnUnit(9_000_000).name).toBe("ms");
    expect(inUnit(840, columnUnit(840))).toBe("840");
    expect(inUnit(99_900, unit)).toBe("0.100");
  });

  it.each([
    [{ total: 50_938_526, least: 105_328, average: 10_187_705 }, ["ms", "ms", "ms"]],
    [{ total: 1_000_000_000, average: 12_000_000 }, ["ms", "ms"]],
    [{ duration: 2_864_091_540, gpu: 296_799, tensor_core: 0 }, ["ms", "ms", "ms"]],
    [{ duration: 40_000_000_000, gpu: 296_799, tensor_core: 0 }, ["s", "µs", "µs"]],
    [{ total: 50_000_000, idle: 700 }, ["ms", "ns"]],
    [{ total: 0, other: 20_000 }, ["µs", "µs"]],
    [{ total: 0 }, ["ms"]],
  ])("columns beside each other are told in one unit: %o", (largest, units) => {
    expect([...unitsOfColumns(new Map(Object.entries(largest)), columnUnit).values()].map(({ name }) => name)).toEqual(
      units,
    );
  });

  it("chooses the unit of an axis by its longest bar", () => {
    expect(axisUnit(177_000_000).name).toBe("ms");
    expect(axisUnit(2_000_000_000).name).toBe("s");
  });
});

describe("shares", () => {
  it.each([
    [0, "0 %"],
    [1, "100 %"],
    [0.5551, "55.5 %"],
    [0.00001, "<0.1 %"],
    [0.99999, ">99.9 %"],
    [0.9994, "99.9 %"],
  ])("%d reads %s", (fraction, text) => {
    expect(formatShare(fraction)).toBe(text);
  });

  it("does not divide by nothing or by the unknown", () => {
    expect(shareOf(1, 0)).toBeNull();
    expect(shareOf(null, 5)).toBeNull();
    expect(shareOf(1, 4)).toBe(0.25);
    expect(formatShare(null)).toBe("unknown");
  });
});

describe("counts, sizes and moments", () => {
  it("have every digit in tooltips, small ones too", () => {
    expect(exactNumber(4447597376245.5)).toBe("4,447,597,376,245.5");
    expect(exactNumber(0.000123)).toBe("0.000123");
  });

  it("groups thousands and knows one from many", () => {
    expect(formatCount(1_234_567)).toBe("1,234,567");
    expect(formatCount(null)).toBe("unknown");
    expect(formatCounted(1, "op")).toBe("1 op");
    expect([ofIterations("sum of", 4), ofIterations("sum of", 1)]).toEqual(["sum of 4 iterations", ""]);
    expect(formatCounted(1200, "launch", "launches")).toBe("1,200 launches");
  });

  it("shows sizes in powers of 1024", () => {
    expect(formatBytes(512)).toBe("512 B");
    expect(formatBytes(1_159_569)).toBe("1.11 MiB");
    expect(formatBytes(1024 * 1024 - 1)).toBe("1.00 MiB");
    expect(formatBytes(null)).toBe("unknown");
    expect(formatBytes(-3 * 1024 ** 3)).toBe("−3.00 GiB");
  });

  it("shows a column of sizes in one unit", () => {
    const unit = sizeUnit(1024 ** 3 * 9.38);
    expect(unit.name).toBe("GiB");
    expect([1024 ** 3 * 9.38, 100 * 1024 ** 2, 512 * 1024, 4].map((bytes) => inUnit(bytes, unit))).toEqual([
      ...["9.38", "0.098", "0.00049", "<0.0001"],
    ]);
    expect([0, 4, 1023, 1024 * 1024 - 1].map((bytes) => sizeUnit(bytes).name)).toEqual(["B", "B", "B", "MiB"]);
    expect(inUnit(4, sizeUnit(4))).toBe("4");
  });

  it("shows small sizes of a table with three digits where the largest is still read", () => {
    const [MiB, GiB] = [1024 ** 2, 1024 ** 3];
    const names = (...tables: number[][]): string[] => tables.map((sizes) => sizeUnit(...sizes).name);
    expect(names([1.5 * GiB, 24 * MiB], [1.5 * GiB, 0.2 * GiB], [12.7 * GiB, 25 * MiB])).toEqual(["MiB", "GiB", "GiB"]);
    expect(names([1.5 * GiB, 0], [-1.5 * GiB, -24 * MiB], [])).toEqual(["GiB", "MiB", "B"]);
    expect(inUnit(24 * MiB, sizeUnit(1.5 * GiB, 24 * MiB))).toBe("24.0");
  });

  it("shows a moment to the minute", () => {
    expect(formatMoment(1_623_142_623.46)).toMatch(/^2021-06-0\d \d\d:\d\d$/);
    expect(formatMoment(null)).toBe("unknown");
  });
});

describe("sentences", () => {
  it("keep a number with its unit", () => {
    expect(typeset("takes 5.92 ms (55 % of 3 steps)")).toBe("takes 5.92\u00a0ms (55\u00a0% of 3 steps)");
    expect(aroundQuantities("Peak 1.25 GiB of 39 GB in 2 steps")).toEqual([
      "Peak ",
      "1.25\u00a0GiB",
      " of ",
      "39\u00a0GB",
      " in 2 steps",
    ]);
    expect(aroundQuantities("Kernels take less (-8.7 %)")).toEqual(["Kernels take less (", "−8.7\u00a0%", ")"]);
    expect(aroundQuantities("more (+130 %)")).toEqual(["more (", "+130\u00a0%", ")"]);
    expect(aroundQuantities("Computing at least 44 % of a 2 min iteration")).toEqual([
      "Computing ",
      "at least 44\u00a0%",
      " of a ",
      "2\u00a0min",
      " iteration",
    ]);
    expect(typeset("shorter (-2.71 ms) in a-1 of 1-3")).toBe("shorter (−2.71\u00a0ms) in a-1 of 1-3");
    expect(typeset("A: 1 ms -> 2 ms")).toBe("A: 1\u00a0ms → 2\u00a0ms");
  });
});

it("tells calls by iteration in one way, and in words what they are in all", () => {
  expect([0, 1 / 3, 0.4, 1, 3, 8 / 3].map(formatCalls)).toEqual(["0", "0.333", "0.400", "1", "3", "2.67"]);
  expect(formatCalls(Math.SQRT1_2)).toBe("0.707");
  expect(countInAll(3 / 23, 23)).toBe("3 in 23 iterations");
  expect(countInAll(61 / 23, 23, "call")).toBe("61 calls in 23 iterations");
  expect([countInAll(2, 23), countInAll(0.5, 1), countInAll(0.51, 4)]).toEqual(["", "", ""]);
});

it("names ids that follow each other as a range", () => {
  expect([[], [3], [3, 4], [0, 4, 5, 6, 7, 9]].map(formatRanges)).toEqual(["", "3", "3, 4", "0, 4 to 7, 9"]);
});

describe("labels within a sentence", () => {
  it.each([
    ["Other code on the CPU", "other code on the CPU"],
    ["I/O", "I/O"],
  ])("%s", (label, expected) => {
    expect(withinSentence(label)).toBe(expected);
  });
});

it("tells moments apart, in milliseconds as tables do, where these can", () => {
  expect(formatTimestamp(2_858_000_000, 2_000_000)).toBe("2,858 ms");
  expect(formatTimestamp(1_220_000, 20_000)).toBe("1.22 ms");
  expect(formatTimestamp(34_000_500_000, 500_000)).toBe("34.0005 s");
  expect(formatTimestamp(9_500_000_000, 500_000_000, 12_000_000_000)).toBe("9.5 s");
  expect(formatTimestamp(34_000_000_000, 1_000_000_000)).toBe("34 s");
  expect(formatTimestamp(1_215_400, 1_000)).toBe("1.215 ms");
  expect(formatTimestamp(1_215_400, 50)).toBe("1,215.40 µs");
  expect(formatTimestamp(0, 1_000_000)).toBe("0 ms");
  expect(formatTimestamp(4_000_000_000, 2_000_000_000)).toBe("4 s");
  // An axis that ends before the first millisecond.
  expect(formatTimestamp(20_000, 20_000, 159_000)).toBe("20 µs");
});

it("lists ids with steps between them, as long as they are few", () => {
  expect(withoutSteps("0-6/2")).toBe("0, 2, 4, 6");
  expect(withoutSteps("0-3,8-12/4")).toBe("0-3, 8, 12");
  expect(withoutSteps("0-1022/2")).toBe("0-1022/2");
});
