/** What the numbers of rows of the tree say, and how rows are ordered by them. */
import type { Rows, Tree } from "./group_tree";
import { isPartly } from "./rated";
import type { TreeRow } from "./tree_row";

export const MEASURES = [
  "ops",
  "calls",
  "eligible_ops",
  "using_ops",
  "cpu_time_ns",
  "gpu_time_ns",
  "cpu_overhead_ns",
  "gpu_idle_ns",
  "kernel_time_ns",
  "tensor_core_time_ns",
  "unknown_time_ns",
  "communication_ns",
  "unknown_ops",
  "unrated_time_ns",
  "gain_ns",
  "compute_bound_ns",
  "memory_bound_ns",
  "caches_bound_ns",
  "latency_bound_ns",
] as const;

export type Measure = (typeof MEASURES)[number];

/** GPU time, or CPU time where there is none, and the sum of it over some rows. */
export function timeOf(rows: readonly TreeRow[]): { by: Measure; whole: number } {
  const total = (key: Measure): number => rows.reduce((sum, { values }) => sum + values[key], 0);
  const gpu = total("gpu_time_ns");
  return gpu > 0 ? { by: "gpu_time_ns", whole: gpu } : { by: "cpu_time_ns", whole: total("cpu_time_ns") };
}

/** Of all collectives that a backend runs on the CPU, which launch no kernels. */
const COLLECTIVES = "/collectives/";

/** Whether ops of the tree communicate with other GPUs or hosts. */
export const communicates = ({ nodes: { name, communication_ns, kernel_time_ns } }: Tree): boolean =>
  communication_ns.some((time) => time > 0) ||
  (kernel_time_ns.every((time) => time === 0) && name.includes(COLLECTIVES.slice(1, -1)));

const isOnHost = ({ key, values }: Pick<TreeRow, "key" | "values">): boolean =>
  values.kernel_time_ns === 0 && key.startsWith(COLLECTIVES);

/** Whether it is known what limits the ops of the tree, and what they could gain. */
export const isRated = ({ nodes }: Tree): boolean => nodes.gain_ns.some((gain) => gain !== null && gain > 0);

/** Columns of shares, and of what they are. */
export const SHARES = { gpu_share: "gpu_time_ns", cpu_share: "cpu_time_ns" } as const satisfies Record<string, Measure>;

export const isShare = (key: string): key is keyof typeof SHARES => key in SHARES;

/** What is known of a row; null where nothing is. */
export const knownOf = ({ values, unknown }: TreeRow, measure: Measure): number | null =>
  unknown.has(measure) ? null : values[measure];

/** Whether more ops below may use the matrix unit than are known to: how many do is the least. */
export const mayBeMoreOps = ({ values }: TreeRow): boolean => values.unknown_ops > 0;

/** Whether more time below may be in kernels that use the matrix unit than is known to be: that is the least. */
export const mayBeMoreTime = ({ values }: TreeRow): boolean => values.unknown_ops > 0 || values.unknown_time_ns > 0;

/** Of the kernel time of a row: of how much it is known what it could gain; null without kernels. */
export const ratedShare = ({ values: { kernel_time_ns: all, unrated_time_ns: unrated } }: TreeRow): number | null =>
  all === 0 ? null : (all - unrated) / all;

/** Where gains are known of less of the kernel time, what gains most of that says nothing about the rest. */
export const LEAST_KNOWN = 0.5;

/** Whether the row could gain more than is known: what it could gain is the least. */
export const mayGainMore = (row: TreeRow): boolean => !row.unknown.has("gain_ns") && isPartly(ratedShare(row));

/** Whether no kernel is below: CUDA graphs recorded as a whole have some, of which no time is known. */
export const launchesNone = (row: TreeRow): boolean => row.values.kernel_time_ns === 0 && !mayBeMoreOps(row);

/** Whether all that it does is communication, which no matrix unit could do. */
export const onlyCommunicates = ({ key, values }: Pick<TreeRow, "key" | "values">): boolean =>
  values.kernel_time_ns > 0 ? values.communication_ns >= values.kernel_time_ns : isOnHost({ key, values });

/** Whether most of it is. */
export const mostlyCommunicates = ({ key, values }: Pick<TreeRow, "key" | "values">): boolean =>
  2 * values.communication_ns > values.kernel_time_ns || isOnHost({ key, values });

/** Whether no op below could use the matrix unit, nor does. */
export const isNotEligible = ({ values, unknown }: TreeRow): boolean =>
  values.eligible_ops === 0 && values.using_ops === 0 && !unknown.has("eligible_ops") && !unknown.has("using_ops");

