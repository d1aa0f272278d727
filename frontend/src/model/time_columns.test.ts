import { expect, it } from "vitest";

import type { Column } from "../api/types";
import { momentInUnit } from "../format/time";
import { columnScales } from "./time_columns";

const time = (key: string): Column => ({
  key,
  label: key,
  type: "duration_ns",
  description: "",
  sortable: true,
  filterable: true,
  searchable: false,
  hidden: false,
  tier: 0,
});

it("lengths of a table share a unit where they fit it, moments have their own, and no row is no unit", () => {
  const columns = [time("start_ns"), time("gpu_time_ns"), time("average_ns")];
  const rows = [
    { start_ns: 90e9, gpu_time_ns: 50e6, average_ns: 12_500 },
    { start_ns: 80e9, gpu_time_ns: null, average_ns: 3_000 },
  ];
  const scales = columnScales(columns, rows);
  expect([...scales].map(([key, { unit, largest }]) => [key, unit.name, largest])).toEqual([
    ["start_ns", "s", 90e9],
    ["gpu_time_ns", "ms", 50e6],
    ["average_ns", "µs", 12_500],
  ]);
  expect(columnScales(columns, []).size).toBe(0);
});

it("moments a microsecond apart are told apart a minute after the start", () => {
  const rows = [{ start_ns: 60_111_972_000 }, { start_ns: 60_111_973_000 }];
  const unit = columnScales([time("start_ns")], rows).get("start_ns")?.unit;
  expect(unit && rows.map(({ start_ns }) => momentInUnit(start_ns, unit))).toEqual(["60.111972", "60.111973"]);
});

it("A and B share a scale, so that the side with less time has the shorter bar", () => {
  const scales = columnScales(
    [time("a_ns"), time("b_ns"), time("gpu_time_ns")],
    [{ a_ns: 1e6, b_ns: 4e6, gpu_time_ns: 2e6 }],
  );
  expect([...scales.values()].map(({ largest }) => largest)).toEqual([4e6, 4e6, 2e6]);
});

it("what could be gained has the scale of the kernel time that it is a part of", () => {
  const scales = columnScales([time("kernel_time_ns"), time("gain_ns")], [{ kernel_time_ns: 4e6, gain_ns: 1e6 }]);
  expect([...scales.values()].map(({ largest }) => largest)).toEqual([4e6, 4e6]);
});

it("a column of losses has the unit of its largest loss", () => {
  const scales = columnScales([time("change_ns"), time("speed_ns")], [{ change_ns: 2e6, speed_ns: -1.3e6 }]);
  expect([...scales.values()].map(({ unit }) => unit.name)).toEqual(["ms", "ms"]);
});

it("takes the unit of the largest that a row has: a sum below the rows may be larger", () => {
  const units = (...rows: Record<string, number>[]): (string | undefined)[] =>
    [...columnScales(Object.keys(rows[0] ?? {}).map(time), rows).values()].map(({ unit }) => unit.name);
  expect(units({ total_ns: 634e6, longest_ns: 5.9e6 }, { total_ns: 600e6, longest_ns: 1e6 })).toEqual(["ms", "ms"]);
  expect(units({ total_ns: 283e3, longest_ns: 900 })).toEqual(["µs", "ns"]);
});

it("tells what is as large as a sum in the unit of the sums", () => {
  const rows = [
    [1.73e6, 1.73e6],
    [202e3, 700],
    [67e3, 700],
  ].map(([total_ns = 0, longest_ns = 0]) => ({ total_ns, longest_ns }));
  const scales = columnScales([time("total_ns"), time("longest_ns")], rows);
  expect([...scales.values()].map(({ unit }) => unit.name)).toEqual(["ms", "ms"]);
});

it("compares means with means and sums with sums", () => {
  const row = { gpu_time_ns: 51e6, gain_ns: 9e6, average_ns: 18e3, minimum_ns: 1_540, maximum_ns: 129e3 };
  const scales = columnScales(Object.keys(row).map(time), [row]);
  expect([...scales].map(([key, { unit }]) => [key, unit.name])).toEqual([
    ["gpu_time_ns", "ms"],
    ["gain_ns", "ms"],
    ["average_ns", "µs"],
    ["minimum_ns", "µs"],
    ["maximum_ns", "µs"],
  ]);
});

it("has one unit for a column of sizes, and another for their sums", () => {
  const size = (key: string): Column => ({ ...time(key), type: "bytes" });
  const scales = columnScales(
    [size("size_bytes"), size("at_peak_bytes"), size("total_bytes")],
    [{ size_bytes: 100 * 1024 ** 2, at_peak_bytes: 9.38 * 1024 ** 3, total_bytes: 80 * 1024 ** 3 }],
  );
  expect([...scales.values()].map(({ unit }) => unit.name)).toEqual(["MiB", "GiB", "GiB"]);
});

it("takes the next smaller unit where most rows would lose their digits, and the largest is still read in it", () => {
  const unit = (...lengths: number[]): string | undefined =>
    columnScales(
      [time("duration_ns")],
      lengths.map((duration_ns) => ({ duration_ns })),
    ).get("duration_ns")?.unit.name;
  expect(unit(1_740_000, 6_200, 700)).toBe("µs");
  expect(unit(1_740_000, 62_000, 700)).toBe("ms");
  expect(unit(15_000_000, 1_500)).toBe("ms");
  expect(unit(7_810_000_000, 50_000, 29_000)).toBe("s");
});
