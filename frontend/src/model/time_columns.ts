/** The units in which the times of a table are shown. */
import type { Column, Row } from "../api/types";
import { columnUnit, momentUnit, unitsOfColumns, type TimeUnit } from "../format/time";

/** The unit of a column and its largest value among the rows. */
export interface Scale {
  unit: TimeUnit;
  largest: number;
}

/** Whether a time is a moment and no length. */
export const isMoment = (key: string): boolean => /start|timestamp|^allocated_ns$/.test(key);

/** Times of a baseline and of the profile beside it: bars of one scale, so that equal times look equal. */
const SIDES: readonly string[] = ["a_ns", "b_ns"];

/** Of the unit of a column's sum its largest value must be this much, or its digits would be lost. */
const LEAST_OF_TOTAL = 0.1;

/** What the unit of a column is chosen by: its sum, where the values can be read in the unit of that, too. */
function sizeOf(largest: number, total: number): number {
  return largest >= LEAST_OF_TOTAL * columnUnit(total).ns ? Math.max(largest, total) : largest;
}

/** The scales of the columns of time, for these rows; none without rows. Lengths share a unit, moments have their own. */
export function timeScales(
  columns: readonly Column[],
  rows: readonly Row[],
  totals: Readonly<Record<string, number | null>> = {},
): Map<string, Scale> {
  if (rows.length === 0) return new Map();
  const largest = new Map(
    columns
      .filter(({ type }) => type === "duration_ns")
      .map(({ key }) => [key, rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[key] ?? 0))), 0)]),
  );
  const most = Math.max(...SIDES.map((key) => largest.get(key) ?? 0));
  for (const key of SIDES) if (largest.has(key)) largest.set(key, most);
  const lengths = unitsOfColumns(
    new Map(
      [...largest]
        .filter(([key]) => !isMoment(key))
        .map(([key, most]) => [key, sizeOf(most, Math.abs(totals[key] ?? 0))]),
    ),
  );
  return new Map(
    [...largest].map(([key, most]) => [key, { largest: most, unit: lengths.get(key) ?? momentUnit(most) }]),
  );
}
