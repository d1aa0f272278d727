/** Geometry of the roofline: logarithmic axes, the roofs that matter, dots whose area is time. */
import type { Dot, Peak } from "../api/types";
import { formatScaled } from "../format/number";
import { precisionLabel } from "./precisions";
import { shortUnit } from "./resources";

export interface Axis {
  /** Powers of ten at both ends. */
  from: number;
  to: number;
}

export interface DrawnDot extends Dot {
  kernel_ns: number;
  intensity: number;
  flops_per_second: number;
}

/** The dots of ops that differ in numbers of their paths only, as one: sums of work, bytes and time. */
export interface DotGroup extends DrawnDot {
  /** The ids of its ops, the longest first. */
  ops: string[];
}

/** A horizontal roof; `ridge` is the intensity from which on it limits instead of the memory. */
export interface ComputeRoof {
  label: string;
  /** The same for a narrow chart. */
  shortLabel: string;
  perSecond: number;
  ridge: number | null;
  /** Whether no op runs in these precisions: the rate of 16 bits on matrix units, which is within reach. */
  goal: boolean;
}

export interface Roofs {
  product: string;
  memoryPerSecond: number | null;
  compute: ComputeRoof[];
  source: string;
}

/** Those that have a place on logarithmic axes, the longest first, so that small ones are drawn over them. */
export function drawnDots(dots: readonly Dot[]): DrawnDot[] {
  return dots
    .filter(
      (dot): dot is DrawnDot => (dot.kernel_ns ?? 0) > 0 && (dot.intensity ?? 0) > 0 && (dot.flops_per_second ?? 0) > 0,
    )
    .sort((one, other) => other.kernel_ns - one.kernel_ns);
}

/** Of `drawnDots`: the layers of a network are one dot; name and id are those of the longest op. */
export function groupedDots(dots: readonly DrawnDot[]): DotGroup[] {
  const groups = new Map<string, DrawnDot[]>();
  for (const dot of dots) {
    const key = `${dot.precision} ${dot.name.replace(/\d+/g, "#")}`;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [dot]);
    else members.push(dot);
  }
  const sum = (members: readonly DrawnDot[], of: (dot: DrawnDot) => number): number =>
    members.reduce((total, dot) => total + of(dot), 0);
  return [...groups.values()]
    .flatMap((members): DotGroup[] => {
      const [longest] = members;
      if (longest === undefined) return [];
      const time = sum(members, ({ kernel_ns: ns }) => ns);
      const work = sum(members, ({ kernel_ns: ns, flops_per_second: rate }) => ns * rate);
      const bytes = sum(members, ({ kernel_ns: ns, flops_per_second: rate, intensity }) => (ns * rate) / intensity);
      const rated = members.every(({ peak_fraction: share }) => share !== null);
      return [
        {
          ...longest,
          kernel_ns: time,
          intensity: work / bytes,
          flops_per_second: work / time,
          peak_fraction: rated
            ? sum(members, ({ kernel_ns: ns, peak_fraction: share }) => ns * (share ?? 0)) / time
            : null,
          ops: members.map(({ op_id: op }) => op),
        },
      ];
    })
    .sort((one, other) => other.kernel_ns - one.kernel_ns);
}

/** The rate that the roofs allow a dot; null where none is known, or where it is above them already. */
export function roofOver(dot: DrawnDot, memoryPerSecond: number | null): number | null {
  const { flops_per_second: rate, peak_fraction: share, intensity } = dot;
  const roofs = [
    ...(share !== null && share > 0 ? [rate / share] : []),
    ...(memoryPerSecond === null ? [] : [memoryPerSecond * intensity]),
  ];
  const roof = Math.min(...roofs);
  return roofs.length > 0 && roof > rate ? roof : null;
}

const GOALS: ReadonlySet<string> = new Set(["fp16", "bf16"]);

