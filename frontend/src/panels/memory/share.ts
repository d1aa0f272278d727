/** What part of a whole is held, and what is too little to have a row of its own. */
import { exactNumber, formatCounted } from "../../format/number";
import { shareOf } from "../../format/share";

/** Of the whole: less is said to be less than 0.1 %, and its size says no more. */
const LEAST_SHARE = 0.001;

/** The share of a whole; values that count from the start of the recording, or contradict each other, are no parts of one. */
export const partOf = (bytes: number, whole: number): number | null =>
  bytes < 0 || bytes > whole ? null : shareOf(bytes, whole);

export const isTiny = (bytes: number, whole: number): boolean => {
  const share = partOf(bytes, whole);
  return share !== null && share < LEAST_SHARE;
};

export const exactly = (name: string, bytes: number, blocks: number | null): string =>
  `${name}: ${exactNumber(bytes)} bytes${blocks === null ? "" : ` in ${formatCounted(blocks, "block")}`}`;
