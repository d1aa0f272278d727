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

/** The rate that the roofs allow a dot; null where it is not known which of them holds, or where it is above it already. */
export function roofOver(dot: DrawnDot, memoryPerSecond: number | null): number | null {
  const { flops_per_second: rate, peak_fraction: share, intensity, bound } = dot;
  if (bound === "") return null;
  const roofs = [
    ...(share !== null && share > 0 ? [rate / share] : []),
    ...(memoryPerSecond === null ? [] : [memoryPerSecond * intensity]),
  ];
  const roof = Math.min(...roofs);
  return roofs.length > 0 && roof > rate ? roof : null;
}

const MODULE_LETTERS = 20;

/** What the largest groups are called: the op and, where others of them are called so too, the nearest module that tells it from them. */
export function tellingNames(dots: readonly DotGroup[]): string[] {
  const paths = dots.map(({ name }) => name.split("/").reverse());
  const alike = paths.map((path) => path.map((part) => part.replace(/\[\d+\]/g, "").replace(/\d+/g, "#")));
  return paths.map((path, i) => {
    const own = alike[i] ?? [];
    // Those that are the same up to a level; the next one tells them apart.
    let same = alike.filter((other, j) => j !== i && other[0] === own[0]);
    let level = 0;
    while (same.length > 0 && level < path.length) {
      level += 1;
      same = same.filter((other) => other[level] === own[level]);
    }
    const part = path[level]?.replace(/\[\d+\]$/, "") ?? "";
    const module = part.length > MODULE_LETTERS ? `${part.slice(0, MODULE_LETTERS - 1)}…` : part;
    const before = level === 0 || part === "" ? "" : level === 1 ? `${module}/` : `${module}/…/`;
    const count = dots[i]?.ops.length ?? 1;
    return `${before}${path[0] ?? ""}${count > 1 ? ` ×${count}` : ""}`;
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
const BOLD_LETTER = 7.6;

/** So many lines above or below its dot a name may stand. */
const FARTHEST_LINES = 5;

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
 * Names of level roofs, highest first, each above or below its line where no dot and no other name or roof is: near its end if it
 * can be, and shorter where the whole name fits nowhere. Where there is no such place, where the least is in its way.
 */
export function roofNames(
  levels: readonly { texts: readonly string[]; start: number; y: number }[],
  places: readonly Place[],
  roofHeights: (x: number) => readonly number[],
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
    const apart = candidates.filter((name) => name.from >= 0 && !drawn.some((other) => areClose(name, other)));
    const inTheWay = (name: Label): number =>
      crossings(name, roofHeights) + places.reduce((sum, dot) => sum + Math.max(dot.r + 2 - distance(dot, name), 0), 0);
    const name =
      apart.find((each) => inTheWay(each) === 0) ??
      leastOf(apart, inTheWay) ??
      candidates.find(({ from }) => from >= 0) ??
      candidates.at(-1);
    if (name !== undefined) drawn.push(name);
  }
  return drawn;
}

/** The first of those of which the least is counted. */
function leastOf<T>(of: readonly T[], count: (each: T) => number): T | undefined {
  const counts = of.map(count);
  return of[counts.indexOf(Math.min(...counts))];
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
 * `taken`), and if it can be off dots and roofs. One that would cover another name everywhere is left out. `lead` is where a
 * line to the dot ends, of a name that does not stand at it.
 */
export function dotLabels(
  texts: readonly string[],
  places: readonly Place[],
  taken: readonly Label[],
  roofHeights: (x: number) => readonly number[],
  plot: { width: number; height: number },
): (Label & { text: string; dot: number; lead: { x: number; y: number } | null })[] {
  const drawn: ReturnType<typeof dotLabels> = [];
  texts.forEach((text, i) => {
    const place = places[i];
    if (place === undefined) return;
    const wide = text.length * BOLD_LETTER;
    const { x, y, r } = place;
    const beside = (down: number): [from: number, y: number][] => [
      [x + r + 4, y + 4 + down],
      [x - r - 4 - wide, y + 4 + down],
    ];
    const starts: [from: number, y: number][] = [
      ...beside(0),
      [x - wide / 2, y + r + LABEL_GAP],
      [x - wide / 2, y - r - 5],
      [x + 2, y + r + LABEL_GAP],
      [x - wide, y + r + LABEL_GAP],
      ...Array.from({ length: FARTHEST_LINES }, (_, line) => (line + 1) * LABEL_GAP).flatMap((down) => [
        ...beside(down),
        ...beside(-down),
      ]),
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
    const best = free.find((label) => hits(label) === 0) ?? leastOf(free, hits);
    if (best === undefined) return;
    const near = { x: Math.min(Math.max(x, best.from - 2), best.to), y: best.y - 4 };
    drawn.push({ ...best, dot: i, lead: distance(place, best) > r + 8 ? near : null });
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
