/** Nanoseconds -> text. */
import { formatCount, significant, UNKNOWN, withMinus } from "./number";
import { inUnit, type Unit } from "./unit";

export interface TimeUnit extends Unit {
  readonly name: "ns" | "µs" | "ms" | "s";
}

const NS: TimeUnit = { name: "ns", size: 1 };
const MS: TimeUnit = { name: "ms", size: 1e6 };
const SECONDS: TimeUnit = { name: "s", size: 1e9 };
const UNITS: readonly TimeUnit[] = [SECONDS, MS, { name: "µs", size: 1e3 }, NS];

/** The largest unit of which `ns` holds at least `least`. */
function unitHolding(ns: number, least: number): TimeUnit {
  return UNITS.find((unit) => Math.abs(ns) >= least * unit.size) ?? NS;
}

/** From here on durations are told in minutes. */
const MINUTES_NS = 599.5e9;

/**
 * A duration for reading: `177 ms`, `1.07 s`, `12.0 µs`, `840 ns`, `12 min 5 s`. `null` -> `unknown`.
 * 999.6 µs would round to "1,000 µs"; it is shown as `1.00 ms`.
 */
export function formatDuration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return UNKNOWN;
  if (ns === 0) return "0 s";
  const size = Math.abs(ns);
  if (size >= MINUTES_NS) {
    const seconds = Math.round(size / 1e9);
    const minutes = Math.floor(seconds / 60);
    const text =
      minutes >= 60
        ? `${formatCount(Math.floor(minutes / 60))} h ${minutes % 60} min`
        : `${minutes} min ${seconds % 60} s`;
    return ns < 0 ? `−${text}` : text;
  }
  const unit = unitHolding(size, 0.9995);
  if (unit.name === "ns") return `${formatCount(Math.round(ns))} ns`;
  return `${significant(ns / unit.size)} ${unit.name}`;
}

/** Of how many iterations there are, and how many of them times are sums of. */
export interface Iterations {
  iterations: number;
  summed: number;
}

/** The mean of an iteration: `69.5 ms of GPU time an iteration`; where there is only one, `417 ms of GPU time`. */
export const formatPerIteration = (
  ns: number | null | undefined,
  { iterations, summed }: Iterations,
  what = "",
): string => `${formatMean(ns, { summed })}${what}${iterations > 1 ? " an iteration" : ""}`;

/** The same without saying so. */
export const formatMean = (ns: number | null | undefined, { summed }: Pick<Iterations, "summed">): string =>
  formatDuration(ns === null || ns === undefined ? ns : ns / Math.max(summed, 1));

/** How much something varies around a mean, in the unit of the mean: `325 µs` beside `3.20 ms` is `0.325 ms`. */
export function formatSpread(spread: number, mean: number): string {
  const unit = columnUnit(Math.abs(mean));
  return `± ${inUnit(spread, unit)} ${unit.name}`;
}

/** A duration in the unit of its column: `0.774 ms`. */
export const inTimeUnit = (ns: number, unit: TimeUnit): string => `${inUnit(ns, unit)} ${unit.name}`;

/** A range of durations, both in the unit of the upper: `0.935 to 1.87 ms`; `up to 59.3 ms` from nothing. */
export function formatRange(low: number, high: number): string {
  const upper = formatDuration(high);
  if (low === 0) return high === 0 ? upper : `up to ${upper}`;
  // Minutes have no decimals.
  if (high >= MINUTES_NS) return formatDuration(low) === upper ? upper : `${formatDuration(low)} to ${upper}`;
  const lower = inUnit(low, columnUnit(high));
  return lower === upper.slice(0, upper.lastIndexOf(" ")) ? upper : `${lower} to ${upper}`;
}

/** Every digit, for the tooltip: `1,065,658,000 ns`. */
export function exactDuration(ns: number | null | undefined): string {
  return ns === null || ns === undefined ? UNKNOWN : `${formatCount(ns)} ns`;
}

/** Readable and exact in one: `1.07 s (1,065,658,000 ns)`. */
export function readableAndExact(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return UNKNOWN;
  return Math.abs(ns) < 1000 ? exactDuration(ns) : `${formatDuration(ns)} (${exactDuration(ns)})`;
}

/** Less of a unit has fewer than three digits; of a smaller unit as much as this is still read. */
const THREE_DIGITS = 0.00995;
const MOST_READ = 2_000;

/** One unit for a whole column, chosen by its largest value; the next smaller one, where most would lose digits and the largest is still read. */
export function columnUnit(largestNs: number, medianNs = Infinity): TimeUnit {
  if (largestNs === 0) return MS;
  const unit = unitHolding(largestNs, 0.9995);
  const smaller = UNITS[UNITS.indexOf(unit) + 1];
  return smaller !== undefined && medianNs < THREE_DIGITS * unit.size && largestNs < MOST_READ * smaller.size
    ? smaller
    : unit;
}

/** The same from all values of a column, of which some may be unknown. */
export const unitOf = (values: readonly (number | null)[]): TimeUnit =>
  columnUnit(values.reduce<number>((most, ns) => Math.max(most, Math.abs(ns ?? 0)), 0));

/** From here on moments are told in seconds: milliseconds of five digits are hard to read. */
const LATE_NS = 10e9;

/** One unit for a column of moments, beside lengths that mostly are of milliseconds. */
export const momentUnit = (largestNs: number): TimeUnit => (Math.abs(largestNs) < LATE_NS ? MS : SECONDS);

/** By how many decimals, made once: each is as slow to make as hundreds of numbers are to format. */
const WITH_DECIMALS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(
  (digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** A moment in the unit of its column: lengths are rounded, but moments are told apart, of ms and s to the microsecond. */
export const momentInUnit = (ns: number, unit: Unit): string =>
  unit.size === 1
    ? formatCount(ns)
    : withMinus(WITH_DECIMALS[unit.size > MS.size ? 6 : 3]?.format(ns / unit.size) ?? "");

/** A duration with so many decimals: `42.74 ms`. */
export const withDecimals = (ns: number, unit: TimeUnit, decimals: number): string =>
  `${withMinus(WITH_DECIMALS[decimals]?.format(ns / unit.size) ?? "")} ${unit.name}`;

/**
 * A moment by itself, in the unit that columns of moments have up to `largest`, with as many decimals as tell it apart from what
 * is `apart` ns away: `2,858 ms`, `1.22 ms`, `34.5 s`.
 */
export function formatTimestamp(ns: number, apart: number, largest = Math.max(ns, MS.size)): string {
  const unit =
    Math.min(apart * APART_IN_MS, largest) < MS.size
      ? (UNITS[2] ?? MS)
      : largest < LATE_NS && apart < SECONDS.size
        ? MS
        : SECONDS;
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(apart / unit.size)), 0), 9);
  return `${WITH_DECIMALS[decimals]?.format(Math.round(ns) / unit.size) ?? ""} ${unit.name}`;
}

/** A moment to the microsecond, since the start of the recording, as the axis of the timeline and its tables have it. */
export const clock = (ns: number): string => formatTimestamp(ns, 1e3);

/** Three decimals of a millisecond tell apart what is a microsecond apart. */
const APART_IN_MS = 1e3;

/** One unit for an axis: the largest of which the longest bar holds at least one. */
export function axisUnit(largestNs: number): TimeUnit {
  return unitHolding(largestNs, 1);
}
