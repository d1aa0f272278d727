/** A change in words: its sign and arrow, its time and share. Apart from how a comparison is drawn, since many pages tell changes. */
import { significant } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration } from "../format/time";

/** Less time, more time, or neither; never told by colour alone. */
export type Direction = "less" | "more" | "same";

export const directionOf = (change: number): Direction => (change < 0 ? "less" : change > 0 ? "more" : "same");

const ARROWS = { less: "▼", more: "▲", same: "" } as const;

export const arrowOf = (change: number): string => ARROWS[directionOf(change)];

/** A change with its sign, from its text; of what is only told to be less than an amount, either sign would be read as that amount's. */
export const signedAmount = (change: number, text: string): string =>
  change > 0 && !text.startsWith("<") ? `+${text}` : text;

/** `+22.2 ms`, `−1.31 ms`. */
export const signedDuration = (ns: number): string => signedAmount(ns, formatDuration(ns));

/** From here on percent have too many digits to be read. */
const MANY_TIMES = 10;

/** `+1.2 %`, `−50.6 %`; from ten times on `×2,139`. */
export function signedShare(fraction: number | null): string {
  if (fraction === null) return "";
  return fraction >= MANY_TIMES - 1 ? `×${significant(fraction + 1)}` : signedPercent(fraction);
}

/** The same always in percent, for columns, in which `×13.3` would look less than `+469 %`. */
export function signedPercent(fraction: number): string {
  const text = formatShare(fraction);
  if (fraction <= 0 || text.startsWith("<")) return text;
  return text.startsWith(">") ? text.replace(">", ">+") : `+${text}`;
}

/** A change of a share in points of percent: `+28.9 points`; nothing where it would be none. */
export function signedPoints(change: number): string {
  const points = Math.abs(100 * change);
  return points < 0.05 ? "" : `${change > 0 ? "+" : "−"}${points.toFixed(1)} points`;
}

/** A change of time below this share says nothing, as long as nothing else tells whether it is more than noise. */
const FLOOR = 0.01;

export const isSmall = (a: number, change: number): boolean => Math.abs(change) < FLOOR * a;
