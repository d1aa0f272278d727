/** What the page of a job draws: the order of its rows, cells and their shades, parts of each rank's time. */
import type { DiagnosedPart, JobCells, JobCollectiveDetail, JobCollectiveStats, RankJob } from "../api/types";
import { formatRanges } from "../format/number";
import { columnUnit } from "../format/time";
import { inUnit, withUnit } from "../format/unit";
import { partKinds } from "./parts";
import { colourOf } from "./resources";
import { comparedSegments, withMissing, type BarSegment } from "./step";

export const MEASURES = [
  [
    "cost",
    "Cost",
    "What of a rank's own delay others waited for while they computed nothing, at most: no more than any other rank waited in the iteration.",
  ],
  [
    "own_delay",
    "Own delay",
    "Time that the rank itself took longer than its peers, counted at each collective. What it costs is less where the others compute while they wait.",
  ],
  ["exposed_wait", "Waiting", "Waiting for other ranks in collectives, while nothing is computed."],
  ["exposed_transfer", "Transfer", "Transferring data between GPUs, while nothing is computed."],
  ["compute", "Compute", "At least one kernel computes."],
  ["idle", "Idle", "The GPU does nothing."],
  ["duration", "Iteration", "The whole iteration. In synchronous training these equalise, whoever is slow."],
] as const;

export type Measure = (typeof MEASURES)[number][0];

/** What is shown first: who costs time, or how long iterations take where nobody can tell. */
export const firstMeasure = (job: RankJob): Measure => (job.own_delay_fraction === null ? "duration" : delays(job).key);

/** What the sentence tells of a rank: what it costs, or its own delay where it says of none what it costs; by rank, in all iterations. */
export const delays = ({
  verdict,
  ranks,
}: RankJob): { key: "cost" | "own_delay"; name: string; ns: readonly (number | null)[] } =>
  verdict.cost_ns !== null && ranks.cost_ns.some((ns) => ns !== null)
    ? { key: "cost", name: "cost", ns: ranks.cost_ns }
    : { key: "own_delay", name: "own delay", ns: ranks.own_delay_ns };

const SORTS = [
  ["rank", "Rank"],
  ["value", "Value"],
  ["host", "Host"],
  ["stage", "Stage"],
] as const;

export type Sort = (typeof SORTS)[number][0];

/** The cells in ns, row after row; NaN is unknown. */
export function decodeCells({ cells, unit_ns: unit, unknown }: JobCells): Float64Array {
  const text = atob(cells);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const values = new Float64Array(bytes.length / 4);
  for (let place = 0; place < values.length; place += 1) {
    const value = view.getUint32(place * 4, true);
    values[place] = value === unknown ? NaN : value * unit;
  }
  return values;
}

const stageAxis = (job: RankJob): number => job.dimensions.findIndex(({ kind }) => kind === "pp");

/** The orders that a job has: by stage only with pipeline stages. */
export const sortsOf = (job: RankJob): readonly (typeof SORTS)[number][] =>
  SORTS.filter(([id]) => id !== "stage" || stageAxis(job) >= 0);

/** The host or the stage of a rank where rows are sorted by it; nothing else. `row` is its place among the ranks. */
export function facetOf(job: RankJob, row: number, sort: Sort): string {
  if (sort === "host") return job.ranks.host[row] ?? "";
  if (sort !== "stage" || stageAxis(job) < 0) return "";
  return `Stage ${job.ranks.coordinates[row]?.split(",")[stageAxis(job)] ?? "?"}`;
}

export interface RowLabel {
  place: number;
  text: string;
  /** Whether it stands out: a host or a stage begins here, or it is the named row. */
  begins: boolean;
}

/**
 * What stands beside the rows, `least` rows from one label to the next at least: where a facet begins, and some ranks.
 * The `named` row always has its label.
 */
export function labelsOf(
  facets: readonly string[],
  ranks: readonly string[],
  least: number,
  named: number | null = null,
): RowLabel[] {
  const labels: RowLabel[] = named === null ? [] : [{ place: named, text: ranks[named] ?? "", begins: true }];
  // Ranks are grouped by powers of two.
  const apart = 2 ** Math.ceil(Math.log2(least));
  let last = -Infinity;
  let next = -1;
  ranks.forEach((rank, place) => {
    const facet = facets[place] ?? "";
    const begins = facet !== "" && facet !== facets[place - 1];
    if (next <= place) {
      next = facets.findIndex((each, other) => other > place && each !== facets[other - 1]);
      if (next < 0) next = Infinity;
    }
    if (place - last < (begins ? least : apart) || (!begins && next - place < least)) return;
    last = place;
    if (named === null || Math.abs(place - named) >= least) labels.push({ place, text: begins ? facet : rank, begins });
  });
  return labels;
}

