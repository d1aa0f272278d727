/** What the curve of memory draws: layers of categories, marks, and the labels of its axes. */
import type { MemoryCurveResponse, MemoryDevice } from "../api/types";
import { sizeUnit } from "../format/bytes";
import type { View } from "./timeline_link";

/** What a label of the axis of moments needs, px. */
const TICK_ROOM = 90;
/** What the labels at both ends need. */
export const ENDS = 90;
/** What the number of an iteration needs. */
const NUMBER_ROOM = 34;
const MOST_MARKS = 20;

/** Whether a moment is in a part of the recording. */
export const isWithin = (moment: number, part: View | undefined): boolean =>
  part !== undefined && part.from <= moment && moment <= part.to;

/** When the peak is reached: its first moment, and that of each iteration that reaches it, too. */
const peaksOf = ({ peak_ns: first, peak_bytes: most, iterations }: MemoryDevice): number[] =>
  [first, ...iterations.filter(({ peak_bytes: peak }) => peak === most).map(({ peak_ns: at }) => at)].flatMap((at) =>
    at === null ? [] : [at],
  );

/** Whether each iteration reaches the peak, so that any of them shows it. */
const isInEach = ({ peak_bytes: most, iterations }: MemoryDevice): boolean =>
  iterations.every(({ peak_bytes: peak }) => peak === most);

/** Whether a part of the recording shows the peak that sentences name: its first moment, or any where each iteration reaches it. */
export const showsPeak = (device: MemoryDevice, part: View): boolean =>
  peaksOf(device).some((at, i) => isWithin(at, part) && (i === 0 || isInEach(device)));

interface Mark {
  at: number;
  name: string;
  /** Rows of names count from the curve up. */
  row: number;
}

/** The peak, or where it is reached again if its first moment is not shown, and allocations that failed. */
export function marksOf(device: MemoryDevice, timed: boolean, view: View): Mark[] {
  const of = (time: number | null, event: number | null): number | null => (timed ? time : event);
  const peaks = timed ? peaksOf(device) : [device.peak_event ?? -1];
  const peak = peaks.find((at) => isWithin(at, view)) ?? null;
  const again = isInEach(device) ? "the peak, as in each iteration" : "reaches the peak again";
  return [
    { at: peak, name: peak === peaks[0] ? "peak" : again, row: 0 },
    ...device.out_of_memory
      .slice(0, MOST_MARKS)
      .map(({ time_ns: time, event }) => ({ at: of(time, event), name: "out of memory", row: 1 })),
  ].flatMap(({ at, ...mark }) => (at === null || !isWithin(at, view) ? [] : [{ at, ...mark }]));
}

/** An iteration on the axis. */
export interface IterationTick {
  number: number;
  /** Where its part of the window begins. */
  at: number;
  /** Whether its number has room. */
  named: boolean;
}

/** The iterations in the window, that in which it begins, too; none of only one, which tells no moments. */
export function iterationTicks(
  iterations: MemoryDevice["iterations"],
  { from, to }: View,
  inner: number,
): IterationTick[] {
  const begun = iterations.filter(({ start_ns: start }) => start <= from).length;
  const inside = iterations.slice(Math.max(begun - 1, 0)).filter(({ start_ns: start }) => start < to);
  if (inside.length < 2) return [];
  const room = ((to - from) * NUMBER_ROOM) / Math.max(inner, 1);
  let free = from;
  return inside.map(({ number, start_ns: start }, i) => {
    const at = Math.max(start, from);
    const next = inside[i + 1]?.start_ns ?? to;
    const named = at >= free && next - at >= room / 2; // some iterations are much shorter than others
    if (named) free = at + room;
    return { number, at, named };
  });
}

/** Ascending places as runs from first to last, in which none is farther than `gap` from the next. */
export function runsOf(places: readonly number[], gap: number): [number, number][] {
  const runs: [number, number][] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run !== undefined && place - run[1] <= gap) run[1] = place;
    else runs.push([place, place]);
  }
  return runs;
}

/** Round moments between both ends of the axis, where their labels have room. */
export function roundMoments(from: number, to: number, inner: number): number[] {
  const rough = ((to - from) * TICK_ROOM) / Math.max(inner, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const ends = (ENDS / Math.max(inner, 1)) * (to - from);
  const first = Math.ceil((from + ends) / step);
  const count = Math.max(Math.floor((to - ends) / step) - first + 1, 0);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/** The categories from below, the upper ones first, each up to the sum of those below and its own. */
export function layersOf({
  categories,
  in_use_max_bytes: inUse,
}: MemoryCurveResponse): { category: string; upTo: number[] }[] {
  const sums = inUse.map(() => 0);
  return categories
    .map(({ category, bytes }) => {
      bytes.forEach((value, i) => (sums[i] = (sums[i] ?? 0) + value));
      return { category, upTo: [...sums] };
    })
    .reverse();
}

/** Of what is in use at most: a floor of more presses what changes to a line. */
const LARGE_FLOOR = 0.6;
/** Of what is above the floor: so much of the floor is left above the cut. */
const ABOVE_CUT = 0.1;

/** Up to how many bytes the axis is cut out, as the lowest category is in use all the time and takes most of it; 0: nowhere. */
export function cutOf({ categories, in_use_max_bytes: inUse }: MemoryCurveResponse, top: number): number {
  const floor = Math.min(...(categories[0]?.bytes ?? [0]));
  return floor > LARGE_FLOOR * Math.max(...inUse) ? Math.max(floor - ABOVE_CUT * (top - floor), 0) : 0;
}

/** Up to five round numbers of bytes from `cut` to `top`, which are round in its unit; 0 is one of them. */
export function byteTicks(top: number, cut = 0): number[] {
  const unit = sizeUnit(top).size;
  const length = top - cut;
  const step =
    unit * ([0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((each) => length / (each * unit) < 5) ?? 1000);
  const first = Math.ceil(cut / step);
  return [0, ...[0, 1, 2, 3, 4].map((number) => (first + number) * step)].filter(
    (bytes, i) => bytes < top && (i === 0 || bytes > 0),
  );
}
