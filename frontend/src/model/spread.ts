/** Why iterations take longer than others: the part of their time that grows most. */
import { partKinds } from "./parts";
import { medianNs, type BarClass, type IterationRow } from "./iterations";
import { RESOURCES } from "./resources";

export interface Excess {
  /** What an iteration takes more than is usual. */
  over_ns: number;
  /** The part that is most of it, and how much of it; null where none is, or parts are not known. */
  part: { key: BarClass; ns: number } | null;
}

/** From this share of the median on an iteration is longer than usual. */
const LEAST = 0.1;
/** One is the median itself. */
const FEWEST = 2;
/** What must be of the excess for a part to be named as its reason. */
const MOST = 0.5;

type PartKey = Exclude<BarClass, "outside">;

const KEYS: readonly PartKey[] = [...new Set([...partKinds("").map(({ key }) => key), ...RESOURCES])];

const partOf = ({ parts }: IterationRow, key: PartKey): number => parts?.[key] ?? 0;

/** The part that grew most from a usual to a long iteration, if it is most of what that takes more. */
function grown(over: number, long: IterationRow, usual: (key: PartKey) => number): Excess["part"] {
  if (long.parts === null) return null;
  const [most] = KEYS.map((key) => ({ key, ns: partOf(long, key) - usual(key) })).sort((a, b) => b.ns - a.ns);
  return most !== undefined && most.ns > MOST * over ? { key: most.key, ns: Math.min(most.ns, over) } : null;
}

const singles = (rows: readonly IterationRow[]): IterationRow[] =>
  rows.filter(({ profiled, count }) => profiled && count === 1);

/** The iterations that are longer than the median, by number. */
export function excesses(rows: readonly IterationRow[]): ReadonlyMap<number, Excess> {
  const usual = singles(rows);
  const median = medianNs(usual);
  if (usual.length < FEWEST || median === 0) return new Map();
  const medians = new Map(
    KEYS.map((key) => [key, medianNs(usual.map((row) => ({ duration_ns: partOf(row, key), profiled: true })))]),
  );
  return new Map(
    rows
      .filter(({ count, duration_ns: ns }) => count === 1 && ns - median >= LEAST * median)
      .map((row) => {
        const over = row.duration_ns - median;
        return [row.iteration, { over_ns: over, part: grown(over, row, (key) => medians.get(key) ?? 0) }];
      }),
  );
}

/** What the longest aggregated iteration takes more than the shortest, where that is worth a word. */
export function spreadOf(rows: readonly IterationRow[]): ({ longest: number } & Excess) | null {
  const inOrder = singles(rows).sort((a, b) => a.duration_ns - b.duration_ns);
  const [shortest, longest] = [inOrder[0], inOrder.at(-1)];
  if (shortest === undefined || longest === undefined) return null;
  const over = longest.duration_ns - shortest.duration_ns;
  if (over < LEAST * medianNs(inOrder)) return null;
  return { longest: longest.iteration, over_ns: over, part: grown(over, longest, (key) => partOf(shortest, key)) };
}
