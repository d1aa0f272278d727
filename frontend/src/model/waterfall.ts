/** From A's time to B's: the steps of a waterfall, in numbers that add up as they are shown. */
import type { CompareResponse } from "../api/types";
import { columnUnit, withDecimals, type TimeUnit } from "../format/time";
import { directionOf, type Direction } from "./change";
import { axisFor } from "./comparison";

export interface Step {
  label: string;
  /** Where its bar begins and ends, ns. */
  from: number;
  to: number;
  /** `detail`: one of the parts of the step before it, which it does not add to. */
  kind: "total" | "detail" | Direction;
  /** What a click narrows the table to; null for totals, sums of many, and what no row of the table stands for. */
  part: string | null;
  /** Its time or change: the changes as shown add up from A to B, and details to the step that they are of. */
  text: string;
}

/** The step that sums the time while kernels run: where they moved to other units, only the sum is better or worse. */
export const KERNELS = "kernels";

const OF_KERNELS = /^(?:compute_|tensor_core|other_kernel|unknown_kernel)/;

/** Nothing in the table of groups is of this part alone. */
const COMMUNICATION = "communication";

/** Of the longer side: changes below it are too small to be seen. */
const LEAST_SHARE = 1e-3;

/** Of the largest change: what is below it tells nothing of the whole. */
const LEAST_OF_LARGEST = 0.01;

/** Of the change, from which kernels alone would be all that is seen. */
const NEARLY_ALL = 0.9;

/** Types of ops: so many where these explain the change, and more where all others together would be larger than each. */
const FEWEST_TYPES = 4;
const FEWEST_STEPS = 8;
const MOST_STEPS = 12;

const OVERLAP = "overlap and boundaries";

interface NamedChange extends Pick<Step, "label" | "part"> {
  change: number;
  /** Parts that add up to it. */
  of?: NamedChange[];
}

interface Waterfall {
  steps: Step[];
  /** A time as it is shown beside them. */
  inScale: (ns: number) => string;
}

/** From A to B: the parts of the time, or where it is not divided the types of ops with the largest changes. */
export function waterfall(result: CompareResponse): Waterfall {
  const { a, b, parts } = result;
  const least = Math.max(a.value_ns, b.value_ns) * LEAST_SHARE;
  const shown = parts.length > 0 ? byPart(result, least) : namedTypes(result, FEWEST_STEPS, "", least);
  const scale = scaleOf(shown, a.value_ns, b.value_ns);
  const [first, last] = [a.value_ns, b.value_ns].map((ns) => Math.round(ns / scale.quantum)) as [number, number];
  const steps: Step[] = [total("A", a.value_ns, first, scale)];
  let running = a.value_ns;
  const quanta = apportioned(shown, last - first, scale);
  shown.forEach(({ label, part, change, of = [] }, i) => {
    const told = quanta[i] ?? 0;
    const details = apportioned(of, told, scale);
    if (told !== 0 || details.some(Boolean)) {
      const text = signed(told, scale);
      steps.push({ label, from: running, to: running + change, kind: directionOf(change), part, text });
    }
    let within = running;
    of.forEach((detail, j) => {
      const from = within;
      within += detail.change;
      const own = details[j] ?? 0;
      if (own !== 0)
        steps.push({ label: detail.label, from, to: within, kind: "detail", part: null, text: signed(own, scale) });
    });
    running += change;
  });
  return {
    steps: [...steps, total("B", b.value_ns, last, scale)],
    inScale: (ns) => inScale(ns / scale.quantum, scale),
  };
}

const total = (label: string, ns: number, quanta: number, scale: Scale): Step => {
  return { label, from: 0, to: ns, kind: "total", part: null, text: inScale(quanta, scale) };
};

/** In which unit, and with how many decimals, all numbers are shown. */
interface Scale {
  unit: TimeUnit;
  decimals: number;
  /** The last digit that is shown, ns. */
  quantum: number;
}

const DIGITS = 3;
const MOST_DECIMALS = 6;
/** From here on a total is hard to read. */
const MOST_READ = 10_000;

/** One for all: the largest change has three digits. */
function scaleOf(changes: readonly NamedChange[], a: number, b: number): Scale {
  const sizes = changes.flatMap(({ change, of = [] }) => [change, ...of.map((detail) => detail.change)]).map(Math.abs);
  const whole = Math.max(a, b);
  const largest = Math.max(...sizes) > 0 ? Math.max(...sizes) : whole;
  const own = columnUnit(largest);
  const unit = whole < MOST_READ * own.size ? own : columnUnit(whole);
  const digits = DIGITS - 1 - Math.floor(Math.log10(Math.max(largest, 1) / unit.size));
  const decimals = unit.size === 1 ? 0 : Math.min(Math.max(digits, 0), MOST_DECIMALS);
  return { unit, decimals, quantum: unit.size / 10 ** decimals };
}

/** The changes as whole last digits that add up to their sum: rounded down, and up where the remainder is largest. */
function apportioned(changes: readonly NamedChange[], sum: number, { quantum }: Scale): number[] {
  const exact = changes.map(({ change }) => change / quantum);
  const result = exact.map(Math.floor);
  const missing = sum - result.reduce((all, one) => all + one, 0);
  const places = exact.map((value, place) => ({ place, rest: value - Math.floor(value) }));
  places.sort((one, other) => other.rest - one.rest);
  for (const { place } of places.slice(0, missing)) result[place] = (result[place] ?? 0) + 1;
  return result;
}

