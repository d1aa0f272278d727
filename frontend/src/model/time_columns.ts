/** The units in which the times of a table are shown. */
import type { Column, Row } from "../api/types";
import { momentUnit, unitsOfColumns, type TimeUnit } from "../format/time";

/** The unit of a column and its largest value among the rows. */
export interface Scale {
  unit: TimeUnit;
  largest: number;
}

/** Whether a time is a moment and no length. */
export const isMoment = (key: string): boolean => /start|timestamp|^allocated_ns$/.test(key);

/** Times of a baseline and of the profile beside it: bars of one scale, so that equal times look equal. */
const SIDES: readonly string[] = ["a_ns", "b_ns"];

/** Whether a length is that of one: a mean, a least, a most. These are compared with each other; sums with sums, of which they are parts. */
const isOfOne = (key: string): boolean => /average|minimum|maximum|longest|lasts/.test(key);

/**
 * The scales of the columns of time, for these rows; none without rows. Sums share a unit, lengths of one another, and each
 * moment has its own: a unit is chosen by what the rows hold, so that the largest of them is no fraction of it.
 */
export function timeScales(columns: readonly Column[], rows: readonly Row[]): Map<string, Scale> {
  if (rows.length === 0) return new Map();
  const largest = new Map(
    columns
      .filter(({ type }) => type === "duration_ns")
      .map(({ key }) => [key, rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[key] ?? 0))), 0)]),
  );
  const most = Math.max(...SIDES.map((key) => largest.get(key) ?? 0));
  for (const key of SIDES) if (largest.has(key)) largest.set(key, most);
  const lengths = [...largest].filter(([key]) => !isMoment(key));
  const units = new Map(
    [true, false].flatMap((ofOne) => [...unitsOfColumns(new Map(lengths.filter(([key]) => isOfOne(key) === ofOne)))]),
  );
  return new Map([...largest].map(([key, most]) => [key, { largest: most, unit: units.get(key) ?? momentUnit(most) }]));
}
