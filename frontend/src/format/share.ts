/** Shares (0 to 1) -> percent. */
import { significant, UNKNOWN } from "./number";

/**
 * `0.5551` -> `55.5 %`. What is not quite none and not quite all says so (`<0.1 %`, `>99.9 %`): a rounded 0 or 100
 * would claim more than was measured. `null` -> `unknown`.
 */
export function formatShare(fraction: number | null | undefined): string {
  if (fraction === null || fraction === undefined) return UNKNOWN;
  const percent = fraction * 100;
  // A sign before it would read as another bound.
  if (percent !== 0 && Math.abs(percent) < 0.05) return "<0.1 %";
  if (fraction < 0) return `−${formatShare(-fraction)}`.replace("−>", "<−");
  if (percent < 100 && percent >= 99.95) return ">99.9 %";
  // What is more than all has three digits before the point already.
  return `${percent === 0 || percent >= 100 ? significant(percent) : percent.toFixed(1)} %`;
}

/** `part / whole`, or null where either is not known or the whole is nothing. */
export function shareOf(part: number | null | undefined, whole: number | null | undefined): number | null {
  if (part === null || part === undefined || whole === null || whole === undefined || whole <= 0) return null;
  return part / whole;
}