/** The roofs of one device: memory, compute in the precisions that occur, and 16 bits on matrix units; equal ones are one line. Null: none known. */
export function roofsOf(peaks: readonly Peak[], precisions: ReadonlySet<string>, matrixUnit: string): Roofs | null {
  const first = peaks[0];
  if (first === undefined) return null;
  const own = peaks.filter(({ device_id: device }) => device === first.device_id);
  const memory = own.find(({ unit }) => unit === "memory")?.per_second ?? null;
  const names = new Map<number, { vector: string[]; matrix: string[]; goal: boolean }>();
  for (const { unit, precision, per_second: rate, used } of own) {
    if (unit === "memory" || rate === null || rate <= 0) continue;
    // Plain units compute 16-bit tensors in FP32, except in a few kernels; the ops show which rates limit them.
    if (unit === "vector" ? !used : !(precisions.has(precision) || GOALS.has(precision))) continue;
    const roof = names.get(rate) ?? { vector: [], matrix: [], goal: true };
    roof.goal &&= unit === "matrix" && !precisions.has(precision);
    roof[unit].push(precisionLabel(precision));
    names.set(rate, roof);
  }
  const compute = [...names]
    .sort(([one], [other]) => other - one)
    .map(([perSecond, { vector, matrix, goal }]) => {
      const labelled = (unitName: string): string => {
        const onMatrixUnits = matrix.length === 0 ? "" : `${matrix.join(", ")} ${unitName}`;
        const named = [vector.join(", "), onMatrixUnits].filter(Boolean).join(" and ");
        return `${named} ${formatScaled(perSecond, "FLOP/s")}`;
      };
      return {
        label: labelled(`${matrixUnit}s`),
        shortLabel: labelled(shortUnit(matrixUnit)),
        perSecond,
        goal,
        ridge: memory === null || memory <= 0 ? null : perSecond / memory,
      };
    });
  return { product: first.product, memoryPerSecond: memory, compute, source: first.source };
}

/** The product names of all devices, for where they differ. */
export const products = (peaks: readonly Peak[]): string[] => [...new Set(peaks.map(({ product }) => product))];

function spanning(values: readonly number[], least: number): Axis {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  if (logs.length === 0) return { from: 0, to: least };
  // A dot at the edge would cover the labels of the other axis.
  const from = Math.floor(Math.min(...logs) - 0.05);
  return { from, to: Math.max(Math.ceil(Math.max(...logs) + 0.05), from + least) };
}

/** Axes that hold every dot and every roof with its ridge. */
export function axes(dots: readonly DrawnDot[], roofs: Roofs | null): { x: Axis; y: Axis } {
  const compute = roofs?.compute ?? [];
  const ridges = compute.map(({ ridge }) => ridge ?? 0);
  return {
    x: spanning([...dots.map(({ intensity }) => intensity), ...ridges], 2),
    y: spanning([...dots.map(({ flops_per_second: rate }) => rate), ...compute.map(({ perSecond }) => perSecond)], 2),
  };
}

/** The place of a value on the axis, from 0 to 1. */
export const along = (value: number, { from, to }: Axis): number => (Math.log10(value) - from) / (to - from);

/** The powers of ten of an axis, with gaps where there are too many. */
export function decades({ from, to }: Axis, most: number): number[] {
  const step = Math.max(Math.ceil((to - from) / most), 1);
  const powers: number[] = [];
  for (let power = from; power <= to; power += step) powers.push(10 ** power);
  return powers;
}

const LARGEST = 18;
const SMALLEST = 2.5;

/** Radius in pixels: the area grows with the time, but no dot becomes too small to point at. */
export const radius = (ns: number, longestNs: number): number =>
  Math.max(LARGEST * Math.sqrt(longestNs > 0 ? ns / longestNs : 0), SMALLEST);

/** The dot at a point: the smallest that contains it, else the one with the nearest edge within reach. */
export function dotAt(
  places: readonly { x: number; y: number; r: number }[],
  x: number,
  y: number,
  reach: number,
): number | null {
  let best: number | null = null;
  let least = Infinity;
  places.forEach((place, i) => {
    const distance = Math.hypot(place.x - x, place.y - y);
    const score = distance <= place.r ? place.r - 1000 : distance - place.r;
    if (score < least && score <= reach) [best, least] = [i, score];
  });
  return best;
}

/** The compute roofs that hold at an intensity, and the memory's up to the highest of them; FLOP/s. */
export function roofsAt({ memoryPerSecond: memory, compute }: Roofs, intensity: number): number[] {
  const flat = compute.filter(({ ridge }) => ridge === null || intensity >= ridge).map(({ perSecond }) => perSecond);
  const highest = compute[0]?.perSecond ?? Infinity;
  return memory !== null && memory * intensity < highest ? [...flat, memory * intensity] : flat;
}

/** The height of a line of labels, and about what a letter takes. */
export const LABEL_GAP = 14;
export const LABEL_LETTER = 6.8;

interface Place {
  x: number;
  y: number;
  r: number;
}

/** A text from one place to another on a base line. */
export interface Label {
  from: number;
  to: number;
  y: number;
}

/**
 * Names of level roofs, highest first, each above or below its line where no dot and no other name or line is: near its end if it
 * can be, and shorter where the whole name fits nowhere. In the way of dots where there is no such place.
 */
