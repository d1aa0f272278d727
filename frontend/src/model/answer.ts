/** The sentence that the Dashboard begins with: how much of an iteration is computing, and what costs most of the rest. */
import type { Diagnosis, DiagnosedPart } from "../api/types";
import { formatCount } from "../format/number";
import { formatDuration } from "../format/time";
import { COMPUTE, culpritOf, mainDevice } from "./parts";
import type { Step } from "./step";

export interface Answer {
  /** The sentence in pieces; numbers stand out. */
  pieces: readonly { text: string; strong: boolean }[];
  /** Path and call of the longest cause of what costs most; empty where it has no name. */
  culprit: string;
  /** Which iterations it is about, and what was left out. */
  said: string;
}

const NUMBER = /((?:at least )?\d[\d.,]*\u00a0?\s?(?:%|ns|µs|ms|s|min)(?![A-Za-z]))/;

/** How the sentence begins, without saying what the time is. */
const WHOLE = /^((?:Computing(?: at least| over| under)?|Only copies:) \S+ %) of (\S+ \S+?)(?=[;.]| on )/;

/** Parts in which the GPU waits for something that has a name. */
const NAMED: readonly DiagnosedPart[] = [
  "communication",
  "copy",
  "queued",
  "blocked",
  "launching",
  "host_op",
  "host_code",
  "data_loader",
  "io",
];

/** What must be of an iteration for its cause to be named in the sentence. */
const LEAST_SHARE = 0.01;

/** Which iterations means are of, and why others are not. */
export function saidOf({ typical }: Pick<Diagnosis, "typical">, { iterations }: Pick<Step, "iterations">): string {
  const isAll =
    iterations.length > 1 &&
    typical.why.length === 0 &&
    typical.left_out.length === 0 &&
    typical.stop - typical.start + 1 === iterations.length;
  return isAll
    ? typical.said.replace(/^.*? recorded\./, `All ${formatCount(iterations.length)} iterations.`)
    : typical.said;
}

/** Whether means leave iterations out: of two kinds, or of a drift, they are of all. */
export const leavesOut = ({ typical }: Pick<Diagnosis, "typical">): boolean =>
  typical.why.some((reason) => reason !== "two_kinds" && reason !== "drift");

/**
 * What the time of the sentence is where no iteration is marked, and which other time DLProf's numbers are shares of; empty where
 * they are of the same.
 */
export function spanOf({ marked, mean }: Pick<Diagnosis, "marked" | "mean">, wall_ns: number | null): string {
  const isOther = wall_ns !== null && Math.abs(wall_ns - mean.wall_ns) > mean.wall_ns * LEAST_SHARE;
  return !marked && isOther
    ? `From the first to the last GPU work; DLProf's panels below are about all ${formatDuration(wall_ns)}.`
    : "";
}

/** `of a 823 µs iteration`, whose number is spoken with a vowel first: 8, 11, 18 and what begins with 8. */
const BEFORE_A_VOWEL = /\bof a (?=8|1[18]\D)/;

/** The sentence, with what the time is that shares are of. */
export const withWhole = ({ headline, marked }: Pick<Diagnosis, "headline" | "marked">): string =>
  headline.replace(WHOLE, marked ? "$1 of a $2 iteration" : "$1 of the $2 recorded").replace(BEFORE_A_VOWEL, "of an ");

export function answerOf(diagnosis: Diagnosis, step: Pick<Step, "iterations">): Answer {
  const pieces = withWhole(diagnosis)
    .split(NUMBER)
    .filter((text) => text !== "")
    .map((text) => ({ text, strong: NUMBER.test(text) }));
  const main = mainDevice(diagnosis)?.[1];
  // What the sentence says to cost most, which alone may be named: it is not always something that has a name.
  const [largest] = (Object.entries(main?.parts ?? {}) as [DiagnosedPart, number][])
    .filter(([part]) => !COMPUTE.includes(part))
    .sort(([, a], [, b]) => b - a);
  const isNamed =
    main !== undefined &&
    largest !== undefined &&
    NAMED.includes(largest[0]) &&
    largest[1] >= diagnosis.mean.wall_ns * LEAST_SHARE;
  return {
    pieces,
    culprit: isNamed ? culpritOf(main, largest[0]) : "",
    said: saidOf(diagnosis, step),
  };
}
