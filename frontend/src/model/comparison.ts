/** Geometry of a comparison: its axes, the bars in program order. */
import type { CompareResponse } from "../api/types";
import { signedDuration } from "./change";
import { foldedName, numberless } from "./folding";
import { pathOf, type Tree } from "./group_tree";
import type { TreeRow } from "./tree_row";

/** An axis for values in between: from 0, unless all that changes is a small part of the whole. */
export function axisFor(low: number, high: number): [low: number, high: number] {
  const room = (high - low) * 0.15;
  return high > low && low - room > 0.5 * high ? [low - room, high] : [Math.min(0, low), high];
}

export interface OrderBar {
  /** Left edge and width, from 0 to 1. */
  x: number;
  width: number;
  change: number;
  /** The sum of all changes up to the end of this bar. */
  sum: number;
}

const isOfOps = (kind: string | undefined): boolean => kind !== "part" && kind !== "overlap";

export interface Order extends Omit<CompareResponse["order"], "kind"> {
  /** Position of the last row of each bar. */
  last: number[];
  ofOps: boolean[];
}

/** The part of a path up to its first number, which repeated siblings have alike; empty where there is none. */
const siblings = (path: string): string => /^\/\D*\d[^/]*/.exec(path)?.[0] ?? "";

/**
 * The rows in the order of the program. If `folds`, neighbours below repeated siblings (`/layer[0]/...`, `/layer[1]/...`) are as those
 * of one of them: rows whose names differ in numbers only are summed.
 */
export function programOrder({ order }: Pick<CompareResponse, "order">, folds: boolean): Order {
  const result: Order = { name: [], ofOps: [], count: [], position: [], last: [], a_ns: [], b_ns: [] };
  const add = (rows: readonly number[]): void => {
    const sum = (values: readonly number[]): number => rows.reduce((total, row) => total + (values[row] ?? 0), 0);
    const [first = 0] = rows;
    const last = rows.at(-1) ?? first;
    result.name.push(foldedName(rows.map((row) => order.name[row] ?? "")));
    result.ofOps.push(isOfOps(order.kind[first]));
    result.count.push(sum(order.count));
    result.position.push(order.position[first] ?? 0);
    result.last.push((order.position[last] ?? 0) + (order.count[last] ?? 1) - 1);
    result.a_ns.push(sum(order.a_ns));
    result.b_ns.push(sum(order.b_ns));
  };
  const heads = order.name.map((name, row) => (folds && isOfOps(order.kind[row]) ? siblings(name) : ""));
  let begin = 0;
  while (begin < heads.length) {
    const alike = numberless(heads[begin] ?? "");
    let end = begin + 1;
    while (alike !== "" && end < heads.length && numberless(heads[end] ?? "") === alike) end += 1;
    const groups = new Map<string, number[]>();
    for (; begin < end; begin += 1) {
      const key = alike === "" ? "" : numberless(order.name[begin] ?? "");
      groups.set(key, [...(groups.get(key) ?? []), begin]);
    }
    for (const group of groups.values()) add(group);
  }
  return result;
}

/** The bars in the order of the program: as wide as the larger time, none too narrow to exist. */
export function orderBars(order: Order): OrderBar[] {
  const sizes = order.a_ns.map((a, i) => Math.max(Math.abs(a), Math.abs(order.b_ns[i] ?? 0)));
  const ofOps = sizes.reduce((sum, size, i) => (order.ofOps[i] === true ? sum + size : sum), 0);
  const least = ofOps / 5 / Math.max(sizes.length, 1);
  // Parts of the time without kernels have no place in the program: they stand at the end and leave the room to the ops.
  const most = ofOps > 0 ? ofOps / 30 : Infinity;
  const widths = sizes.map((size, i) => Math.max(order.ofOps[i] === true ? size : Math.min(size, most), least, 1e-9));
  const whole = widths.reduce((sum, width) => sum + width, 0);
  let x = 0;
  let sum = 0;
  return widths.map((width, i) => {
    const change = (order.b_ns[i] ?? 0) - (order.a_ns[i] ?? 0);
    sum += change;
    const bar = { x, width: width / whole, change, sum };
    x += bar.width;
    return bar;
  });
}

