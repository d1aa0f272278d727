/** Amounts in the unit of their column: times and sizes. */
import { formatCount, significant, withMinus } from "./number";

export interface Unit {
  readonly name: string;
  /** How many ns, or bytes. */
  readonly size: number;
}

/** Less of a unit than this loses its digits, and as much as this has too many. */
const LEAST_IN_COMMON = 0.1;
const MOST_IN_COMMON = 10_000;

/**
 * Units of columns that are compared with each other, by their largest values: a mean in ms beside a least in µs is easily
 * misread, and so is a gain beside the time that it is a part of. All have one, if there is one that fits all; else a column that would
 * be all zeros before and after the point keeps its own. Zeros have that of the smallest beside them.
 */
export function unitsOfColumns<U extends Unit>(
  largest: ReadonlyMap<string, number>,
  unitFor: (amount: number) => U,
): Map<string, U> {
  const amounts = [...largest.values()].filter((most) => most > 0);
  const [least, most] = [Math.min(...amounts), Math.max(...amounts, 0)];
  const common = unitFor(most);
  const one = [common, unitFor(least / LEAST_IN_COMMON)].find(
    ({ size }) => least >= LEAST_IN_COMMON * size && most < MOST_IN_COMMON * size,
  );
  const unitOf = (own: number): U =>
    one ?? (own >= LEAST_IN_COMMON * common.size ? common : unitFor(own === 0 ? least : own));
  return new Map([...largest].map(([key, own]) => [key, unitOf(own)]));
}

/** Below this an amount in the unit of its column is only told to be less. */
const LEAST_TOLD = 0.0001;

/**
 * An amount in the unit of its column: three significant digits, but no more than three decimals, and of what is less than a
 * hundredth two digits: `148`, `12.3`, `0.012`, `0.0070`; tiny ones `<0.0001`.
 */
export function inUnit(amount: number, unit: Unit): string {
  const value = amount / unit.size;
  const size = Math.abs(value);
  if (unit.size === 1) return formatCount(amount);
  if (size === 0) return "0";
  if (size < LEAST_TOLD) return `<${LEAST_TOLD}`;
  if (size < 0.00995) return withMinus(value.toFixed(1 - Math.floor(Math.log10(Number(size.toPrecision(2))))));
  return size < 0.9995 ? withMinus(value.toFixed(3)) : significant(value);
}

/** The same with its unit, where no head of a column names it. */
export const withUnit = (amount: number, unit: Unit): string => `${inUnit(amount, unit)} ${unit.name}`;
