/** Which module wastes most: the deepest row that holds most of what could be gained, or of what matrix units do not do. */
import { formatCount, formatCounted } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { pathOf, type Rows, type TreeRow } from "./group_tree";
import { limitedNs, mayBeMoreTime, tensorCoreShare, timeOf, type Measure } from "./tree_values";

/** What must be of the time of all kernels that compute for its cause to be named. */
const LEAST = 0.01;

/** A row below is named in place of its parent if it holds this share of what the parent does. */
const MOST = 0.5;

/** A row with this share of all says no more than that it is the model: the largest below it is named, whatever it holds. */
const ALL = 0.8;

function deepest(rows: Rows, value: (row: TreeRow) => number): TreeRow | null {
  const largest = (among: readonly TreeRow[]): TreeRow | null =>
    among.reduce<TreeRow | null>((best, row) => (best === null || value(row) > value(best) ? row : best), null);
  let deepest: TreeRow | null = null;
  const whole = rows.roots.reduce((sum, row) => sum + value(row), 0);
  for (let next = largest(rows.roots); next !== null && value(next) > 0;) {
    if (deepest !== null && value(next) < MOST * value(deepest) && value(deepest) < ALL * whole) break;
    deepest = next;
    next = next.expandable ? largest(rows.below(next)) : null;
  }
  return deepest;
}

/** Ops that are known to be eligible, and those that are known to use matrix units. */
export interface EligibleOps {
  eligible: number;
  using: number;
  /** Whether more may be eligible. */
  moreEligible: boolean;
  /** Whether more may use them. */
  moreUsing: boolean;
}

/** How many ops use matrix units, as far as that is known. */
export function eligibleSentence(
  { eligible, using, moreEligible, moreUsing }: EligibleOps,
  matrixUnit: string,
): string {
  if (eligible === 0)
    return moreEligible
      ? `Whether any op could use ${matrixUnit}s is not known.`
      : `No op is eligible for ${matrixUnit}s.`;
  const of = moreEligible
    ? `the ${formatCounted(eligible, "op")} known to be eligible`
    : formatCounted(eligible, "eligible op");
  return `${moreUsing ? "At least " : ""}${formatCount(using)} of ${of} ${using === 1 ? "uses" : "use"} ${matrixUnit}s.`;
}

/** How much of a row's kernel time is on matrix units, as far as that is known; empty where it has no kernels, or all communicate. */
export function onUnitsInWords(row: TreeRow, matrixUnit: string): string {
  const { kernel_time_ns: all, communication_ns: communication } = row.values;
  if (all === 0) return "It launches no kernels: its time is that of copies and memsets";
  if (communication * 2 > all) return `${formatShare(shareOf(communication, all))} of its kernel time is communication`;
  const share = tensorCoreShare(row);
  if (share === null || (share === 0 && mayBeMoreTime(row)))
    return `Whether its kernels use ${matrixUnit}s is not known`;
  return `${mayBeMoreTime(row) && share < 1 ? "At least " : ""}${formatShare(share)} of its kernel time is on ${matrixUnit}s`;
}

export interface Waste {
  /** What has most GPU time, or CPU time where there is none; null without any. */
  longest: TreeRow | null;
  /** What could gain most time; null where no gain is known. */
  gains: TreeRow | null;
  /** Whether what has most GPU time could gain is not known, while it takes more than what is known to gain most. */
  isLongestUntold: boolean;
  /** What has most time in eligible ops that do not use matrix units, or not well; null where nothing has. */
  limited: TreeRow | null;
  ops: EligibleOps;
}

const withoutNumbers = (text: string): string => text.replace(/\[\d+\]/g, "");

/**
 * Paths that differ from those of the row's members in numbers alone, in modules that are not alike: a first block with one
 * op more is a row of its own, while tables of ops count them all as one.
 */
export function othersOf({ tree }: Rows, { members }: TreeRow): string[] {
  const [first = 0] = members;
  const own = new Set(members);
  const name = withoutNumbers(tree.nodes.name[first] ?? "");
  const path = withoutNumbers(pathOf(tree, first));
  return tree.nodes.name.flatMap((each, node) => {
    if (own.has(node) || withoutNumbers(each) !== name) return [];
    const other = pathOf(tree, node);
    return withoutNumbers(other) === path ? [other] : [];
  });
}

export function wasteOf(rows: Rows): Waste {
  const { roots } = rows;
  const sum = (measure: Measure): number => roots.reduce((all, { values }) => all + values[measure], 0);
  const limited = deepest(rows, limitedNs);
  const some = (measure: Measure): boolean => roots.some(({ unknown }) => unknown.has(measure));
  const { by } = timeOf(roots);
  const longest = deepest(rows, ({ values }) => values[by]);
  const gains = deepest(rows, ({ values }) => values.gain_ns);
  return {
    longest,
    gains,
    isLongestUntold:
      longest?.unknown.has("gain_ns") === true && longest.values.gpu_time_ns > (gains?.values.gpu_time_ns ?? 0),
    // Nobody expects of collectives that they use matrix units, however long they wait.
    limited:
      limited !== null && limitedNs(limited) >= LEAST * (sum("kernel_time_ns") - sum("communication_ns"))
        ? limited
        : null,
    ops: {
      eligible: Math.max(sum("eligible_ops"), sum("using_ops")),
      using: sum("using_ops"),
      moreEligible: some("eligible_ops"),
      moreUsing: some("using_ops") || sum("unknown_ops") > 0,
    },
  };
}