export interface OrderLabel {
  /** Place of its bar. */
  bar: number;
  text: string;
  x: number;
  /** Of the line that the letters stand on. */
  y: number;
  anchor: "start" | "middle" | "end";
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const meet = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/** About what a letter of a label takes, in pixels. */
const LETTER = 6.2;
const MOST_LABELS = 8;
/** Of the largest change: a bar with less is named only where its name fits in its width. */
const LEAST_NAMED = 0.2;

/** Above a bar of more time, below one of less: from the end of the bar to the line that the letters stand on, and their height. */
const ABOVE = 5;
const BELOW = 13;
const LETTER_HEIGHT = 9;

/** What is written at bars: at the largest changes first, as many as have room beside each other and hide no other bar. */
export function orderLabels(
  bars: readonly OrderBar[],
  names: readonly string[],
  width: number,
  y: (ns: number) => number,
): OrderLabel[] {
  const sizes = bars.map(({ change }) => Math.abs(change));
  const largest = Math.max(...sizes, 0);
  const boxes = bars.map(({ x, width: share, change }): Box => {
    return { left: x * width, right: (x + share) * width, top: y(Math.max(change, 0)), bottom: y(Math.min(change, 0)) };
  });
  const taken: Box[] = [];
  const result: OrderLabel[] = [];
  const ordered = sizes.map((_, i) => i).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  for (const i of ordered) {
    const bar = bars[i];
    if (bar === undefined || bar.change === 0 || !names[i] || result.length === MOST_LABELS) continue;
    const text = `${names[i]} ${signedDuration(bar.change)}`;
    const room = text.length * LETTER;
    if (room > bar.width * width && Math.abs(bar.change) < LEAST_NAMED * largest) continue;
    const middle = (bar.x + bar.width / 2) * width;
    const anchor = middle + room / 2 > width ? "end" : middle < room / 2 ? "start" : "middle";
    const left = anchor === "end" ? width - room : anchor === "start" ? 0 : middle - room / 2;
    const line = y(bar.change) + (bar.change > 0 ? -ABOVE : BELOW);
    const box = { left, right: left + room, top: line - LETTER_HEIGHT, bottom: line };
    if (taken.some((other) => meet(box, other)) || boxes.some((other, j) => j !== i && meet(box, other))) continue;
    taken.push(box);
    result.push({ bar: i, text, x: { start: 0, middle, end: width }[anchor], y: line, anchor });
  }
  return result;
}

/** The bar at a place from 0 to 1. */
export function barAt(bars: readonly OrderBar[], place: number): number {
  const result = bars.findIndex((bar) => place < bar.x + bar.width);
  return result < 0 ? bars.length - 1 : result;
}

export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Median of numbers; null of none. */
export function median(values: readonly number[]): number | null {
  const ordered = [...values].sort((x, y) => x - y);
  const middle = Math.floor(ordered.length / 2);
  const high = ordered[middle];
  if (high === undefined) return null;
  return ordered.length % 2 === 1 ? high : (high + (ordered[middle - 1] ?? high)) / 2;
}

/** Kernel time of a module on both sides, ns. */
export interface Change {
  a_ns: number;
  b_ns: number;
}

/** The changes that rows of the tree are told: of modules by their path, of ops by their id, and of all work. */
export interface Changes {
  modules: ReadonlyMap<string, Change>;
  ops: ReadonlyMap<string, Change>;
  all: Change | null;
}

export function changesOf(comparison: Pick<CompareResponse, "modules" | "ops" | "measures">): Changes {
  const { a, b } = comparison.measures.kernel_time ?? { a: null, b: null };
  return {
    modules: new Map(comparison.modules.map((one) => [one.path, one])),
    ops: new Map(comparison.ops.map((one) => [one.op_id, one])),
    all: a === null || b === null ? null : { a_ns: a, b_ns: b },
  };
}

/** Whether any module or op is told one: not so where kernels of a name alone are compared. */
export const isPaired = ({ modules, ops }: Changes, { nodes }: Tree): boolean =>
  modules.size > 0 || nodes.op_id.some((id) => id !== null && ops.has(id));

/** Why rows have no change of their own. */
const NO_KERNELS = "No kernels: the change is that of kernel time, without copies and memsets.";
const APART =
  "What this took in the baseline is not known: its ops there do not match one by one, or they are too many to send. Compare tells more.";

/**
 * The change of a row of the tree, of a folded one the sum over its members; else why there is none. Members without kernels add
 * nothing; with one of which nothing is told, the sum would be that of the others.
 */
export function changeOf({ modules, ops, all }: Changes, tree: Tree, row: TreeRow): Change | string {
  if (row.gathers === "all" && all !== null) return all;
  const { op_id: ids, kernel_time_ns: times } = tree.nodes;
  const sum = { a_ns: 0, b_ns: 0 };
  let told = 0;
  for (const member of row.members) {
    const op = ids[member] ?? null;
    const one = op === null ? modules.get(pathOf(tree, member).replace(/\/$/, "")) : ops.get(op);
    if (one === undefined && (times[member] ?? 0) > 0) return APART;
    if (one === undefined) continue;
    told += 1;
    sum.a_ns += one.a_ns;
    sum.b_ns += one.b_ns;
  }
  return told === 0 ? NO_KERNELS : sum;
}

/** The first A and the first B with the names of their runs, where these tell them apart; those in code are names of ops. */
export function withNames(text: string, a: string, b: string): string {
  if (a === "" || b === "" || a === b) return text;
  const named = (sentence: string, letter: string, run: string): string => {
    let told = false;
    return sentence
      .split("`")
      .map((part, i) =>
        i % 2 === 1 || told
          ? part
          : part.replace(new RegExp(`\\b${letter}\\b(?!')`), () => {
              told = true;
              return `${letter} (${run})`;
            }),
      )
      .join("`");
  };
  return named(named(text, "B", b), "A", a);
}