/** Rows of the heat map in their order. */
export function sortedRows(
  job: RankJob,
  values: Float64Array,
  { rows, columns, ranks }: Pick<JobCells, "rows" | "columns" | "ranks">,
  sort: Sort,
): number[] {
  const order = Array.from({ length: rows }, (_, row) => row);
  if (sort === "rank") return order;
  if (sort === "host" || sort === "stage") {
    const facets = order.map((row) => facetOf(job, row * ranks, sort));
    return order.sort((a, b) => (facets[a] ?? "").localeCompare(facets[b] ?? "", "en", { numeric: true }) || a - b);
  }
  const sums = order.map((row) => {
    let sum = 0;
    for (let column = 0; column < columns; column += 1) {
      const value = values[row * columns + column] ?? NaN;
      if (!Number.isNaN(value)) sum += value;
    }
    return sum;
  });
  return order.sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b);
}

/** Places of the first and the last iteration, or row, that are shown. */
export type Range = readonly [first: number, last: number];

/** The rows of a text such as `33-64`, counted from 1; all if it names none. */
export function rowsShown(text: string | undefined, count: number): Range {
  const [, first, last] = /^(\d{1,9})-(\d{1,9})$/.exec(text ?? "") ?? [];
  const range: Range = [Number(first) - 1, Math.min(Number(last), count) - 1];
  return range[0] >= 0 && range[0] <= range[1] ? range : [0, count - 1];
}

/** What a drag from one cell (place and column) to another goes over. Who drags along one axis does not mean the other. */
export function draggedOver(
  from: readonly [number, number],
  to: readonly [number, number],
  [across, down]: readonly [number, number],
): { places: Range | null; columns: Range | null } {
  const range = (axis: 0 | 1, along: number, beside: number): Range | null =>
    from[axis] !== to[axis] && Math.abs(along) * 4 >= Math.abs(beside)
      ? [Math.min(from[axis], to[axis]), Math.max(from[axis], to[axis])]
      : null;
  return { places: range(0, down, across), columns: range(1, across, down) };
}

/** `factor` times as many of `count` iterations or rows, with `at` among them, amid if there is room; null: all. */
export function zoomedRange([first, last]: Range, at: number, factor: number, count: number): Range | null {
  const span = Math.max(Math.floor((last - first + 1) * factor), 1);
  if (span >= count) return null;
  const start = Math.min(Math.max(at - Math.floor(span / 2), 0), count - span);
  return [start, start + span - 1];
}

/** Of the largest value: those that differ by less are as good as equal, and not shaded as if they were not. */
const SEEN = 0.05;

/** The ends of the scale: the least and the largest value that are known, or 0 and the largest; null if none is known. */
export function scaleOf(values: Iterable<number>, fromZero: boolean): { low: number; high: number } | null {
  let low = fromZero ? 0 : Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (high - low < SEEN * high) low = 0;
  return high === -Infinity ? null : { low, high };
}

/** Of the largest: less is noise beside it, and is not told by three digits. */
const LEAST_TOLD = 0.01;

/** A time in the unit of the largest of its picture; what is noise beside that is only told to be less: `<0.012`. */
export function besideLargest(ns: number, largest: number): { text: string; isNoise: boolean } {
  const isNoise = ns < LEAST_TOLD * largest;
  const unit = columnUnit(largest);
  return { text: isNoise && ns > 0 ? `<${inUnit(LEAST_TOLD * largest, unit)}` : inUnit(ns, unit), isNoise };
}

/** What cells of a picture with this largest time are that have no number: `no number: below 0.012 ms`. */
export const noiseBelow = (largest: number): string =>
  `no number: below ${withUnit(LEAST_TOLD * largest, columnUnit(largest))}`;

/** The rows that one of the lines of a picture shows, where there are more rows than lines. */
export const linesOf = (rows: readonly number[], line: number, lines: number): readonly number[] =>
  rows.slice(
    Math.floor((line * rows.length) / lines),
    Math.max(Math.floor(((line + 1) * rows.length) / lines), Math.floor((line * rows.length) / lines) + 1),
  );

/** The largest value of some rows in a column; NaN if none is known. */
export function largestOf(values: Float64Array, rows: readonly number[], column: number, columns: number): number {
  let largest = NaN;
  for (const row of rows) {
    const value = values[row * columns + column] ?? NaN;
    if (!(value <= largest) && !Number.isNaN(value)) largest = value;
  }
  return largest;
}

