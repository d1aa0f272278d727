/** Of how much kernel time it is known what it could gain: in the tree and in tables. */
import type { Cell } from "../api/types";
import { formatShare } from "../format/share";

/** Marks what could be gained by a part of the ops of a row: what the rest could gain is not known. */
export const PART = "*";
export const PART_NOTE = `${PART} Counts only the ops whose work is known.`;

/** Less than this of it that is not rated changes nothing that a gain is read for. */
const WORTH_MORE = 0.01;

/** Of a kernel time, whether more could be gained than is known. */
export const isPartly = (rated: number | null): boolean => (rated ?? 1) < 1 - WORTH_MORE;

/** Of the kernel time of a row of a table, or of its sums, the part that the known gain is of; null where it is of all. */
export function partlyRated(row: Readonly<Record<string, Cell>>): number | null {
  const { gain_ns: gain, unrated_time_ns: unrated } = row;
  const kernels = row.kernel_ns ?? row.kernel_time_ns;
  if (typeof gain !== "number" || typeof unrated !== "number" || typeof kernels !== "number" || kernels <= 0)
    return null;
  const rated = (kernels - unrated) / kernels;
  return isPartly(rated) ? rated : null;
}

export const knownForTip = (rated: number | null): string =>
  `Known for ${formatShare(rated)} of the kernel time; what the rest could gain is not known`;
