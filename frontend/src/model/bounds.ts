/** By what the kernel time of several ops is bound: of a row of the tree or of a table, or of a dot of the roofline. */
import type { Row } from "../api/types";
import { formatShare, shareOf } from "../format/share";

const BOUNDS = ["memory", "compute", "caches", "latency", "communication"] as const;
export type Bound = (typeof BOUNDS)[number];

/** Kernel time of the ops that are bound by each. */
export type BoundTimes = Readonly<Record<Bound, number>>;

/** From columns of the server, of the tree and of tables. */
export const boundTimes = (values: Readonly<Record<string, unknown>>): BoundTimes =>
  timesBy((by) => {
    const ns = values[by === "communication" ? "communication_ns" : `${by}_bound_ns`];
    return typeof ns === "number" ? ns : 0;
  });

export const timesBy = (nsOf: (by: Bound) => number): BoundTimes =>
  Object.fromEntries(BOUNDS.map((by) => [by, nsOf(by)])) as Record<Bound, number>;

/** The same times as columns of a row. */
export const boundColumns = (times: BoundTimes): Row =>
  Object.fromEntries(BOUNDS.map((by) => [by === "communication" ? "communication_ns" : `${by}_bound_ns`, times[by]]));

/** That of most first; without what takes none. */
export const boundShares = (times: BoundTimes): { by: Bound; ns: number }[] =>
  BOUNDS.map((by) => ({ by, ns: times[by] }))
    .filter(({ ns }) => ns > 0)
    .sort((a, b) => b.ns - a.ns);

/** What takes most of the kernel time, `whole`; empty where all that is known does not take half of it. */
export function mainBound(times: BoundTimes, whole: number): Bound | "" {
  const bounds = boundShares(times);
  const known = bounds.reduce((sum, { ns }) => sum + ns, 0);
  return known * 2 < whole ? "" : (bounds[0]?.by ?? "");
}

/** All bounds with their shares, that of most first: "compute 54 %, memory 46 %". */
export const sharesInWords = (times: BoundTimes, whole: number): string =>
  boundShares(times)
    .map(({ by, ns }) => `${by} ${formatShare(shareOf(ns, whole)).replace(" ", "\u00a0")}`)
    .join(", ");

/** The same without the share of one that takes all of it. */
export function boundsInWords(times: BoundTimes, whole: number): string {
  const [first] = boundShares(times);
  return first?.ns === whole ? first.by : sharesInWords(times, whole);
}

/** Of a row of ops: of one op its own bound, of a group the bounds of its kernel time. */
export const boundsOfRow = (row: Row): string => {
  const whole = row.kernel_time_ns;
  return typeof whole === "number"
    ? boundsInWords(boundTimes(row), whole)
    : typeof row.bound === "string"
      ? row.bound
      : "";
};
