/** The stacked bars of the iterations: their parts, their places, and the text of their hover cards. */
import type { DiagnosedPart, IterationBar, IterationRow as RecordedRow, Resource } from "../api/types";
import { formatCount } from "../format/number";
import { formatDuration } from "../format/time";
import { rectangle } from "./chart";
import { COMPUTE, partKinds } from "./parts";
import { colourOf, ON_GPU, RESOURCES, type ColourClass } from "./resources";
import { amongNeighbours, type Changes } from "./url_state";

export type SplitRow<Row> = Omit<Row, "parts"> & {
  /** By DLProf's classes, or by the parts of the diagnosis where that tells all iterations; `null` outside the aggregation. */
  parts: Partial<Record<Resource | DiagnosedPart, number | null>> | null;
};

export type IterationRow = SplitRow<RecordedRow>;
export type Bar = SplitRow<IterationBar>;

/** What the time of a bar is split into: DLProf's classes, or the parts of the diagnosis. */
export type BarClass = Exclude<ColourClass, "by_memory"> | DiagnosedPart;

const PARTS = partKinds("");

const classesOf = ({ parts }: IterationRow): readonly (Resource | DiagnosedPart)[] =>
  parts !== null && "compute_tensor" in parts ? PARTS.map(({ key }) => key) : RESOURCES;

export const colourOfClass = (key: BarClass): string =>
  PARTS.find((part) => part.key === key)?.colour ?? colourOf(key as ColourClass);

/** The parts of one bar from the bottom up. Outside the aggregation it is one grey part where its parts are not known. */
export function barParts(row: IterationRow, hidden: ReadonlySet<string>): { key: BarClass; ns: number }[] {
  if (!row.profiled && hidden.has("outside")) return [];
  if (!row.profiled && row.parts === null) return [{ key: "outside", ns: row.duration_ns }];
  return classesOf(row)
    .filter((key) => !hidden.has(key))
    .map((key) => ({ key, ns: row.parts?.[key] ?? 0 }))
    .filter(({ ns }) => ns > 0);
}

/** The classes that occur at all, for the legend. */
export function classesIn(rows: readonly IterationRow[]): BarClass[] {
  const known = rows.find(({ parts }) => parts !== null);
  const classes: BarClass[] = (known === undefined ? [] : classesOf(known)).filter((key) =>
    rows.some(({ parts }) => (parts?.[key] ?? 0) > 0),
  );
  return rows.some(({ profiled }) => !profiled) ? [...classes, "outside"] : classes;
}

/** A bar as it is drawn: the mean of its iterations, so that bars of many and of few can be compared. */
export function meanBar<Row extends IterationRow>(row: Row): Row {
  const count = Math.max(row.count, 1);
  if (count === 1) return row;
  const parts = row.parts;
  return {
    ...row,
    duration_ns: row.duration_ns / count,
    parts:
      parts === null
        ? null
        : Object.fromEntries(
            Object.entries(parts).map(([resource, ns]) => [resource, ns === null ? null : ns / count]),
          ),
  };
}

export interface BarLayout {
  /** Distance from one bar's left edge to the next one's. */
  pitch: number;
  width: number;
  /** From there to the bar itself, which stands in the middle. */
  offset: number;
}

const WIDEST_PX = 96;

/** The width of a bar that has `pitch` pixels: with a gap where there is room for one, and not clumsily wide. */
export function barWidth(pitch: number): number {
  // Bars without a gap overlap a little: edges are drawn on whole pixels and would leave white lines between some.
  const gap = pitch >= 12 ? Math.min(pitch * 0.2, 8) : pitch >= 3 ? 1 : -0.5;
  return Math.min(pitch - gap, WIDEST_PX);
}

/** Bars spread over the whole width. */
export function barLayout(bars: number, plotWidth: number): BarLayout {
  const pitch = plotWidth / Math.max(bars, 1);
  const width = barWidth(pitch);
  return { pitch, width, offset: Math.max((pitch - width) / 2, 0) };
}

/** One SVG path per class for all bars together: a thousand bars stay seven elements. */
export function barPaths(
  rows: readonly IterationRow[],
  hidden: ReadonlySet<string>,
  layout: BarLayout,
  height: number,
  topNs: number,
): Map<BarClass, string> {
  const paths = new Map<BarClass, string>();
  rows.forEach((row, i) => {
    let below = 0;
    for (const { key, ns } of barParts(row, hidden)) {
      const tall = (ns / topNs) * height;
      const piece = rectangle(i * layout.pitch + layout.offset, height - below - tall, layout.width, tall);
      paths.set(key, (paths.get(key) ?? "") + piece);
      below += tall;
    }
  });
  return paths;
}

/** The height of the tallest bar as drawn. */
export function tallest(rows: readonly IterationRow[], hidden: ReadonlySet<string>): number {
  return rows.reduce(
    (most, row) =>
      Math.max(
        most,
        barParts(row, hidden).reduce((sum, { ns }) => sum + ns, 0),
      ),
    0,
  );
}

type Wall = Pick<IterationRow, "duration_ns" | "profiled">;

