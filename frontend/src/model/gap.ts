/** A gap of the timeline as a window shows it. */
import type { TimelineGap } from "../api/types";
import { formatDuration } from "../format/time";
import { partKinds } from "./parts";
import { seenOf } from "./timeline";
import type { View } from "./timeline_link";

/** The parts of a gap with the sum of the pieces of each, the largest first: its cause. */
export function partSums({ parts }: Pick<TimelineGap, "parts">): [string, number][] {
  const sums = new Map<string, number>();
  for (const { part = "", duration } of parts) sums.set(part, (sums.get(part) ?? 0) + duration);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** What the window shows of a gap, which may begin before it and go on after it: as the tables below count it. */
export function seenGap(gap: TimelineGap, view: View): TimelineGap {
  const cut = <Part extends { start: number; duration: number }>(part: Part): Part => {
    const [from, to] = seenOf(part.start, part.duration, view);
    return { ...part, start: from, duration: to - from };
  };
  const seen = cut(gap);
  if (seen.duration <= 0) return gap;
  const parts = gap.parts.map(cut).filter(({ duration }) => duration > 0);
  return { ...seen, parts, cause: partSums({ parts })[0]?.[0] ?? gap.cause };
}

/** The length of a gap as the window shows it; all of it where that lies outside. */
export function seenLength({ start, duration }: { start: number; duration: number }, view: View): number {
  const [from, to] = seenOf(start, duration, view);
  return to > from ? to - from : duration;
}

/** The length and the cause that the page tells. */
export function gapInWords(gap: TimelineGap, view: View, unit: string): string {
  const { duration, cause } = seenGap(gap, view);
  return `Gap of ${formatDuration(duration)}, ${partKinds(unit).find(({ key }) => key === cause)?.label ?? cause}`;
}

/** Starts and ends are told to so many ns by whoever marks them. */
export const NEAR_NS = 1_000;

interface Shown {
  view: View;
  /** What is loaded: of a block that reaches its edges nobody knows here where it ends. */
  known: View;
  /** Stretches that are pointed out. */
  marked: readonly View[];
  /** Whether a gap is as long as the window shows of it. */
  cut: boolean;
}

const isWithin = (block: View, { from, to }: View): boolean => block.from > from && block.to < to;
const length = ({ from, to }: View): string => formatDuration(to - from);

/** How long a block is in words, as far as the loaded window tells. */
export const lengthIn = (block: View, known: View): string =>
  isWithin(block, known) ? length(block) : `at least ${length(block)}`;

/**
 * What stands on a block of idle time, the first that fits, and where. A stretch in it that is pointed out has its own length on it. Where
 * the window shows only part of a block, no length is told: what is seen would pass for the whole.
 */
export function blockLabel(
  block: View,
  cause: string,
  { view, known, marked, cut }: Shown,
): { on: View; texts: string[] } {
  const mark = marked.find(({ from, to }) => from >= block.from - NEAR_NS && to <= block.to + NEAR_NS);
  if (mark !== undefined) {
    const part = length(mark);
    const isPart = isWithin(block, known) && part !== length(block);
    return { on: mark, texts: [...(isPart ? [`${cause} ${part} of ${length(block)}`] : []), `${cause} ${part}`, part] };
  }
  const [from, to] = seenOf(block.from, block.to - block.from, view);
  const isWhole = isWithin(block, known) && from === block.from && to === block.to;
  return { on: block, texts: [...(isWhole || cut ? [`${cause} ${length({ from, to })}`] : []), cause] };
}
