/** Geometry of the roofline: logarithmic axes, the roofs that matter, dots whose area is time. */
import type { Dot, EfficiencyResponse, Peak, Row } from "../api/types";
import { formatCount, formatScaled } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { PASS } from "./bar_names";
import { boundColumns, mainBound, timesBy, type BoundTimes } from "./bounds";
import { labelOf } from "./kernel_name";
import { precisionLabel } from "./precisions";
import { shortUnit } from "./resources";
import type { Place } from "./roofline_labels";
import { endsApart } from "./short_place";

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

/** The dots of the ops of one row of the table by path that have one precision, as one: sums of work, bytes and time. */
export interface DotGroup extends DrawnDot {
  /** The ids of its ops, the longest first. */
  ops: string[];
  /** Kernel time by what bounds it; `bound` is what bounds most. */
  boundTimes: BoundTimes;
  /** What keeps some of them off matrix units. */
  causes: string[];
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
    const key = `${dot.precision} ${dot.direction} ${dot.pattern}`;
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
      // Of all its time: what it achieved over this is its share of the peak.
      const peak = members.every(({ peak_flops_per_second: rate }) => rate !== null)
        ? sum(members, ({ kernel_ns: ns, peak_flops_per_second: rate }) => ns * (rate ?? 0)) / time
        : null;
      const boundTimes = timesBy((by) => sum(members, ({ kernel_ns: ns, bound }) => (bound === by ? ns : 0)));
      return [
        {
          ...longest,
          bound: mainBound(boundTimes, time),
          boundTimes,
          kernel_ns: time,
          intensity: work / bytes,
          flops_per_second: work / time,
          peak_fraction: shareOf(work / time, peak),
          peak_flops_per_second: peak,
          gain_ns: members.every(({ gain_ns: gain }) => gain !== null)
            ? sum(members, ({ gain_ns: gain }) => gain ?? 0)
            : null,
          ops: members.map(({ op_id: op }) => op),
          causes: [...new Set(members.map(({ cause }) => cause))],
        },
      ];
    })
    .sort((one, other) => other.kernel_ns - one.kernel_ns);
}

/** A dot as a row of the table of groups; shares of the memory by its published rate. */
export const rowOfDot = (dot: DotGroup, memoryPerSecond: number | null): Row => ({
  gpu_time_ns: dot.kernel_ns,
  kernel_time_ns: dot.kernel_ns,
  gain_ns: dot.gain_ns,
  precision: dot.precision,
  family: dot.family,
  flops_per_second: dot.flops_per_second,
  peak_fraction: dot.peak_fraction,
  memory_fraction: shareOf(dot.flops_per_second / dot.intensity, memoryPerSecond),
  bound: dot.bound,
  ...boundColumns(dot.boundTimes),
});

/** What has no dot, where that is more than this part of the kernel time. */
const FEW = 0.1;
const WORTH_A_NAME = 0.05;

/**
 * "Draws 5.3 % of the kernel time. Not drawn: ops without FLOPs, or whose FLOPs or bytes are not known, above all conv2d ×2 (94.7 %).":
 * what the dots leave out of all kernel time, `whole`; empty where that is little.
 */
export function undrawnSentence(
  { dots, undrawn }: Pick<EfficiencyResponse, "dots" | "undrawn">,
  whole: number,
): string {
  const drawn = dots.reduce((sum, { kernel_ns: ns }) => sum + (ns ?? 0), 0);
  if (drawn >= (1 - FEW) * whole) return "";
  const named =
    undrawn === null || (undrawn.kernel_ns ?? 0) < WORTH_A_NAME * whole
      ? ""
      : `, above all ${labelOf(undrawn.name)}${(undrawn.ops ?? 1) > 1 ? ` ×${formatCount(undrawn.ops)}` : ""} (${formatShare(shareOf(undrawn.kernel_ns, whole))})`;
  return `Draws ${formatShare(shareOf(drawn, whole))} of the kernel time. Not drawn: ops without FLOPs, or whose FLOPs or bytes are not known${named}.`;
}

/** The rate of a dot without what it could gain, as far as it is below the memory's roof; null where that is not known, or nothing. */
export function rateWithGain(
  { flops_per_second: rate, kernel_ns: time, gain_ns: gain, intensity }: DrawnDot,
  memoryPerSecond: number | null,
): number | null {
  if (gain === null || gain <= 0 || gain >= time) return null;
  // In fewer bits it would also move less, which the dot does not show.
  const best = Math.min((rate * time) / (time - gain), (memoryPerSecond ?? Infinity) * intensity);
  return best > rate ? best : null;
}

const MODULE_LETTERS = 20;

