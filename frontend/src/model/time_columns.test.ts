import { expect, it } from "vitest";

import type { Column } from "../api/types";
import { timeScales } from "./time_columns";

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

it("lengths of a table share a unit, moments have their own, and no row is no unit", () => {
  const columns = [time("start_ns"), time("gpu_time_ns"), time("average_ns")];
  const rows = [
    { start_ns: 90e9, gpu_time_ns: 50e6, average_ns: 12_500 },
    { start_ns: 80e9, gpu_time_ns: null, average_ns: 3_000 },
  ];
  const scales = timeScales(columns, rows);
  expect([...scales].map(([key, { unit, largest }]) => [key, unit.name, largest])).toEqual([
    ["start_ns", "s", 90e9],
    ["gpu_time_ns", "µs", 50e6],
    ["average_ns", "µs", 12_500],
  ]);
  expect(timeScales(columns, []).size).toBe(0);
});
