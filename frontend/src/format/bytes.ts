/** Bytes -> text, in powers of 1024. */
import { significant, UNKNOWN } from "./number";

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/** `1159569` -> `1.11 MiB`; `null` -> `unknown`. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${significant(value)} ${UNITS[unit] ?? ""}`;
}
