/** The layout of the treemap: squares as far as can be, area is the measure, a child lies within its parent. */
import type { Rows } from "./group_tree";
import type { TreeRow } from "./tree_row";
import type { Measure } from "./tree_values";

export interface TreemapBox {
  row: TreeRow;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Whether its children lie within it, below its name. */
  open: boolean;
}

export interface Treemap {
  boxes: readonly TreemapBox[];
  /** Rows without any of the measure, and rows too small for a box. */
  withoutTime: number;
  tooSmall: number;
}

interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const HEAD = 18;
const PAD = 2;
/** In pixels: a box that is shorter or narrower is not drawn, and one that is smaller than the second is not divided. */
const LEAST = 4;
const DIVIDED = 54;

export function treemap(rows: Rows, by: Measure, width: number, height: number): Treemap {
  const boxes: TreemapBox[] = [];
  let withoutTime = 0;
  let tooSmall = 0;
  const fill = (siblings: readonly TreeRow[], place: Place): void => {
    const timed = siblings.filter((row) => row.values[by] > 0).sort((a, b) => b.values[by] - a.values[by]);
    withoutTime += siblings.length - timed.length;
    for (const [i, box] of squarified(
      timed.map((row) => row.values[by]),
      place,
    ).entries()) {
      const row = timed[i];
      if (row === undefined) continue;
      if (box.width < LEAST || box.height < LEAST) {
        tooSmall += 1;
        continue;
      }
      const open = row.expandable && box.width >= DIVIDED && box.height >= DIVIDED;
      boxes.push({ row, ...box, open });
      if (open)
        fill(rows.below(row), {
          x: box.x + PAD,
          y: box.y + HEAD,
          width: box.width - 2 * PAD,
          height: box.height - HEAD - PAD,
        });
    }
  };
  fill(rows.roots, { x: 0, y: 0, width, height });
  return { boxes, withoutTime, tooSmall };
}

/** Rectangles for values in descending order (Bruls, Huizing and van Wijk, 2000): a strip takes values while that makes it squarer. */
export function squarified(values: readonly number[], place: Place): Place[] {
  const whole = values.reduce((sum, value) => sum + value, 0);
  if (whole <= 0) return [];
  const scale = (place.width * place.height) / whole;
  const areas = values.map((value) => value * scale);
  const places: Place[] = [];
  let { x, y, width, height } = place;
  for (let from = 0; from < areas.length;) {
    const side = Math.max(Math.min(width, height), 1e-9);
    let to = from + 1;
    let sum = areas[from] ?? 0;
    while (to < areas.length) {
      const next = sum + (areas[to] ?? 0);
      if (worst(areas, from, to + 1, next, side) > worst(areas, from, to, sum, side)) break;
      sum = next;
      to += 1;
    }
    const deep = sum / side;
    let at = 0;
    for (let i = from; i < to; i += 1) {
      const long = (areas[i] ?? 0) / Math.max(deep, 1e-9);
      places.push(
        width >= height ? { x, y: y + at, width: deep, height: long } : { x: x + at, y, width: long, height: deep },
      );
      at += long;
    }
    if (width >= height) [x, width] = [x + deep, width - deep];
    else [y, height] = [y + deep, height - deep];
    from = to;
  }
  return places;
}

/** How far the least square of a strip is from one: the longer side over the shorter. */
function worst(areas: readonly number[], from: number, to: number, sum: number, side: number): number {
  const largest = areas[from] ?? 0;
  const least = areas[to - 1] ?? 0;
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * Math.max(least, 1e-12)));
}
