/** Which iterations are unlike the others, and why: the part of their time that differs most. */
import { partKinds } from "./parts";
import { medianNs, type BarClass, type IterationRow } from "./iterations";
import { RESOURCES } from "./resources";

export interface Excess {
  /** What an iteration takes more than the median; less than 0 where it takes less. */
  over_ns: number;
  /** The part that is most of the difference, and how much of it; null where none is, or parts are not known. */
  part: { key: BarClass; ns: number } | null;
}

/** So many times as long as the median, or as short, is unlike it. */
const APART = 1.2;
/** One is the median itself. */
const FEWEST = 2;
/** What must be of the difference for a part to be named as its reason. */
const MOST = 0.5;

type PartKey = Exclude<BarClass, "outside">;

const KEYS: readonly PartKey[] = [...new Set([...partKinds("").map(({ key }) => key), ...RESOURCES])];

const partOf = ({ parts }: IterationRow, key: PartKey): number => parts?.[key] ?? 0;

const isApart = (ns: number, median: number): boolean => Math.max(ns, median) >= APART * Math.min(ns, median);

/** The part that differs most from what is usual, if it is most of the whole difference. */
function differing(over: number, row: IterationRow, usual: (key: PartKey) => number): Excess["part"] {
  if (row.parts === null) return null;
  const sign = Math.sign(over);
  const [most] = KEYS.map((key) => ({ key, ns: sign * (partOf(row, key) - usual(key)) })).sort((a, b) => b.ns - a.ns);
  const whole = Math.abs(over);
  return most !== undefined && most.ns > MOST * whole ? { key: most.key, ns: Math.min(most.ns, whole) } : null;
}

const singles = (rows: readonly IterationRow[]): IterationRow[] =>
  rows.filter(({ profiled, count }) => profiled && count === 1);

/** The iterations that are much longer or shorter than the median of those that count, by number. */
export function excesses(rows: readonly IterationRow[]): ReadonlyMap<number, Excess> {
  const usual = singles(rows);
  const median = medianNs(usual);
  if (usual.length < FEWEST || median === 0) return new Map();
  const medians = new Map(
    KEYS.map((key) => [key, medianNs(usual.map((row) => ({ duration_ns: partOf(row, key), profiled: true })))]),
  );
  return new Map(
    rows
      .filter(({ count, duration_ns: ns }) => count === 1 && isApart(ns, median))
      .map((row) => {
        const over = row.duration_ns - median;
        return [row.iteration, { over_ns: over, part: differing(over, row, (key) => medians.get(key) ?? 0) }];
      }),
  );
}

/** The number of the longest aggregated iteration, if it is much longer than the median; null where none is. */
export function longOne(rows: readonly IterationRow[]): number | null {
  const found = excesses(rows);
  const [longest] = singles(rows)
    .filter(({ iteration }) => (found.get(iteration)?.over_ns ?? 0) > 0)
    .sort((a, b) => b.duration_ns - a.duration_ns);
  return longest?.iteration ?? null;
}

/** Of the aggregated iterations the one that is least like the median; null where all are alike. */
export function oddOne(rows: readonly IterationRow[]): ({ iteration: number } & Excess) | null {
  const found = excesses(rows);
  const [odd] = singles(rows)
    .flatMap(({ iteration }) => ({ iteration, excess: found.get(iteration) }))
    .sort((a, b) => Math.abs(b.excess?.over_ns ?? 0) - Math.abs(a.excess?.over_ns ?? 0));
  return odd?.excess === undefined ? null : { iteration: odd.iteration, ...odd.excess };
}
