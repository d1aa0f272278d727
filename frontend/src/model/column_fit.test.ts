import { describe, expect, it } from "vitest";

import { fitting, wholePairs, widthsIn, type ColumnSize } from "./column_fit";

const size = (key: string, least: number, changes: Partial<ColumnSize> = {}): ColumnSize => ({
  key,
  least,
  whole: least,
  ideal: least,
  grows: false,
  fixed: false,
  tier: 0,
  ...changes,
});

const total = (widths: ReadonlyMap<string, number>): number => [...widths.values()].reduce((a, b) => a + b, 0);

describe("which columns fit", () => {
  const columns = [
    size("time", 100),
    size("least", 100, { tier: 1 }),
    size("name", 200, { fixed: true }),
    size("shapes", 300),
    size("cause", 100),
  ];
  it.each([
    [800, ["time", "least", "name", "shapes", "cause"]],
    [700, ["time", "name", "shapes", "cause"]],
    [600, ["time", "name", "shapes"]],
    [500, ["time", "least", "name", "cause"]],
    [300, ["time", "name"]],
    [100, ["name"]],
  ])("in %d pixels", (available, shown) => {
    const fit = fitting(columns, available);
    expect(columns.filter(({ key }) => fit.has(key)).map(({ key }) => key)).toEqual(shown);
  });
});

it("shows what is less important once the texts before it are whole", () => {
  const columns = [size("gpu", 60), size("name", 120, { whole: 180, ideal: 180 }), size("memory", 90, { tier: 1 })];
  const shownIn = (available: number): string[] => [...fitting(columns, available)];
  expect(shownIn(300)).toEqual(["gpu", "name"]);
  expect(shownIn(330)).toEqual(["gpu", "name", "memory"]);
  // As important as the text: it may cut it.
  expect([...fitting([...columns, size("busy", 90)], 280)]).toEqual(["gpu", "name", "busy"]);
});

describe("how wide columns are", () => {
  const time = size("time", 100, { ideal: 120 });
  const name = size("name", 200, { ideal: 260, grows: true });

  it("gives each its least, then its ideal by what it lacks, then all to what grows", () => {
    expect([...widthsIn([time, name], 300)]).toEqual([
      ["time", 100],
      ["name", 200],
    ]);
    expect([...widthsIn([time, name], 340)]).toEqual([
      ["time", 110],
      ["name", 230],
    ]);
    expect([...widthsIn([time, name], 480)]).toEqual([
      ["time", 120],
      ["name", 360],
    ]);
  });

  it("gives what grows no more than it can use, and the rest to all", () => {
    const capped = { ...name, most: 300 };
    expect([...widthsIn([time, capped], 420)]).toEqual([
      ["time", 120],
      ["name", 300],
    ]);
    expect([...widthsIn([time, capped], 800)]).toEqual([
      ["time", 240],
      ["name", 560],
    ]);
  });

  it("lets no text stay cut for numbers that stand whole", () => {
    const cut = size("text", 100, { whole: 150, ideal: 150 });
    expect([...widthsIn([time, cut], 230).values()]).toEqual([100, 130]);
    expect([...widthsIn([time, cut], 260).values()]).toEqual([110, 150]);
  });

  it("shares among all where none grows", () => {
    expect([...widthsIn([time, size("calls", 60)], 360).values()]).toEqual([240, 120]);
  });

  it("leaves no gap of rounded pixels at the end", () => {
    expect([...widthsIn([time, size("calls", 60), size("ops", 60)], 341).values()]).toEqual([170, 85, 86]);
  });

  it("lets numbers alone not drift apart", () => {
    expect([...widthsIn([time, size("calls", 60)], 1000).values()]).toEqual([240, 120]);
  });

  it("is wider than there is room only where the least is", () => {
    expect(total(widthsIn([time, name], 100))).toBe(300);
    for (let available = 300; available < 900; available += 7)
      expect(total(widthsIn([time, name, size("calls", 61, { ideal: 97 })], available))).toBeLessThanOrEqual(
        Math.max(available, 361),
      );
  });
});

it("columns of the third tier give way for a whole path, those of the second do not", () => {
  const size = { ideal: 500, grows: false, fixed: false };
  const path = { ...size, key: "path", least: 200, whole: 200, wish: 400, fixed: true, tier: 0 };
  const other = { ...size, key: "other", least: 100, whole: 100, tier: 1 };
  expect([...fitting([path, other], 350)]).toEqual(["path", "other"]);
  expect([...fitting([path, { ...other, tier: 2 }], 350)]).toEqual(["path"]);
  expect([...fitting([path, { ...other, tier: 2 }], 500)]).toEqual(["path", "other"]);
});

it("shows a column of A beside that of B, or neither", () => {
  const columns = ["name", "a_tc", "b_tc", "a_only"].map((key) => ({ key }));
  const keys = (shown: string[], needed: string[] = []): string[] =>
    wholePairs(columns, new Set(shown), needed).map(({ key }) => key);
  expect(keys(["name", "a_tc", "a_only"])).toEqual(["name", "a_only"]);
  expect(keys(["name", "a_tc", "b_tc"])).toEqual(["name", "a_tc", "b_tc"]);
  expect(keys(["name", "b_tc"], ["b_tc"])).toEqual(["name", "b_tc"]);
});
