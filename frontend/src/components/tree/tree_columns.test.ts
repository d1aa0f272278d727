import { describe, expect, it } from "vitest";

import { columnsFor, fittingColumns, widthOf } from "./tree_columns";

const COLUMNS = columnsFor("Tensor Core", "TC", {
  ...{ limited: 0.2, onGpu: true, rated: true, summed: false, change: "iteration" as const },
});

describe("the columns of the tree", () => {
  it.each([300, 766, 827, 1248])("leave names enough room to be told apart on %i pixels", (available) => {
    const shown = fittingColumns(COLUMNS, "-gpu_time_ns", available);
    const others = shown.filter(({ key }) => key !== "name").reduce((sum, { key }) => sum + widthOf(key, available), 0);
    expect(available - others).toBeGreaterThanOrEqual(Math.min(170, available - 104));
    expect(shown.map(({ key }) => key)).toContain("gpu_time_ns");
  });
});