const inScale = (quanta: number, { quantum, unit, decimals }: Scale): string =>
  withDecimals(quanta * quantum, unit, decimals);

const signed = (quanta: number, scale: Scale): string => `${quanta > 0 ? "+" : ""}${inScale(quanta, scale)}`;

/** The parts of the time, of which those while kernels compute are one step, divided by what explains it most. */
function byPart(result: CompareResponse, least: number): NamedChange[] {
  const { parts, measures, communication_ns: communication } = result;
  const communicates = parts.some(({ part, a_ns: a, b_ns: b }) => part === COMMUNICATION && (a > 0 || b > 0));
  const { a: before = null, b: after = null } = measures.kernel_time ?? {};
  const kernelTime = before === null || after === null ? null : after - before;
  const changes = parts.map(({ label, part, change_ns: change }): NamedChange => {
    if (part !== COMMUNICATION) return { label, part, change };
    return { label, part: null, change, of: withOverlap("its kernels", communication, change, least) };
  });
  const units = changes.filter(({ part }) => part !== null && OF_KERNELS.test(part));
  if (units.length === 0) return withRest(changes, least);
  const change = sumOf(units);
  const computing = kernelTime === null ? change : kernelTime - (communicates ? communication : 0);
  const moved = units.filter((one) => one.change !== 0);
  const types =
    communicates || Math.abs(change) <= NEARLY_ALL * Math.abs(result.change_ns) ? [] : typesOf(result, change, least);
  const byUnit = moved.length > 1 && !explains(types, change);
  const kernels: NamedChange = {
    // Those of communication are a part of their own.
    label: communicates ? "While kernels compute" : "While kernels run",
    part: KERNELS,
    change,
    of: byUnit ? moved : types.length > 0 ? types : withOverlap("kernel time, summed", computing, change, least),
  };
  return withRest([kernels, ...changes.filter((one) => !units.includes(one))], least);
}

const sumOf = (changes: readonly NamedChange[]): number => changes.reduce((sum, { change }) => sum + change, 0);

/** The times of kernels, each in full, and what those that run at once or end in another iteration leave of them, where that can be seen. */
function withOverlap(label: string, kernels: number, change: number, least: number): NamedChange[] {
  const overlap = change - kernels;
  if (Math.abs(overlap) < least) return [];
  return [
    { label, part: null, change: kernels },
    { label: OVERLAP, part: null, change: overlap },
  ];
}

/** The time while kernels run by the types of their ops; last, by how much more or less they overlap. */
function typesOf(result: CompareResponse, change: number, least: number): NamedChange[] {
  if (result.kinds.length === 0) return [];
  const overlap = change - result.kinds.reduce((sum, kind) => sum + kind.change_ns, 0);
  return [...namedTypes(result, FEWEST_TYPES, null, least), { label: OVERLAP, part: null, change: overlap }];
}

/** Whether the types of ops that are named leave no more than half of the change to others and to overlap. */
const explains = (types: readonly NamedChange[], change: number): boolean =>
  types.length > 0 && 2 * Math.abs(change - sumOf(types.slice(0, FEWEST_TYPES))) <= Math.abs(change);

/** The types of ops with the largest changes: as many as it takes for all others together to be no larger than one of them. */
function namedTypes(result: CompareResponse, fewest: number, part: string | null, least: number): NamedChange[] {
  const all = result.kinds
    .filter(({ change_ns: change }) => change !== 0)
    .map(({ name, change_ns: change }): NamedChange => ({ label: name, part, change }));
  const largest = Math.abs(all[0]?.change ?? 0);
  const most = all.filter(({ change }) => Math.abs(change) >= Math.max(least, LEAST_OF_LARGEST * largest)).length;
  let count = Math.min(fewest, most);
  while (count < Math.min(MOST_STEPS, most) && Math.abs(sumOf(all.slice(count))) > largest) count += 1;
  if (all.length - count < 2) return all;
  return [...all.slice(0, count), together(all.slice(count))];
}

const together = (changes: readonly NamedChange[]): NamedChange => ({
  label: `${changes.length} smaller changes`,
  part: null,
  change: sumOf(changes),
});

/** Those that can be seen, in their order; all others together are one, unless they are one anyway. */
function withRest(changes: readonly NamedChange[], least: number): NamedChange[] {
  const real = changes.filter(({ change, of = [] }) => change !== 0 || of.length > 0);
  const sizeOf = ({ change, of = [] }: NamedChange): number =>
    Math.max(Math.abs(change), ...of.map((detail) => Math.abs(detail.change)));
  const seen = Math.max(least, LEAST_OF_LARGEST * Math.max(...real.map(sizeOf)));
  const shown = real.filter((each) => sizeOf(each) >= seen);
  const rest = real.filter((each) => !shown.includes(each));
  if (rest.length < 2) return real;
  return [...shown, together(rest)];
}

/** The axis of a waterfall. */
export function waterfallAxis(steps: readonly Step[]): [low: number, high: number] {
  const ends = steps.flatMap(({ from, to, kind }) => (kind === "total" ? [to] : [from, to]));
  return axisFor(Math.min(...ends), Math.max(...ends, 1));
}
