/** Counts and plain numbers. English grouping everywhere, so that a screenshot reads the same on every machine. */

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

const ALL_DIGITS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 15 });

/** Every digit, for the tooltip: `4,447,597,376,245.5`, `0.000123`. */
export const exactNumber = (value: number): string => withMinus(ALL_DIGITS.format(value));

/** The minus of typography, as long as a plus: for eyes, not for files. */
export const withMinus = (text: string): string => text.replace(/^-/, "−");

/** What stands where a value is not known. */
export const UNKNOWN = "unknown";

/** `1234567` -> `1,234,567`; `null` -> `unknown`. */
export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : withMinus(WHOLE.format(value));
}

/** A count with its noun: `1 op`, `2 ops`, `1,200 kernel launches`. */
export function formatCounted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/** `sum of 4 iterations`, for the words before; empty for one, which is no sum. */
export const ofIterations = (words: string, count: number): string =>
  count > 1 ? `${words} ${formatCounted(count, "iteration")}` : "";

/** Ids in ascending order as a sentence names them: `3`, `3, 4`, `0, 4 to 7, 9`. */
export function formatRanges(ids: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const id of ids) {
    const range = ranges.at(-1);
    if (range !== undefined && id === range[1] + 1) range[1] = id;
    else ranges.push([id, id]);
  }
  return ranges
    .map(([first, last]) => (first === last ? first : `${first}${last === first + 1 ? ", " : " to "}${last}`))
    .join(", ");
}

/** `iteration` -> `Iteration`. */
export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A label as it stands within a sentence: "I/O" and names in capitals stay as they are. */
export const withinSentence = (label: string): string =>
  /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;

/** Three significant digits, grouped, without an exponent. */
export function significant(value: number): string {
  // 9.999 has to become 10.0, not 10.00: round first, then count the digits.
  const rounded = Number(value.toPrecision(3));
  if (Math.abs(rounded) >= 100) return formatCount(rounded);
  const size = Math.abs(rounded);
  const digits =
    size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size === 0 ? 0 : Math.min(2 - Math.floor(Math.log10(size)), 6);
  return withMinus(rounded.toFixed(digits));
}

/** Numbers that may be whole: those up to 9,999 with every digit, all others by thousands. */
export const formatNumber = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 10_000 ? formatCount(value) : formatScaled(value);

/** Calls by iteration: `3`, `2.67`, `0.333`: the same way in all of a column. */
export const formatCalls = (value: number | null): string =>
  value === null || Number.isInteger(value) ? formatCount(value) : formatNumber(value);

/** Of a mean that is not whole, what it is of: `61 in 23 iterations`; empty for all others, and sums. */
export function countInAll(mean: number, iterations: number, noun = ""): string {
  const count = Math.round(mean * iterations);
  if (Number.isInteger(mean) || iterations <= 1 || Math.abs(mean * iterations - count) > 1e-6) return "";
  return `${noun === "" ? formatCount(count) : formatCounted(count, noun)} in ${formatCounted(iterations, "iteration")}`;
}

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"] as const;

/** A number by thousands: `4447597376245` -> `4.45 T`; with a unit `4.45 TFLOP/s`. What rounds to 1,000 goes up a step. */
export function formatScaled(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined) return UNKNOWN;
  const size = Math.abs(value);
  const step = size < 999.5 ? 0 : Math.min(Math.floor(Math.log10(size / 0.9995) / 3), PREFIXES.length - 1);
  return `${significant(value / 1000 ** step)} ${PREFIXES[step] ?? ""}${unit}`.trimEnd();
}

/** `122 of 989 TFLOP/s`; both with their units where these differ. */
export function formatPart(part: number, whole: number, unit: string): string {
  const [of, all] = [formatScaled(part, unit), formatScaled(whole, unit)];
  const [number = "", own] = of.split(" ");
  return `${all.endsWith(` ${own}`) ? number : of} of ${all}`;
}

const STEPS = /(\d+)-(\d+)\/(\d+)/g;
/** Of more ids their rule is shorter than they are. */
const MOST_LISTED = 8;

/** Ids as the server writes them, those with steps between them as they are: `0-6/2` -> `0, 2, 4, 6`, `0,1` -> `0, 1`. */
export const withoutSteps = (ids: string): string =>
  ids.replace(/,(?=\S)/g, ", ").replace(STEPS, (rule, first: string, last: string, step: string) => {
    const count = Math.floor((Number(last) - Number(first)) / Number(step)) + 1;
    if (!(count > 0 && count <= MOST_LISTED)) return rule;
    return Array.from({ length: count }, (_, i) => Number(first) + i * Number(step)).join(", ");
  });