/** What communication was that no compute hid; a rank's own page alone calls it all communication. */
export const EXPOSED = [
  {
    key: "transfer",
    label: "Transfer",
    colour: "var(--rank-transfer)",
    about: "Data moves between GPUs, and nothing is computed.",
  },
  {
    key: "wait",
    label: "Waiting",
    // As it is called elsewhere, so that the text on it is read.
    colour: colourOf("communication"),
    about: "In a collective, for ranks that come later, and nothing is computed.",
  },
  {
    key: "unmatched",
    label: "Unmatched",
    colour: "var(--rank-unmatched)",
    about: "Communication of which nothing more is known.",
  },
] as const;

type Exposed = Record<(typeof EXPOSED)[number]["key"], number>;

/** The segments of a bar with communication told apart. */
const toldApart = (segments: readonly BarSegment[], exposed: Exposed): BarSegment[] =>
  segments.flatMap((segment) =>
    segment.key === "communication"
      ? EXPOSED.flatMap((part) => (exposed[part.key] > 0 ? [{ ...segment, ...part, ns: exposed[part.key] }] : []))
      : [segment],
  );

/** Behind how many iterations numbers are of: which others are of the warm-up; empty without any. */
export const warmUpLeftOut = (numbers: readonly number[], before = ", "): string =>
  numbers.length === 0
    ? ""
    : `${before}iteration${numbers.length === 1 ? "" : "s"} ${formatRanges(numbers)} (warm-up) left out`;

type Time = Exclude<keyof RankJob["ranks"], "rank" | "host" | "coordinates" | "iterations" | "last">;

/** A time of a rank in ns, mean of its iterations, or of all that was recorded where none are marked. */
export function meanOf({ ranks }: RankJob, row: number, time: Time): number | null {
  const ns = ranks[time][row] ?? null;
  return ns === null ? null : Math.round(ns / Math.max(ranks.iterations[row] ?? 0, 1));
}

/** The mean iterations of ranks are of one length if they differ by no more. */
const SAME_LENGTH = 0.05;

/** Whether the mean iterations of ranks differ in length. */
export function differInLength(job: RankJob): boolean {
  const known = job.ranks.rank.flatMap((_, row) => meanOf(job, row, "window_ns") ?? []);
  return known.length > 0 && Math.max(...known) > (1 + SAME_LENGTH) * Math.min(...known);
}

/** The exposed communication of a rank's mean iteration, by what it was. */
function exposedIn(job: RankJob, row: number): Exposed {
  const [transfer, wait] = [meanOf(job, row, "exposed_transfer_ns") ?? 0, meanOf(job, row, "exposed_wait_ns") ?? 0];
  const all = meanOf(job, row, "exposed_communication_ns") ?? 0;
  return { transfer, wait, unmatched: Math.max(all - transfer - wait, 0) };
}

/** The mean iteration of each rank as segments that add up, divided as that of one GPU; null of one that did no GPU work. */
export function barsOf(
  job: RankJob,
  rows: readonly number[],
  unit: string,
  /** How much of the queued time of the job's own rank GPU work is missing from; of the others, their own pages tell it. */
  missing = 0,
): (BarSegment[] | null)[] {
  const lacking = (row: number): number =>
    job.ranks.rank[row] === job.rank ? Math.round(missing * (meanOf(job, row, "queued_ns") ?? 0)) : 0;
  const partOf = (row: number, part: DiagnosedPart): number =>
    part === "communication"
      ? (meanOf(job, row, "exposed_communication_ns") ?? 0)
      : (meanOf(job, row, part === "copy" ? "exposed_copy_ns" : `${part}_ns`) ?? 0) -
        (part === "queued" ? lacking(row) : 0);
  const bars = comparedSegments(
    rows.map((row) => ({
      wall_ns: meanOf(job, row, "window_ns") ?? 0,
      parts: Object.fromEntries(partKinds(unit).map(({ key }) => [key, partOf(row, key)])),
    })),
    unit,
  );
  return rows.map((row, at) => {
    if (meanOf(job, row, "compute_ns") === null) return null;
    const bar = toldApart(bars[at] ?? [], exposedIn(job, row));
    return lacking(row) === 0 ? bar : withMissing(bar, lacking(row), meanOf(job, row, "window_ns") ?? 0, unit);
  });
}

/** The segments of a rank's own bar with communication told apart, where the job knows it of the iterations `numbers`. */
export function withWaiting(segments: readonly BarSegment[], job: RankJob, numbers: readonly number[]): BarSegment[] {
  const whole = segments.find(({ key }) => key === "communication")?.ns ?? 0;
  const exposed = exposedOf(job, numbers, whole);
  return exposed === null ? [...segments] : toldApart(segments, exposed);
}

