/** Where the boxes of the icicle stand: a child's width is its share of the measure, below its parent. */
import type { Measure, Rows, TreeRow } from "./group_tree";

export interface IcicleBox {
  row: TreeRow;
  /** Left edge and width as shares of the whole, 0 to 1. */
  x: number;
  width: number;
  /** 0 for the top. */
  depth: number;
}

/** The boxes that are at least `narrowest` wide, from the top down; children in the order of their time, longest first. */
export function icicleBoxes(rows: Rows, tops: readonly TreeRow[], measure: Measure, narrowest: number): IcicleBox[] {
  const whole = tops.reduce((sum, row) => sum + row.values[measure], 0);
  if (whole <= 0) return [];
  const boxes: IcicleBox[] = [];
  const place = (siblings: readonly TreeRow[], left: number, room: number, depth: number): void => {
    let x = left;
    const ordered = [...siblings].sort((a, b) => b.values[measure] - a.values[measure]);
    // A filter leaves gaps, but never boxes wider than their parent.
    for (const row of ordered) {
      const width = Math.min(row.values[measure] / whole, left + room - x);
      if (width < narrowest) break;
      boxes.push({ row, x, width, depth });
      if (row.expandable) place(rows.below(row), x, width, depth + 1);
      x += width;
    }
  };
  place(tops, 0, 1, 0);
  return boxes;
}
