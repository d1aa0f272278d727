import { describe, expect, it } from "vitest";

import { histogramOf } from "./launches";

describe("a histogram", () => {
  it("has the bars between the first and the last that hold something, with their ranges", () => {
    const bins = [
      [0, 0],
      [1, 5],
      [2, 0],
      [5, 7],
      [10, 0],
    ] as const;
    expect(histogramOf(bins, String)).toEqual([
      { label: "1", value: 5 },
      { label: "2 to 5", value: 0 },
      { label: "5 to 10", value: 7 },
    ]);
    expect(histogramOf([[0, 3]], String)).toEqual([{ label: "0 and more", value: 3 }]);
    expect(histogramOf([[0, 0]], String)).toEqual([]);
  });
});
