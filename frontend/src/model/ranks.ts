/** What the page of a job draws: the order of its rows, cells and their shades, parts of each rank's time. */
import type { JobCells, JobCollectiveDetail, JobCollectiveStats, RankJob } from "../api/types";
import { formatRanges } from "../format/number";
import { columnUnit } from "../format/time";
import { inUnit, withUnit } from "../format/unit";

export const MEASURES = [
  [
    "own_delay",
    "Own delay",
    "Time that the rank itself took longer than its peers, counted at each collective. What it costs is less where the others compute while they wait.",
  ],
  [
    "cost",
    "Cost",
    "What of a rank's own delay others waited for while they computed nothing, at most: no more than any other rank waited in the iteration.",
  ],
  ["exposed_wait", "Waiting", "Waiting for other ranks in collectives, while nothing is computed."],
  ["exposed_transfer", "Transfer", "Transferring data between GPUs, while nothing is computed."],
  ["compute", "Compute", "At least one kernel computes."],
  ["idle", "Idle", "The GPU does nothing."],
  ["duration", "Iteration", "The whole iteration. In synchronous training these equalise, whoever is slow."],
] as const;

export type Measure = (typeof MEASURES)[number][0];

/** What is shown first: who costs time, or how long iterations take where nobody can tell. */
export const firstMeasure = (job: Pick<RankJob, "own_delay_fraction">): Measure =>
  job.own_delay_fraction === null ? "duration" : "own_delay";

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

/** What stands for noise beside the largest, which is nothing, too. */
export const NOISE = "·";

/** A time in the unit of the largest of its picture; of what is noise beside that `NOISE`. */
export function besideLargest(ns: number, largest: number): { text: string; isNoise: boolean } {
  const isNoise = ns < LEAST_TOLD * largest;
  return { text: isNoise ? NOISE : inUnit(ns, columnUnit(largest)), isNoise };
}

/** What `NOISE` is of a picture with this largest time: `· below 0.012 ms`. */
export const noiseBelow = (largest: number): string =>
  `${NOISE} below ${withUnit(LEAST_TOLD * largest, columnUnit(largest))}`;

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

export interface RankPart {
  key: "compute" | "transfer" | "wait" | "unmatched" | "copy" | "loader" | "queued" | "idle";
  label: string;
  about: string;
}

export const PARTS: readonly RankPart[] = [
  { key: "compute", label: "Compute", about: "At least one kernel computes, be it one that communicates meanwhile." },
  { key: "transfer", label: "Transfer", about: "Data moves between GPUs, and nothing is computed." },
  { key: "wait", label: "Waiting", about: "In a collective, for ranks that come later, and nothing is computed." },
  { key: "unmatched", label: "Unmatched", about: "Communication of which nothing more is known." },
  { key: "copy", label: "Copies", about: "Copies and memsets, and no kernel." },
  { key: "loader", label: "Data loader", about: "The GPU does nothing: its host waits for the data loader." },
  { key: "queued", label: "Queued", about: "The GPU does nothing, although work was launched." },
  { key: "idle", label: "Other idle", about: "The GPU does nothing for another reason." },
];

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

/** The parts of a rank's mean iteration in ns, in the order of `PARTS`; null if it did no GPU work. */
export function partsOf(job: RankJob, row: number): number[] | null {
  const compute = meanOf(job, row, "compute_ns");
  if (compute === null) return null;
  const exposed = meanOf(job, row, "exposed_communication_ns") ?? 0;
  const transfer = meanOf(job, row, "exposed_transfer_ns") ?? 0;
  const wait = meanOf(job, row, "exposed_wait_ns") ?? 0;
  const loader = meanOf(job, row, "data_loader_ns") ?? 0;
  const queued = meanOf(job, row, "queued_ns") ?? 0;
  return [
    compute,
    transfer,
    wait,
    Math.max(exposed - transfer - wait, 0),
    meanOf(job, row, "exposed_copy_ns") ?? 0,
    loader,
    queued,
    Math.max((meanOf(job, row, "idle_ns") ?? 0) - loader - queued, 0),
  ];
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
): { transfer: number; wait: number; unmatched: number } | null {
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
  job.ranks.rank.some((_, row) => (partsOf(job, row)?.[3] ?? 0) > 0);

/** Of two ranks that are as fast, one is last in half of the operations, or a little more, by chance. */
const LEAST_LAST = 0.6;

/** Whether the rank that is last most often is so in most operations, so that naming it says something. */
export const isMostlyLast = ({ last_fraction: share }: Pick<JobCollectiveStats, "last_fraction">): boolean =>
  share !== null && share >= LEAST_LAST;

/** Rows to show as bars: all of a small job, else those that differ most by own delay, by rank. */
export function barRows(job: RankJob, most = 64, few = 10): number[] {
  const rows = job.ranks.rank.map((_, row) => row);
  if (rows.length <= most) return rows;
  const delay = (row: number): number => job.ranks.own_delay_ns[row] ?? 0;
  return rows.sort((a, b) => delay(b) - delay(a) || a - b).slice(0, few);
}

/** The quartiles of each part's share of the time over all ranks: least, lower, median, upper, largest. */
export function spreadOfParts(job: RankJob): number[][] {
  const shares = PARTS.map(() => [] as number[]);
  job.ranks.rank.forEach((_, row) => {
    const parts = partsOf(job, row);
    const window = meanOf(job, row, "window_ns") ?? 0;
    if (parts !== null && window > 0) parts.forEach((ns, part) => shares[part]?.push(ns / window));
  });
  return shares.map((values) => {
    const sorted = values.sort((a, b) => a - b);
    return [0, 0.25, 0.5, 0.75, 1].map((place) => sorted[Math.round(place * (sorted.length - 1))] ?? 0);
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
