/** Which module wastes most: the deepest row that holds most of what could be gained, or of what matrix units do not do. */
import type { DiagnosedFinding, DiagnosedGain, Missing } from "../api/types";
import { formatCount, formatCounted, withinSentence } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { pathOf, type Rows } from "./group_tree";
import type { TreeRow } from "./tree_row";
import {
  isNotEligible,
  launchesNone,
  LEAST_KNOWN,
  limitedNs,
  mayBeMoreTime,
  mostlyCommunicates,
  tensorCoreShare,
  timeOf,
  type Measure,
} from "./tree_values";

/** What must be of the time of all kernels that compute for its cause to be named. */
const LEAST = 0.01;

/** A row below is named in place of its parent if it holds this share of what the parent does. */
const MOST = 0.5;

/** A finding is about ops that hold this share of the time of its evidence. */
const LEAST_EVIDENCE = 0.1;

/** A row with more than this share of all says little more than that it is the model: what is in it is looked at instead. */
const ALL = 0.5;

/**
 * The largest of the rows that take no more than half of all time, unless one op does; each stands for what is below it as long as
 * one row there holds most of it.
 */
function deepest(rows: Rows, value: (row: TreeRow) => number, time: (row: TreeRow) => number): TreeRow | null {
  const largest = (among: readonly TreeRow[]): TreeRow | null =>
    among.reduce<TreeRow | null>((best, row) => (best === null || value(row) > value(best) ? row : best), null);
  const below = (row: TreeRow): readonly TreeRow[] =>
    row.expandable ? rows.below(row).filter((each) => value(each) > 0) : [];
  const bottom = (row: TreeRow): TreeRow => {
    const next = largest(below(row));
    return next !== null && value(next) >= MOST * value(row) ? bottom(next) : row;
  };
  const whole = rows.roots.reduce((sum, row) => sum + time(row), 0);
  const parts: TreeRow[] = [];
  const waiting = rows.roots.filter((row) => value(row) > 0);
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    const inside = row.gathers !== null || time(row) > ALL * whole ? below(row) : [];
    if (inside.length === 0) parts.push(row);
    else waiting.push(...inside);
  }
  return largest(parts.map(bottom));
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

/** How much of a row's kernel time is on matrix units, as far as that is known; else what it does instead. */
export function onUnitsInWords(row: TreeRow, matrixUnit: string): string {
  const { kernel_time_ns: all, communication_ns: communication } = row.values;
  if (launchesNone(row)) return "It launches no kernels: its time is that of copies and memsets";
  if (mostlyCommunicates(row)) return `${formatShare(shareOf(communication, all))} of its kernel time is communication`;
  if (isNotEligible(row)) return `Not eligible for ${matrixUnit}s`;
  const share = tensorCoreShare(row) ?? (row.unknown.has("tensor_core_time_ns") ? null : 0);
  if (share === null || (share === 0 && mayBeMoreTime(row)))
    return `Whether its kernels use ${matrixUnit}s is not known`;
  return `${mayBeMoreTime(row) && share < 1 ? "At least " : ""}${formatShare(share)} of its kernel time is on ${matrixUnit}s`;
}

export interface Waste {
  /** What has most GPU time, or CPU time where there is none; null without any. */
  longest: TreeRow | null;
  /** What could gain most time; null where gains are known of too little. */
  gains: TreeRow | null;
  /** Whether what has most GPU time could gain is not known, while it takes more than what is known to gain most. */
  isLongestUntold: boolean;
  /** What has most kernel time of eligible ops that is off matrix units; null where nothing has. */
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

/** Of a path that differs from others in numbers alone: the last part that is not alike in all, above the row's own `name`; or empty. */
export function partApart(path: string, name: string, others: readonly string[]): string {
  const [own = [], ...places] = [path, ...others].map((each) => each.replace(/\/$/, "").split("/"));
  const above = own.slice(0, -name.split("/").length);
  return above.filter((part, i) => places.some((other) => other[i] !== part)).at(-1) ?? "";
}

/** Of how much of the kernel time it is known what it could gain; null without any. */
export function knownGains({ roots }: Rows): number | null {
  const sum = (measure: Measure): number => roots.reduce((all, { values }) => all + values[measure], 0);
  const all = sum("kernel_time_ns");
  return all === 0 ? null : 1 - sum("unrated_time_ns") / all;
}

/** Why no row, or few, tell what they could gain; empty where that is known of most of the kernel time. */
export function gainsUntold(known: number | null, missing: Missing | undefined): string {
  if (known === null || known >= LEAST_KNOWN || missing === undefined) return "";
  const what = `${withinSentence(missing.what)}. ${missing.hint}`;
  return known === 0
    ? `What rows could gain is not known without ${what}`
    : `What rows could gain is known for ${formatShare(known)} of the kernel time; the rest needs ${what}`;
}

/** Ids of the ops of the row, and below it. */
export function opsOf({ tree: { nodes, below } }: Rows, { members }: TreeRow): Set<string> {
  const ops = new Set<string>();
  const waiting = [...members];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const op = nodes.op_id[node];
    if (op != null) ops.add(op);
    waiting.push(...(below[node] ?? []));
  }
  return ops;
}

type WithGain = DiagnosedFinding & { gain: DiagnosedGain };

/** A finding with a gain; `isWider` where part of that is of other ops. */
export type OpsFinding = WithGain & { isWider: boolean };

/** The findings about kernels with a gain. */
export const gainsOfKernels = (findings: readonly DiagnosedFinding[]): WithGain[] =>
  findings.filter(
    (finding): finding is WithGain =>
      finding.cause === "compute" &&
      finding.per === "iteration" &&
      finding.gain?.high_ns != null &&
      finding.gain.low_ns !== null,
  );

/** Of these, that of whose evidence some ops hold the most time; null where they have a tenth of none. */
export function findingOf(ops: ReadonlySet<string>, findings: readonly DiagnosedFinding[]): OpsFinding | null {
  const timeOfEvidence = (evidence: DiagnosedFinding["evidence"]): number =>
    evidence.reduce((sum, { time_ns: time }) => sum + (time ?? 0), 0);
  let best: OpsFinding | null = null;
  let most = 0;
  for (const finding of gainsOfKernels(findings)) {
    const { evidence } = finding;
    const inside = evidence.filter(({ op }) => op !== null && ops.has(op));
    const time = timeOfEvidence(inside);
    if (time <= most || time < LEAST_EVIDENCE * timeOfEvidence(evidence)) continue;
    most = time;
    best = { ...finding, isWider: inside.length < evidence.length };
  }
  return best;
}

export function wasteOf(rows: Rows): Waste {
  const { roots } = rows;
  const sum = (measure: Measure): number => roots.reduce((all, { values }) => all + values[measure], 0);
  const { nodes, roots: tops } = rows.tree;
  const some = (measure: Measure): boolean => tops.some((node) => nodes[measure][node] === null);
  const { by } = timeOf(roots);
  const time = ({ values }: TreeRow): number => values[by];
  const limited = deepest(rows, limitedNs, time);
  const longest = deepest(rows, time, time);
  const isKnown = (knownGains(rows) ?? 0) >= LEAST_KNOWN;
  const gains = isKnown ? deepest(rows, ({ values }) => values.gain_ns, time) : null;
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
