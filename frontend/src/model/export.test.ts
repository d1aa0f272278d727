import { expect, test } from "vitest";

import type { Column } from "../api/types";
import { tabSeparated } from "./export";

const column = (key: string, label: string, type: Column["type"]): Column => ({
  key,
  label,
  description: "",
  type,
  sortable: true,
  filterable: true,
  searchable: false,
  hidden: false,
  tier: 0,
});

test("what is copied tells its units, as the server's files do, and runs nothing in a spreadsheet", () => {
  const columns = [
    column("name", "Op Name", "path"),
    column("time_ns", "GPU Time", "duration_ns"),
    column("share", "GPU Time Share", "fraction"),
    column("memory", "Memory", "bytes"),
    column("using", "Using TC", "boolean"),
  ];
  const rows = [
    { name: "=a\tb", time_ns: 1500, share: 0.25, memory: 8, using: true },
    { name: "c", time_ns: null, share: null, memory: null, using: null },
  ];
  expect(tabSeparated("run · Ops", columns, rows).split("\n")).toEqual([
    "run · Ops",
    "Op Name\tGPU Time (ns)\tGPU Time Share (0 to 1)\tMemory (bytes)\tUsing TC",
    "'=a b\t1500\t0.25\t8\tyes",
    "c\t\t\t\t",
    "",
  ]);
});
