/** Moments -> text, in the reader's own time zone, digits in the order that sorts. */
import { UNKNOWN } from "./number";

const two = (value: number): string => String(value).padStart(2, "0");

/** Seconds since 1970 -> `2021-06-08 08:37`, or `08:37:05` to the second; `null` -> `unknown`. */
export function formatMoment(seconds: number | null | undefined, toTheSecond = false): string {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return UNKNOWN;
  const minute = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
  return toTheSecond ? `${minute}:${two(at.getSeconds())}` : minute;
}
