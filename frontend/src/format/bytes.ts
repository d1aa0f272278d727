/** Bytes -> text, in powers of 1024. */
import { significant, UNKNOWN } from "./number";
import type { Unit } from "./unit";

const BYTE: Unit = { name: "B", size: 1 };
const UNITS: readonly Unit[] = [
  ...["PiB", "TiB", "GiB", "MiB", "KiB"].map((name, i) => ({ name, size: 1024 ** (5 - i) })),
  BYTE,
];

/** 1,023.5 KiB would round to "1,024 KiB". */
const NEARLY_ONE = 1023.5 / 1024;

/** One unit for a whole column, chosen by its largest value. */
export const sizeUnit = (largest: number): Unit =>
  UNITS.find(({ size }) => Math.abs(largest) >= (size === 1 ? 1 : NEARLY_ONE) * size) ?? BYTE;

/** `1159569` -> `1.11 MiB`; `null` -> `unknown`. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  const unit = sizeUnit(bytes);
  return unit === BYTE ? `${bytes} B` : `${significant(bytes / unit.size)} ${unit.name}`;
}