const profiledOrAll = (rows: readonly Wall[]): readonly Wall[] => {
  const inside = rows.filter(({ profiled }) => profiled);
  return inside.length > 0 ? inside : rows;
};

/** The middle one, the mean of two; 0 without any. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(at)] ?? 0) + (sorted[Math.ceil(at)] ?? 0)) / 2;
}

/** How far the middle is from the mean, as a share of it, where few long iterations make the mean: no spread says that. */
const SKEWED = 0.2;

export const isFarFrom = (median: number, mean: number): boolean => Math.abs(median - mean) > SKEWED * mean;

/** Whether a mean is so far above the median that hardly any iteration takes as long: `few_make_the_mean` of `diagnosis/windows.py`. */
export const fewMakeTheMean = (mean: number, median: number): boolean => 2 * mean >= 3 * median;

/** The median duration of the aggregated bars, of all where none is; 0 without any. */
export function medianNs(rows: readonly Wall[]): number {
  return medianOf(profiledOrAll(rows).map(({ duration_ns: wall }) => wall));
}

/**
 * How long a bar may be before it is cut: a warm-up of seconds, or one slow iteration, must not make lines of the others. Those are
 * cut that are many times as long as the next longest one, and never more than a quarter.
 */
export function longestShown(rows: readonly Pick<Wall, "duration_ns">[]): number {
  const walls = rows.map(({ duration_ns: wall }) => wall).sort((a, b) => b - a);
  const most = Math.floor((walls.length + 1) / 4);
  let cut = 0;
  for (let i = 0; i < most; i++) if ((walls[i] ?? 0) > MANY_TIMES * (walls[i + 1] ?? 0)) cut = i + 1;
  return Math.max(walls[cut] ?? 0, 1);
}

const MANY_TIMES = 3;

/** `Iteration 5`, or `Iterations 10 to 19` for a bin. */
export function rowTitle(row: Pick<IterationRow, "iteration" | "stop_iteration">): string {
  return row.stop_iteration > row.iteration
    ? `Iterations ${formatCount(row.iteration)} to ${formatCount(row.stop_iteration)}`
    : `Iteration ${formatCount(row.iteration)}`;
}

/** Why the tables of an iteration's kernels are empty; of several, or of none that is known, nothing more can be said. */
export function withoutKernels(row: IterationRow | undefined): string {
  const parts = row?.parts ?? null;
  if (parts === null) return "It launched no kernel.";
  const copies = ("compute_tensor" in parts ? parts.copy : parts.memory) ?? 0;
  if (copies > 0) return `It launched no kernel: the GPU only copied, for ${formatDuration(copies)}.`;
  return [...ON_GPU, ...COMPUTE].some((key) => (parts[key] ?? 0) > 0)
    ? "It launched no kernel: those that ran in it were launched before."
    : "The GPU did no work in it.";
}

/** What a bar opens: the kernels of its iteration; its neighbours where there are none to show, or where it is several. */
export function openingBar({ iteration, stop_iteration: last, profiled, parts }: IterationRow): Changes {
  const worked = profiled && [...ON_GPU, ...COMPUTE].some((key) => (parts?.[key] ?? 0) > 0);
  return worked && iteration === last
    ? { view: "iterations", "iters.row": String(iteration) }
    : amongNeighbours(iteration, last);
}

/** The aggregated iteration of median length, as tables name it; of bars that stand for several, the first of them; empty without any. */
export function medianIteration(rows: readonly IterationRow[]): string {
  const mean = ({ duration_ns: sum, count }: IterationRow): number => sum / Math.max(count, 1);
  const inOrder = rows.filter(({ profiled }) => profiled).sort((a, b) => mean(a) - mean(b));
  const median = inOrder[Math.floor((inOrder.length - 1) / 2)];
  return median === undefined ? "" : String(median.iteration);
}

/** The bars with the parts of the diagnosis in place of DLProf's classes; null where these do not add up to each bar. */
export function withParts<Row extends IterationRow>(
  rows: readonly Row[],
  diagnosed: PartsByIteration,
): SplitRow<Row>[] | null {
  const split = rows.map((row) => {
    const parts = Object.fromEntries(PARTS.map(({ key }) => [key, 0])) as Record<DiagnosedPart, number>;
    for (let number = row.iteration; number <= row.stop_iteration; number++)
      for (const { key } of PARTS) parts[key] += diagnosed.get(number)?.[key] ?? 0;
    return { row, parts };
  });
  const addUp = split.every(
    ({ row, parts }) => Object.values(parts).reduce((sum, ns) => sum + ns, 0) === row.duration_ns,
  );
  return addUp ? split.map(({ row, parts }) => ({ ...row, parts })) : null;
}

/** By the number of an iteration, as tables name it. */
export type PartsByIteration = ReadonlyMap<number, Partial<Record<DiagnosedPart, number>>>;

/** `4` or `4 to 9`: iterations that follow one another. */
export function rangeText(first: number, last: number): string {
  return first === last ? formatCount(first) : `${formatCount(first)} to ${formatCount(last)}`;
}
