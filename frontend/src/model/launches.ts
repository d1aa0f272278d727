/** Bars of histograms: what is told of each is the range that it stands for. */
import { formatCount } from "../format/number";
import { columnUnit } from "../format/time";

export interface Bar {
  label: string;
  value: number;
}

/** From the first bar that holds something to the last; `inWords` tells the range of a bar, which ends before the next one. */
export function histogramOf(
  bins: readonly (readonly [number, number])[],
  inWords: (from: number, next: number | undefined) => string,
): Bar[] {
  const held = bins.flatMap(([, value], at) => (value > 0 ? [at] : []));
  const [first, last] = [held[0], held.at(-1)];
  if (first === undefined || last === undefined) return [];
  return bins
    .slice(first, last + 1)
    .map(([from, value], at) => ({ label: inWords(from, bins[first + at + 1]?.[0]), value }));
}

/** `1`, `2 to 9`, `1,000 and more`. */
export function countRange(from: number, next: number | undefined): string {
  if (next === undefined) return `${formatCount(from)} and more`;
  return next === from + 1 ? formatCount(from) : `${formatCount(from)} to ${formatCount(next - 1)}`;
}

/** `under 1 µs`, `0.1 to 1 ms`, `1 s and more`. */
export function durationRange(from: number, next: number | undefined): string {
  const unit = columnUnit(next ?? from);
  if (next === undefined) return `${from / unit.size} ${unit.name} and more`;
  return from === 0
    ? `under ${next / unit.size} ${unit.name}`
    : `${from / unit.size} to ${next / unit.size} ${unit.name}`;
}
