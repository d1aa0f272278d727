/** Geometry of the charts: arcs, stacked bars, ticks. Numbers in, path texts out. */
import { exactNumber } from "../format/number";

const point = (radius: number, turn: number): string => {
  const angle = turn * 2 * Math.PI - Math.PI / 2;
  return `${(radius * Math.cos(angle)).toFixed(3)} ${(radius * Math.sin(angle)).toFixed(3)}`;
};

/** A ring segment around the origin from turn `from` to `to` (0 to 1, clockwise from the top). */
export function ringSegment(from: number, to: number, inner: number, outer: number): string {
  // A full circle has one point as start and end, which SVG draws as nothing: two halves.
  if (to - from >= 0.99999) {
    const half = (radius: number, sweep: 0 | 1): string =>
      `M0 ${-radius}A${radius} ${radius} 0 1 ${sweep} 0 ${radius}A${radius} ${radius} 0 1 ${sweep} 0 ${-radius}`;
    return `${half(outer, 1)}${half(inner, 0)}Z`;
  }
  const large = to - from > 0.5 ? 1 : 0;
  return (
    `M${point(outer, from)}A${outer} ${outer} 0 ${large} 1 ${point(outer, to)}` +
    `L${point(inner, to)}A${inner} ${inner} 0 ${large} 0 ${point(inner, from)}Z`
  );
}

export interface Segment<Key extends string> {
  key: Key;
  from: number;
  to: number;
}

/** Values laid end to end around a full turn; nothing where they add up to nothing. */
export function segments<Key extends string>(parts: readonly { key: Key; value: number }[]): Segment<Key>[] {
  const whole = parts.reduce((sum, { value }) => sum + Math.max(value, 0), 0);
  if (whole <= 0) return [];
  let at = 0;
  return parts
    .filter(({ value }) => value > 0)
    .map(({ key, value }) => {
      const from = at;
      at += value / whole;
      return { key, from, to: at };
    });
}

/** At most `most` round values from 0 to at least `largest`: steps of 1, 2 or 5 times a power of ten. */
export function ticks(largest: number, most = 5): number[] {
  if (!(largest > 0)) return [0];
  const rough = largest / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.9999) ?? 10);
  const count = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** About `most` round values between two others. */
export function ticksBetween(low: number, high: number, most = 4): number[] {
  const step = ticks(high - low, most)[1] ?? 1;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Where a bar that goes on beyond its scale has its gap. */
export const BROKEN_AT = 0.88;

/**
 * The parts of a bar as far as a scale goes: one that goes on beyond it ends, behind its gap, with the part that is most of it, as in
 * reports (`reports/charts.py`).
 */
export function cutAt<Part extends { ns: number }>(parts: readonly Part[], most: number): readonly Part[] {
  const longest = parts.reduce<Part | undefined>((a, b) => (a !== undefined && a.ns >= b.ns ? a : b), undefined);
  if (longest === undefined || parts.reduce((sum, { ns }) => sum + ns, 0) <= most) return parts;
  let room = BROKEN_AT * most;
  const drawn = parts.map((part) => {
    const ns = Math.min(part.ns, room);
    room -= ns;
    return { ...part, ns };
  });
  return [...drawn, { ...longest, ns: (1 - BROKEN_AT) * most }];
}

/** A tick in words: whole numbers grouped, every digit of small ones. */
export const tickLabel = (mark: number): string => (mark >= 1 ? exactNumber(mark) : String(mark));

/** The bars to label below an axis, so that `room` labels fit: every 1st, 2nd, 5th, 10th ... one. */
export function labelStep(bars: number, room: number): number {
  const needed = bars / Math.max(room, 1);
  if (needed <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(needed));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= needed) ?? 10);
}

export interface Labelled {
  /** Its middle on the axis. */
  x: number;
  value: number;
}

/** Of bars that get a label, those whose labels have `room`: the largest first, so that no outlier goes without. */
export function apart<Bar extends Labelled>(bars: readonly Bar[], room: number): ReadonlySet<Bar> {
  const labelled = new Set<Bar>();
  for (const bar of [...bars].sort((a, b) => b.value - a.value))
    if ([...labelled].every(({ x }) => Math.abs(x - bar.x) >= room)) labelled.add(bar);
  return labelled;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface CaptionedBar extends Box {
  /** What is said above it, from the top down: the first line alone where there is room for no more. */
  lines: readonly string[];
}

export interface Caption<Bar> {
  bar: Bar;
  lines: readonly string[];
  /** The middle of its lines. */
  x: number;
  /** How wide it may be. */
  box: Box;
}

const CAPTION_LINE = 12;
const CAPTION_GAP = 5;
const CAPTION_LIFT = 16;
/** Of half its width. */
const NEAR = [0, 0.5, -0.5] as const;

/**
 * Captions of bars, the first of them first: each above its bar, or a little beside it, and none over another one, over a higher bar or
 * over what is `taken`. What finds no place is left out.
 */
export function captions<Bar extends CaptionedBar>(
  wanted: readonly Bar[],
  taken: readonly Box[],
  plotWidth: number,
  widthOf: (text: string) => number,
): Caption<Bar>[] {
  const placed: Caption<Bar>[] = [];
  for (const bar of wanted) {
    const middle = (bar.left + bar.right) / 2;
    const isFree = (box: Box): boolean =>
      [...taken, ...placed.map((each) => each.box)].every(
        (each) =>
          each === bar ||
          box.right <= each.left ||
          box.left >= each.right ||
          box.bottom <= each.top ||
          box.top >= each.bottom,
      );
    const found = [
      { lines: bar.lines, asides: NEAR },
      // Of one that goes on beyond the scale nothing else tells how long it is: without its cause, which may stand further aside, as
      // nobody takes it for that of another bar, or above what is taken beside it.
      ...(bar.top <= 0
        ? [0, CAPTION_LIFT].map((lift) => ({ lines: bar.lines.slice(0, 1), asides: [...NEAR, 1, -1], lift }))
        : []),
    ]
      .flatMap(
        ({ lines, asides, lift = 0 }: { lines: readonly string[]; asides: readonly number[]; lift?: number }) => {
          const half = Math.max(...lines.map(widthOf), 1) / 2;
          const bottom = bar.top - CAPTION_GAP - lift;
          const top = bottom - CAPTION_LINE * lines.length;
          return asides.map((aside) => {
            const x = Math.min(Math.max(middle + aside * half, half), plotWidth - half);
            return { bar, lines, x, box: { left: x - half - 2, right: x + half + 2, top, bottom } };
          });
        },
      )
      .find(({ box }) => isFree(box));
    if (found !== undefined) placed.push(found);
  }
  return placed;
}

/** Where the baseline of a line of a caption stands, from 0 at its top. */
export const captionBaseline = ({ box }: Pick<Caption<unknown>, "box">, line: number): number =>
  box.top + CAPTION_LINE * (line + 1) - 2;

/** One rectangle of a path. */
export const rectangle = (x: number, y: number, width: number, height: number): string =>
  `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}Z`;