/** What some bars consist of, in the order of a bar. */
export function kindsIn(bars: readonly (readonly BarSegment[] | null)[], unit: string): BarSegment[] {
  const order = partKinds(unit).flatMap(({ key }): string[] =>
    key === "communication" ? [key, ...EXPOSED.map((part) => part.key)] : [key],
  );
  const placeOf = ({ key }: BarSegment): number => (order.includes(key) ? order.indexOf(key) : order.length);
  return [...new Map(bars.flatMap((bar) => (bar ?? []).map((each) => [each.key, each] as const))).values()].sort(
    (a, b) => placeOf(a) - placeOf(b),
  );
}

/** How far the job and the diagnosis may be apart about the same time of a rank. */
const SAME = 0.01;

/**
 * What the exposed communication of the job's rank was in some iterations, mean of them: transfer, waiting and unmatched. Null
 * where the job does not know it of all of them, or tells of another time than `whole`.
 */
export function exposedOf(
  { iterations_by_number: { iteration: all }, exposed_by_iteration: exposed }: RankJob,
  numbers: readonly number[],
  whole: number,
): Exposed | null {
  const meanOfAll = (times: readonly (number | null)[]): number =>
    numbers.reduce((sum, number) => sum + (times[all.indexOf(number)] ?? NaN), 0) / numbers.length;
  const parts = {
    transfer: meanOfAll(exposed.exposed_transfer_ns),
    wait: meanOfAll(exposed.exposed_wait_ns),
    unmatched: meanOfAll(exposed.exposed_unmatched_ns),
  };
  const sum = parts.transfer + parts.wait + parts.unmatched;
  return Math.abs(sum - whole) <= SAME * whole ? parts : null;
}

/** Whether nothing was left out. */
export const isAllMatched = ({
  missing,
  left_out_texts: texts,
}: Pick<RankJob, "missing" | "left_out_texts">): boolean => texts.length === 0 && missing.count === 0;

/** Whether of some communication it is unknown what of it is waiting. */
export const hasUnmatched = (job: RankJob): boolean =>
  job.ranks.rank.some((_, row) => exposedIn(job, row).unmatched > 0);

/** Of two ranks that are as fast, one is last in half of the operations, or a little more, by chance. */
const LEAST_LAST = 0.6;

/** Whether the rank that is last most often is so in most operations, so that naming it says something. */
export const isMostlyLast = ({ last_fraction: share }: Pick<JobCollectiveStats, "last_fraction">): boolean =>
  share !== null && share >= LEAST_LAST;

/** Rows to show as bars: all of a small job, else those that cost or differ most. */
export function barRows(job: RankJob, most = 64, few = 10): number[] {
  const rows = job.ranks.rank.map((_, row) => row);
  if (rows.length <= most) return rows;
  const { ns } = delays(job);
  const delay = (row: number): number => ns[row] ?? 0;
  return rows.sort((a, b) => delay(b) - delay(a) || a - b).slice(0, few);
}

/** The quartiles of each part's share of the time over all ranks: least, lower, median, upper, largest. */
export function spreadOfParts(job: RankJob, unit: string): { kind: BarSegment; shares: number[] }[] {
  const rows = job.ranks.rank.map((_, row) => row);
  const bars = barsOf(job, rows, unit);
  return kindsIn(bars, unit).map((kind) => {
    const sorted = rows
      .flatMap((row) => {
        const window = meanOf(job, row, "window_ns") ?? 0;
        const bar = bars[row];
        return bar == null || window === 0 ? [] : [(bar.find(({ key }) => key === kind.key)?.ns ?? 0) / window];
      })
      .sort((a, b) => a - b);
    return { kind, shares: [0, 0.25, 0.5, 0.75, 1].map((at) => sorted[Math.round(at * (sorted.length - 1))] ?? 0) };
  });
}

/** `rank 3`, or `process 4` where the profiles do not say. */
export const rankLabel = (job: Pick<RankJob, "knows_ranks">, rank: number): string =>
  job.knows_ranks ? `Rank ${rank}` : `Process ${rank + 1}`;

/** An operation as CSV: a line for each rank, times in ns, starts on the common clock. */
export const membersCsv = ({
  members,
  transfer_ns: transfer,
}: Pick<JobCollectiveDetail, "members" | "transfer_ns">): string =>
  [
    "rank,start_ns,wait_ns,transfer_ns",
    ...members.map((one) => [one.rank, one.start_ns, one.wait_ns, transfer].join(",")),
  ]
    .map((line) => `${line}\r\n`)
    .join("");