/** What these groups are called: the op, from `all` others of that name the nearest module that tells it, and its direction where they have several. */
export function tellingNames(dots: readonly DotGroup[], all: readonly DotGroup[]): string[] {
  const ends = endsApart(all.map(({ pattern }) => pattern));
  const directed = new Set(all.map(({ direction }) => direction)).size > 1;
  return dots.map(({ pattern, direction, ops: { length: count } }) => {
    const parts = (ends.get(pattern) ?? pattern).split("/");
    const [part = ""] = parts;
    const module = part.length > MODULE_LETTERS ? `${part.slice(0, MODULE_LETTERS - 1)}…` : part;
    const place = parts.length === 1 ? "" : parts.length === 2 ? `${module}/` : `${module}/…/`;
    const pass = directed ? (PASS[direction] ?? "") : "";
    return [`${place}${parts.at(-1) ?? ""}`, pass, count > 1 ? `×${count}` : ""].filter(Boolean).join(" ");
  });
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
        // Where plain and matrix units are as fast, a short name says so by naming neither.
        shortLabel:
          matrix.length > 0 && vector.join() === matrix.join()
            ? `${matrix.join(", ")} ${formatScaled(perSecond, "FLOP/s")}`
            : labelled(shortUnit(matrixUnit)),
        perSecond,
        goal,
        ridge: memory === null || memory <= 0 ? null : perSecond / memory,
      };
    });
  return { product: first.product, memoryPerSecond: memory, compute, source: first.source };
}

/** The product names of all devices, for where they differ. */
export const products = (peaks: readonly Peak[]): string[] => [...new Set(peaks.map(({ product }) => product))];

/** This share of the time at either end of an axis does not decide how far it reaches, if it lies so many powers of ten off. */
const NEGLIGIBLE = 0.05;
const OFF = 1;

/** The values that an axis has to hold: those of all dots but of outliers whose time is negligible. */
function held(dots: readonly DrawnDot[], valueOf: (dot: DrawnDot) => number): number[] {
  const sorted = [...dots].sort((one, other) => valueOf(one) - valueOf(other));
  const few = NEGLIGIBLE * dots.reduce((sum, { kernel_ns: ns }) => sum + ns, 0);
  const end = (from: readonly DrawnDot[]): number => {
    let passed = 0;
    const first = from.find(({ kernel_ns: ns }) => (passed += ns) > few);
    return first === undefined ? 0 : Math.log10(valueOf(first));
  };
  const [low, high] = [end(sorted) - OFF, end(sorted.reverse()) + OFF];
  return dots.map(valueOf).filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
}

/** From the least to the most with a margin, and at least so many powers of ten. */
function spanning(values: readonly number[], least: number, [below, above]: readonly [number, number]): Axis {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  if (logs.length === 0) return { from: 0, to: least };
  const to = Math.max(...logs) + above;
  return { from: Math.min(Math.min(...logs) - below, to - least), to };
}

/** Powers of ten beyond the last ridge and above the highest roof, where its name has room. */
const ROOM = { x: 0.7, y: 0.3 } as const;

/** Axes that hold every roof with its ridge, and all dots but outliers whose time is negligible. */
export function axes(dots: readonly DrawnDot[], roofs: Roofs | null): { x: Axis; y: Axis } {
  const compute = roofs?.compute ?? [];
  const ridges = compute.map(({ ridge }) => (ridge ?? 0) * 10 ** (ROOM.x - MARGIN));
  const rates = held(dots, ({ flops_per_second: rate }) => rate);
  const intensities = held(dots, ({ intensity }) => intensity);
  return {
    x: spanning([...intensities, ...ridges], 2, [MARGIN, MARGIN]),
    y: spanning([...rates, ...compute.map(({ perSecond }) => perSecond)], 1.5, [MARGIN, ROOM.y]),
  };
}

/** Powers of ten that keep dots off the labels of the other axis. */
const MARGIN = 0.3;

/** The place of a value on the axis, from 0 to 1. */
export const along = (value: number, { from, to }: Axis): number => (Math.log10(value) - from) / (to - from);

/** The powers of ten on an axis, with gaps where there are too many, and twice and five times them where there are few. */
export function decades({ from, to }: Axis, most: number): number[] {
  const [first, last] = [Math.ceil(from), Math.floor(to)];
  const step = Math.max(Math.ceil((last - first) / most), 1);
  const powers: number[] = [];
  for (let power = first; power <= last; power += step) powers.push(10 ** power);
  if (powers.length > 2) return powers;
  return [first - 1, ...Array.from({ length: Math.max(last - first, 0) + 1 }, (_, i) => first + i)]
    .flatMap((power) => [10 ** power, 2 * 10 ** power, 5 * 10 ** power])
    .filter((value) => value >= 10 ** from && value <= 10 ** to);
}

/** Where a dot is drawn. */
export interface DotPlace extends Place {
  /** Of a dot beyond the axes, which is drawn at the edge: the direction in which it lies, degrees from downwards. */
  beyond: number | null;
}

/** From the edge of the plot to the marks of what lies beyond it, px. */
const INSET = 7;

/** The place of a dot from its parts of the axes, 0 to 1 where it is on them. */
export function dotPlace(right: number, up: number, r: number, width: number, height: number): DotPlace {
  const [x, y] = [right * width, (1 - up) * height];
  const within = right >= 0 && right <= 1 && up >= 0 && up <= 1;
  if (within) return { x, y, r, beyond: null };
  const inX = Math.min(Math.max(x, INSET), width - INSET);
  const inY = Math.min(Math.max(y, INSET), height - INSET);
  return { x: inX, y: inY, r: 5, beyond: (Math.atan2(inX - x, y - inY) * 180) / Math.PI };
}

const LARGEST = 12;
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
