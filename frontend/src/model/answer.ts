/** The sentence that the Dashboard begins with, and what is said below it. */
import type { Diagnosis } from "../api/types";
import { formatCount } from "../format/number";
import { formatDuration } from "../format/time";
import type { Step } from "./step";

/** Another time is told from this share of the sentence's on. */
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
  return !marked && isOther ? `DLProf's panels below are about all ${formatDuration(wall_ns)} recorded.` : "";
}
