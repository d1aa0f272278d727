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

/** Up to here the largest value of a table is as well read in the next smaller unit: `1,536 MiB`. */
const MOST_READ = 9_999.5;
/** From here on a value has three digits in the unit of its column. */
const THREE_DIGITS = 0.0995;

const unitFor = (bytes: number): Unit =>
  UNITS.find(({ size }) => Math.abs(bytes) >= (size === 1 ? 1 : NEARLY_ONE) * size) ?? BYTE;

/**
 * One unit for a whole table: that of its largest value, or the next smaller one where the smallest (0 apart) has no three digits
 * and the largest is still read in the smaller one.
 */
export function sizeUnit(...bytes: readonly number[]): Unit {
  const sizes = bytes.map(Math.abs).filter((size) => size > 0);
  const [least, largest] = [Math.min(...sizes), Math.max(...sizes, 0)];
  const unit = unitFor(largest);
  const smaller = UNITS[UNITS.indexOf(unit) + 1];
  return smaller !== undefined && least < THREE_DIGITS * unit.size && largest < MOST_READ * smaller.size
    ? smaller
    : unit;
}

/** `1159569` -> `1.11 MiB`; `null` -> `unknown`. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  const unit = unitFor(bytes);
  return unit === BYTE ? `${bytes} B` : `${significant(bytes / unit.size)} ${unit.name}`;
}
