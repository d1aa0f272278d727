/** The units in which the times and sizes of a table are shown. */
import type { Column, Row } from "../api/types";
import { sizeUnit } from "../format/bytes";
import { columnUnit, momentUnit } from "../format/time";
import { unitsOfColumns, type Unit } from "../format/unit";

/** The unit of a column and its largest value among the rows. */
export interface Scale {
  unit: Unit;
  largest: number;
}

/** Whether a time is a moment and no length. */
export const isMoment = (key: string): boolean => /start|timestamp|^allocated_ns$/.test(key);

/** Times of a baseline and of the profile beside it, and a part beside its whole: bars of one scale, so that equal times look equal. */
const COMPARED: readonly (readonly string[])[] = [
  ["a_ns", "b_ns"],
  ["kernel_time_ns", "kernel_ns", "gain_ns"],
];

/** Whether an amount is that of one: a mean, a least, a most. These are compared with each other; sums with sums, of which they are parts. */
const isOfOne = (key: string): boolean => /average|minimum|maximum|longest|lasts|^size/.test(key);

/**
 * The scales of the columns of times and sizes, for these rows; none without rows. Sums share a unit, amounts of one another, and
 * each moment has its own: a unit is chosen by what the rows hold, so that the largest of them is no fraction of it.
 */
export function columnScales(columns: readonly Column[], rows: readonly Row[]): Map<string, Scale> {
  if (rows.length === 0) return new Map();
  const largestOf = (type: Column["type"]): [string, number][] =>
    columns
      .filter((column) => column.type === type)
      .map(({ key }) => [key, rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[key] ?? 0))), 0)]);
  const times = new Map(largestOf("duration_ns"));
  for (const keys of COMPARED) {
    const most = Math.max(...keys.map((key) => times.get(key) ?? 0));
    for (const key of keys) if (times.has(key)) times.set(key, most);
  }
  const sizes = largestOf("bytes");
  const lengths = [...times].filter(([key]) => !isMoment(key));
  const own = (some: [string, number][], ofOne: boolean) => new Map(some.filter(([key]) => isOfOne(key) === ofOne));
  const amountsOf = (some: ReadonlyMap<string, number>): number[] =>
    [...some.keys()]
      .flatMap((key) => rows.map((row) => Math.abs(Number(row[key] ?? 0))))
      .filter((amount) => amount > 0)
      .sort((a, b) => a - b);
  const unitOf = (some: ReadonlyMap<string, number>, most: number): Unit => {
    const amounts = amountsOf(some);
    return columnUnit(most, amounts[Math.floor(amounts.length / 2)]);
  };
  const sums = own(lengths, false);
  const largest = Math.max(...sums.values(), 0);
  const ofSums = largest > 0 ? unitOf(sums, largest) : null;
  const units = new Map<string, Unit>(
    [true, false].flatMap((ofOne) => {
      const [ownTimes, ownSizes] = [own(lengths, ofOne), own(sizes, ofOne)];
      const bytes = amountsOf(ownSizes);
      return [
        // What is as large as a sum is read beside it: `1.73` of ms, and not `1,730` of µs.
        ...unitsOfColumns(ownTimes, (most) =>
          ofSums !== null && most >= ofSums.size && most <= largest ? ofSums : unitOf(ownTimes, most),
        ),
        ...unitsOfColumns(ownSizes, (most) => sizeUnit(most, ...bytes.filter((size) => size < most))),
      ];
    }),
  );
  return new Map(
    [...times, ...sizes].map(([key, largest]) => [key, { largest, unit: units.get(key) ?? momentUnit(largest) }]),
  );
}
