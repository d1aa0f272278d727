/** The layout of the icicle: a child is below its parent, and its width is its share of the measure. */
import type { Rows } from "./group_tree";
import type { TreeRow } from "./tree_row";
import type { Measure } from "./tree_values";

export interface IcicleBox {
  row: TreeRow;
  /** Left edge and width as shares of the whole, 0 to 1. */
  x: number;
  width: number;
  /** 0 for the top. */
  depth: number;
}

/** Siblings too narrow for a box each, together. */
export interface IcicleRest {
  count: number;
  /** Of the measure. */
  sum: number;
  x: number;
  width: number;
  depth: number;
}

export interface IcicleParts {
  boxes: readonly IcicleBox[];
  rests: readonly IcicleRest[];
}

/**
 * The boxes that are at least `narrowest` wide, from the top down, children in the order of their time, longest first; and
 * what is left of them at the end, so that no gap looks like time without work.
 */
export function icicleParts(rows: Rows, tops: readonly TreeRow[], measure: Measure, narrowest: number): IcicleParts {
  const whole = tops.reduce((sum, row) => sum + row.values[measure], 0);
  const boxes: IcicleBox[] = [];
  const rests: IcicleRest[] = [];
  if (whole <= 0) return { boxes, rests };
  const place = (siblings: readonly TreeRow[], left: number, room: number, depth: number): void => {
    let x = left;
    const ordered = [...siblings].sort((a, b) => b.values[measure] - a.values[measure]);
    // A filter leaves gaps, but never boxes wider than their parent.
    for (const [index, row] of ordered.entries()) {
      const width = Math.min(row.values[measure] / whole, left + room - x);
      if (width < narrowest) {
        const others = ordered.slice(index).filter(({ values }) => values[measure] > 0);
        const sum = others.reduce((total, { values }) => total + values[measure], 0);
        const rest = Math.min(sum / whole, left + room - x);
        if (rest >= narrowest) rests.push({ count: others.length, sum, x, width: rest, depth });
        break;
      }
      boxes.push({ row, x, width, depth });
      if (row.expandable) place(rows.below(row), x, width, depth + 1);
      x += width;
    }
  };
  place(tops, 0, 1, 0);
  return { boxes, rests };
}