export function roofNames(
  levels: readonly { texts: readonly string[]; start: number; y: number }[],
  places: readonly Place[],
  width: number,
): (Label & { text: string })[] {
  const drawn: (Label & { text: string })[] = [];
  for (const level of levels) {
    const candidates = level.texts.flatMap((text) => {
      const long = text.length * LABEL_LETTER;
      const steps = Math.max(Math.floor((width - long - level.start - 4) / LABEL_LETTER) + 1, 1);
      return Array.from({ length: steps }, (_, step) => width - long - step * LABEL_LETTER).flatMap((from) =>
        [level.y - 5, level.y + 12].map((y) => ({ text, from, to: from + long, y })),
      );
    });
    const apart = candidates.filter(
      (name) =>
        name.from >= 0 &&
        !drawn.some((other) => areClose(name, other)) &&
        !levels.some(({ y, start }) => start < name.to && y > name.y - 11 && y < name.y + 3),
    );
    const free = apart.find((name) => places.every((place) => distance(place, name) > place.r + 2));
    const name = free ?? apart[0] ?? candidates.find(({ from }) => from >= 0) ?? candidates.at(-1);
    if (name !== undefined) drawn.push(name);
  }
  return drawn;
}

/** Whether two texts overlap. */
const areClose = (one: Label, other: Label): boolean =>
  Math.abs(other.y - one.y) < LABEL_GAP && one.from < other.to && other.from < one.to;

/** Where along a slanted roof, 0 to 1, its name is off all dots; in the middle if it can be, or if it is nowhere. */
export function slantedName(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  long: number,
  places: readonly Place[],
): number {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [right, down] = [(x2 - x1) / length, (y2 - y1) / length];
  const isFree = (part: number): boolean =>
    places.every(({ x, y, r }) => {
      const along = (x - x1) * right + (y - y1) * down - part * length;
      const above = (x - x1) * down - (y - y1) * right;
      return Math.hypot(Math.max(Math.abs(along) - long / 2, 0), Math.max(4 - above, above - 18, 0)) > r + 2;
    });
  const fits = (part: number): boolean => Math.min(part, 1 - part) * length > long / 2;
  return [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].find((part) => fits(part) && isFree(part)) ?? 0.5;
}

/**
 * Names of the first dots beside, below or above them, where there is room: within the plot, off other names (also those
 * `taken`), and if it can be off dots and roofs. One that would cover another name everywhere is left out.
 */
export function dotLabels(
  texts: readonly string[],
  places: readonly Place[],
  taken: readonly Label[],
  roofHeights: (x: number) => readonly number[],
  plot: { width: number; height: number },
): (Label & { text: string })[] {
  const drawn: (Label & { text: string })[] = [];
  texts.forEach((text, i) => {
    const place = places[i];
    if (place === undefined) return;
    const wide = text.length * LABEL_LETTER;
    const { x, y, r } = place;
    const starts: [from: number, y: number][] = [
      [x + r + 4, y + 4],
      [x - r - 4 - wide, y + 4],
      [x - wide / 2, y + r + LABEL_GAP],
      [x - wide / 2, y - r - 5],
      [x + 2, y + r + LABEL_GAP],
      [x - wide, y + r + LABEL_GAP],
    ];
    const free = starts
      .map(([from, base]) => ({ text, from, to: from + wide, y: base }))
      .filter(
        (label) =>
          label.from >= 0 &&
          label.to <= plot.width &&
          label.y >= LABEL_GAP &&
          label.y <= plot.height - 3 &&
          ![...taken, ...drawn].some((other) => areClose(label, other)),
      );
    const hits = (label: Label): number =>
      crossings(label, roofHeights) + places.filter((other, j) => j !== i && distance(other, label) < other.r).length;
    const best = free.sort((one, other) => hits(one) - hits(other))[0];
    if (best !== undefined) drawn.push(best);
  });
  return drawn;
}

/** From the middle of a dot to the box of a text. */
export const distance = ({ x, y }: Place, { from, to, y: base }: Label): number =>
  Math.hypot(Math.max(from - x, x - to, 0), Math.max(base - 10 - y, y - base - 2, 0));

/** In how many of its places a text is crossed by a roof. */
function crossings({ from, to, y: base }: Label, roofHeights: (x: number) => readonly number[]): number {
  let powers = 0;
  for (let x = from; x <= to; x += LABEL_LETTER)
    if (roofHeights(x).some((height) => height > base - 11 && height < base + 3)) powers += 1;
  return powers;
}
