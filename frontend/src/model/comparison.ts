/** Geometry of a comparison: the waterfall, the bars in program order. */
import type { CompareResponse } from "../api/types";
import { directionOf, signedDuration, type Direction } from "./change";
import { foldedName, numberless } from "./folding";
import { pathOf, type Tree } from "./group_tree";
import type { TreeRow } from "./tree_row";

export interface Step {
  label: string;
  /** Where its bar begins and ends, ns. */
  from: number;
  to: number;
  /** `detail`: one of the parts of the step before it, which it does not add to. */
  kind: "total" | "detail" | Direction;
  /** What a click narrows the table to; null for totals, sums of many, and what no row of the table stands for. */
  part: string | null;
}

/** The step that sums the time while kernels run: where they moved to other units, only the sum is better or worse. */
export const KERNELS = "kernels";

const OF_KERNELS = /^(?:compute_|tensor_core|other_kernel|unknown_kernel)/;

/** Nothing in the table of groups is of this part alone. */
const WITHOUT_ROWS = "communication";

const MOST_STEPS = 8;

/** Of the longer side: changes below it are too small to be seen. */
const LEAST_SHARE = 1e-3;

/** Of the largest change: what is below it tells nothing of the whole. */
const LEAST_OF_LARGEST = 0.01;

/** Of the change, from which kernels alone would be all that is seen; and by how many types of ops they are divided then. */
const NEARLY_ALL = 0.9;
const MOST_TYPES = 4;

interface NamedChange extends Pick<Step, "label" | "part"> {
  change: number;
  /** Parts that add up to it. */
  of?: NamedChange[];
}

/** From A to B: the parts of the time, or where it is not divided the types of ops with the largest changes. */
export function waterfall(result: CompareResponse): Step[] {
  const least = Math.max(result.a.value_ns, result.b.value_ns) * LEAST_SHARE;
  const changes = withRest(
    result.parts.length > 0
      ? withKernelsTogether(result)
      : result.kinds.map(({ name, change_ns: change }) => ({ label: name, part: "", change })),
    result.parts.length > 0 ? Infinity : MOST_STEPS,
    least,
  );
  const steps: Step[] = [{ label: "A", from: 0, to: result.a.value_ns, kind: "total", part: null }];
  let running = result.a.value_ns;
  for (const { label, part, change, of = [] } of changes) {
    steps.push({ label, from: running, to: running + change, kind: directionOf(change), part });
    let within = running;
    for (const detail of of) {
      const to = within + detail.change;
      steps.push({ label: detail.label, from: within, to, kind: "detail", part: null });
      within = to;
    }
    running += change;
  }
  steps.push({ label: "B", from: 0, to: result.b.value_ns, kind: "total", part: null });
  return steps;
}

function withKernelsTogether({ parts, kinds, change_ns: whole }: CompareResponse): NamedChange[] {
  const changes = parts.map(({ label, part, change_ns: change }): NamedChange => {
    return { label, part: part.startsWith(WITHOUT_ROWS) ? null : part, change };
  });
  const of = changes.filter(({ part }) => part !== null && OF_KERNELS.test(part));
  if (of.length === 0) return changes;
  const change = of.reduce((sum, one) => sum + one.change, 0);
  const moved = of.filter((one) => one.change !== 0);
  // Those of communication are a part of their own.
  const label = communicates(parts) ? "While computing kernels run" : "While kernels run";
  const byType = Math.abs(change) > NEARLY_ALL * Math.abs(whole) && !communicates(parts) ? typesOf(kinds, change) : [];
  const kernels: NamedChange = {
    ...{ label, part: KERNELS, change },
    of: byType.length > 0 ? byType : moved.length > 1 ? moved : [],
  };
  return [kernels, ...changes.filter((one) => !of.includes(one))];
}

/** The types of ops with the largest changes, and what they and overlap leave of that of the time while kernels run. */
function typesOf(kinds: CompareResponse["kinds"], whole: number): NamedChange[] {
  const shown = kinds
    .slice(0, MOST_TYPES)
    .map(({ name: label, change_ns: change }): NamedChange => ({ label, part: null, change }));
  const change = whole - shown.reduce((sum, each) => sum + each.change, 0);
  // Where others or overlap make up more than the largest ones, these explain nothing.
  if (Math.abs(change) > shown.reduce((sum, each) => sum + Math.abs(each.change), 0)) return [];
  return change === 0 ? shown : [...shown, { label: "all else", part: null, change }];
}

const communicates = (parts: CompareResponse["parts"]): boolean =>
  parts.some(({ part, a_ns: a, b_ns: b }) => part.startsWith(WITHOUT_ROWS) && (a > 0 || b > 0));

/**
 * Why the time while kernels run changes by another amount than kernel time, which is told beside it: kernels that run at
 * once take less of the time than they do together, and some end in another iteration. Empty where both are alike.
 */
export function kernelsInWords({ parts, measures, a, b }: CompareResponse): string {
  const { a: before = null, b: after = null } = measures.kernel_time ?? {};
  const running = parts.filter(({ part }) => OF_KERNELS.test(part) || part.startsWith(WITHOUT_ROWS));
  if (running.length === 0 || before === null || after === null) return "";
  const change = running.reduce((sum, { change_ns: ns }) => sum + ns, 0);
  const rest = change - (after - before);
  if (Math.abs(rest) < Math.max(a.value_ns, b.value_ns) * LEAST_SHARE) return "";
  const what = communicates(parts) ? "While kernels run, communication among them" : "While kernels run";
  return `${what}: ${signedDuration(after - before) || "0"} of kernel time, ${signedDuration(rest)} of overlap and boundaries.`;
}

/** The first `most` that can be seen, in their order; all others together are one, unless they are one anyway. */
function withRest(changes: readonly NamedChange[], most: number, least: number): NamedChange[] {
  const real = changes.filter(({ change }) => change !== 0);
  const seen = Math.max(least, LEAST_OF_LARGEST * Math.max(...real.map(({ change }) => Math.abs(change))));
  const shown = real.filter(({ change }) => Math.abs(change) >= seen).slice(0, most);
  const rest = real.filter((each) => !shown.includes(each));
  if (rest.length < 2) return real;
  const change = rest.reduce((sum, each) => sum + each.change, 0);
  return [...shown, { label: `${rest.length} smaller changes`, part: null, change }];
}

/** The axis of a waterfall. */
export function waterfallAxis(steps: readonly Step[]): [low: number, high: number] {
  const ends = steps.flatMap(({ from, to, kind }) => (kind === "total" ? [to] : [from, to]));
  return axisFor(Math.min(...ends), Math.max(...ends, 1));
}

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