/** Time in Tensor Core kernels over the time of all kernels; null where there are none, nothing is known of them, none is of an eligible op, or all communicate. */
export const tensorCoreShare = ({ key, values, unknown }: TreeRow): number | null =>
  values.kernel_time_ns > 0 &&
  (values.tensor_core_time_ns > 0 || (values.eligible_ops > 0 && !unknown.has("tensor_core_time_ns"))) &&
  !onlyCommunicates({ key, values })
    ? values.tensor_core_time_ns / values.kernel_time_ns
    : null;

/** Whether neither the row nor any below it has one. */
export const isWithoutShare = ({ values }: TreeRow): boolean =>
  values.tensor_core_time_ns === 0 && values.eligible_ops === 0;

/** Kernel time of the eligible ops below that is off matrix units. */
export const limitedNs = ({ causes }: TreeRow): number => causes.reduce((sum, { kernelNs }) => sum + kernelNs, 0);

const natural = new Intl.Collator("en", { numeric: true });

export function sorted(rows: readonly TreeRow[], sort: string): readonly TreeRow[] {
  if (sort === "") return rows;
  const descending = sort.startsWith("-");
  const key = descending ? sort.slice(1) : sort;
  const sign = descending ? -1 : 1;
  if (key === "name") return [...rows].sort((a, b) => sign * natural.compare(a.name, b.name));
  const measure = MEASURES.find((known) => known === key);
  const value = (row: TreeRow): number =>
    measure !== undefined
      ? row.values[measure]
      : key === "share"
        ? (tensorCoreShare(row) ?? -1)
        : key === "limited"
          ? limitedNs(row)
          : isShare(key)
            ? row.values[SHARES[key]]
            : key === "bound"
              ? row.values.compute_bound_ns - row.values.memory_bound_ns
              : 0;
  return [...rows].sort((a, b) => sign * (value(a) - value(b)) || natural.compare(a.name, b.name));
}

/** The chain of rows from the root down to this one. */
export function chainOf(row: TreeRow | null): TreeRow[] {
  const chain: TreeRow[] = [];
  for (let up = row; up !== null; up = up.parent) chain.unshift(up);
  return chain;
}

/** With fewer rows of the model than this, a picture says nothing. */
const TOO_FEW = 4;

/** The number of levels that rows can be opened to. */
export function deepestOf(rows: Rows): number {
  let deepest = 1;
  for (let shown = rows.roots; ; deepest += 1) {
    shown = shown.flatMap((row) => (row.expandable ? rows.below(row) : []));
    if (shown.length === 0) return deepest;
  }
}

/** Of the time of all: what takes less is not opened unasked, and a drawing gathers it. */
export const SMALL = 0.01;

/**
 * Of the rows below one those that take least, less than a hundredth of `whole` together: a table leaves them out at first. None where
 * that is one row, or where nothing else would be left.
 */
export function leastOf(below: readonly TreeRow[], by: Measure, whole: number): readonly TreeRow[] {
  const least: TreeRow[] = [];
  let sum = 0;
  for (const row of [...below].sort((one, other) => one.values[by] - other.values[by])) {
    sum += row.values[by];
    if (sum >= SMALL * whole) return least.length > 1 ? least : [];
    least.push(row);
  }
  return [];
}

/** What is opened unasked: how many lines there may be, down to which level, whether an opened row keeps a line of its own, and the least share of the time. */
export interface Screen {
  lines: number;
  levels: number;
  perRow: boolean;
  least?: number;
}

/**
 * The keys of rows that are open at first: always the one with most time next, until one would fill more lines; none deeper; at least one level, and of a table what takes more than a third of the time, however many rows that has.
 */
export function openedFirst(rows: Rows, { lines, levels, perRow, least = SMALL }: Screen): ReadonlySet<string> {
  const { by, whole } = timeOf(rows.roots);
  const waiting = rows.roots.filter(({ expandable }) => expandable);
  const opened = new Set<string>();
  let shown = rows.roots.length;
  while (waiting.length > 0) {
    const next = waiting.reduce((best, row) => (row.values[by] > best.values[by] ? row : best));
    waiting.splice(waiting.indexOf(next), 1);
    const isSmall = next.values[by] < least * whole && next.parent !== null;
    if (isSmall || next.depth >= levels) break;
    const below = rows.below(next);
    const large = below.filter(({ values }) => values[by] >= SMALL * whole);
    const more = perRow ? below.length : large.length - 1;
    // A table scrolls; a drawing is to be seen whole.
    const isMost = perRow && next.values[by] > whole / 3;
    if (!isMost && shown >= TOO_FEW && shown + more > lines) break;
    opened.add(next.key);
    shown += more;
    waiting.push(...below.filter(({ expandable }) => expandable));
  }
  return opened;
}

/** Why there is no row at all. */
export const nothingShown = (filter: string): string =>
  filter === ""
    ? "This profile has no ops: record the host too, with ProfilerActivity.CPU (PyTorch), or with -t nvtx and emit_nvtx() (Nsight Systems)."
    : "No path matches the filter.";
