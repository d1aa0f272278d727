/** The parts of the kernel time by what limits them, as segments of a bar that sums to all of it. */
import type { EfficiencyResponse, PrecisionTime } from "../api/types";
import { withinSentence } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import type { Phrase } from "./headline";
import { precisionSegments } from "./precisions";
import { colourOf } from "./resources";
import { LIMIT_COLOURS } from "./row_limits";
import type { BarSegment } from "./step";

/** Parts that are no causes: their names, colours, and what is said of them. */
const PLAIN: Readonly<Record<string, readonly [label: string, colour: string, about: string]>> = {
  memory: [
    "Limited by memory",
    LIMIT_COLOURS.memory,
    "They multiply nothing, and what their ops must move takes the longest.",
  ],
  other: ["Other", LIMIT_COLOURS.other, "They multiply nothing, and are limited by neither memory nor communication."],
  communication: ["Communication", colourOf("communication"), "Collectives."],
  unknown: ["Unknown kernels", colourOf("unknown_kernel"), "Nothing tells whether they use {unit}s."],
  rest: ["In no op", colourOf("other"), "Kernels whose launch belongs to no op, and CUDA graphs."],
};

const PALER = 0.6;

const notOn = (unit: string): string => `Not on ${unit}s: `;

/** `whole` is all kernel time; what no op launched is the rest of it. */
export function limitSegments(
  { limits, causes, other_types: types }: Pick<EfficiencyResponse, "limits" | "causes" | "other_types">,
  whole: number,
  unit: string,
): BarSegment[] {
  const known = limits.reduce((sum, { kernel_ns: ns }) => sum + ns, 0);
  const all = whole > known ? [...limits, { limit: "rest", kernel_ns: whole - known }] : limits;
  let causesSoFar = 0;
  return all.map(({ limit, kernel_ns: ns }): BarSegment => {
    if (limit === "matrix_unit")
      return { ...segment(limit, ns), label: `On ${unit}s`, colour: colourOf("tensor_core"), about: "" };
    const plain = PLAIN[limit];
    if (plain !== undefined) {
      const [label, colour, about] = plain;
      const largest = limit === "other" && types.length > 0 ? ` Most is of ${types.join(", ")}.` : "";
      return { ...segment(limit, ns), label, colour, about: about.replace("{unit}", unit) + largest };
    }
    const key = limit === "cause_unknown" ? "unknown" : limit;
    const cause = causes.find((each) => each.cause === key)?.label ?? key;
    return {
      ...segment(limit, ns),
      label: notOn(unit) + cause,
      // On its colour the cause says enough.
      shorter: cause,
      // The next one is paler, so that the legend tells them apart.
      colour:
        causesSoFar++ === 0
          ? LIMIT_COLOURS.kept_off
          : `color-mix(in srgb, ${LIMIT_COLOURS.kept_off} ${PALER ** (causesSoFar - 1) * 100}%, white)`,
      about: "Eligible, but not on them.",
      to: { "eff.where.cause": cause, "eff.page": null },
    };
  });
}

const segment = (key: string, ns: number): Pick<BarSegment, "key" | "ns" | "to"> => ({ key, ns, to: null });

/** What a part of the sentence says, and smaller ones say nothing. */
const MOST_TOLD = 3;
const LEAST_TOLD = 0.05;

/** What the time of a segment is, after "23.8 %"; the legend says more. Kernels that could not use the units are not on them either: not to be mixed up. */
function predicateOf({ key, label }: BarSegment, unit: string): string {
  if (key === "other") return "is other work";
  if (key === "unknown") return "is in unknown kernels";
  const cause = label.startsWith(notOn(unit)) ? label.slice(notOn(unit).length) : null;
  return cause === null ? `is ${withinSentence(label)}` : `could use ${unit}s but does not (${cause})`;
}

/** Whether all of it is the rest, which says nothing. */
export const saysNothing = (segments: readonly BarSegment[]): boolean => segments.every(({ key }) => LAST.has(key));

/** What says least: after all else, however much it is. */
const LAST: ReadonlySet<string> = new Set(["other", "rest"]);

/** Before others in the sentence: what is on the units, then what is known. */
const rank = ({ key }: BarSegment): number => (key === "matrix_unit" ? 0 : LAST.has(key) ? 2 : 1);

/**
 * "Of the kernel time, 23.8 % is on Tensor Cores, 29.1 % is communication and 9.0 % could use Tensor Cores but does not (Layout)": the
 * largest segments, for where no more is known. Empty where all of it is the rest.
 */
export function limitsSentence(
  segments: readonly BarSegment[],
  whole: number,
  unit: string,
  timed = "kernel time",
): Phrase[] {
  if (saysNothing(segments)) return [];
  const told = mostOf(segments, whole).sort((one, other) => rank(one) - rank(other) || other.ns - one.ns);
  return partsSentence(told, whole, (segment) => predicateOf(segment, unit), timed);
}

/** The same by precision, "99.9 % is FP32, not on Tensor Cores", for where nothing else is known. Empty where that is not known either. */
export function precisionsSentence(times: readonly PrecisionTime[], whole: number, unit: string): Phrase[] {
  const told = mostOf(precisionSegments(times, unit, 0), whole);
  return told.some(({ key }) => key.startsWith(" ")) ? [] : partsSentence(told, whole, ({ label }) => `is ${label}`);
}

/** The largest, except small ones: of what is on the units, always. */
function mostOf(segments: readonly BarSegment[], whole: number): BarSegment[] {
  const isOnUnits = ({ key }: BarSegment): boolean => key === "matrix_unit";
  return [...segments]
    .sort((one, other) => Number(isOnUnits(other)) - Number(isOnUnits(one)) || other.ns - one.ns)
    .filter(({ ns }) => ns >= LEAST_TOLD * whole)
    .slice(0, MOST_TOLD);
}

function partsSentence(
  told: readonly BarSegment[],
  whole: number,
  predicate: (segment: BarSegment) => string,
  timed = "kernel time",
): Phrase[] {
  if (told.length === 0) return [];
  return [
    { text: `Of the ${timed}, ` },
    ...told.flatMap((segment, i): Phrase[] => [
      { text: i === 0 ? "" : i === told.length - 1 ? " and " : ", " },
      { text: formatShare(shareOf(segment.ns, whole)), strong: true },
      { text: ` ${predicate(segment)}` },
    ]),
    { text: "." },
  ];
}
