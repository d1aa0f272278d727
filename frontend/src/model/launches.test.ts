import { describe, expect, it } from "vitest";

import { countRange, durationRange, histogramOf } from "./launches";

describe("a histogram", () => {
  it("has the bars between the first and the last that hold something", () => {
    const bins = [
      [0, 0],
      [1, 5],
      [2, 0],
      [10, 7],
      [100, 0],
    ] as const;
    expect(histogramOf(bins, countRange)).toEqual([
      { label: "1", value: 5 },
      { label: "2 to 9", value: 0 },
      { label: "10 to 99", value: 7 },
    ]);
    expect(histogramOf([[0, 3]], countRange)).toEqual([{ label: "0 and more", value: 3 }]);
    expect(histogramOf([[0, 0]], countRange)).toEqual([]);
  });
  it("tells ranges of time in one unit", () => {
    expect(durationRange(0, 1e3)).toBe("under 1 µs");
    expect(durationRange(1e3, 1e4)).toBe("1 to 10 µs");
    expect(durationRange(1e5, 1e6)).toBe("0.1 to 1 ms");
    expect(durationRange(1e9, undefined)).toBe("1 s and more");
  });
});
