import { expect, it } from "vitest";

import { reportGroups } from "./reports";

it("says of each kind of report what it is and what makes a profile of it", () => {
  const groups = reportGroups([
    { run: ".", name: "one.nsys-rep" },
    { run: "amd", name: "trace.rpd" },
    { run: "train/old", name: "TWO.QDREP" },
    { run: ".", name: "notes.txt" },
  ]);
  expect(groups.map(({ files }) => files)).toEqual([["one.nsys-rep", "train/old/TWO.QDREP"], ["amd/trace.rpd"]]);
  expect(groups.map(({ command }) => command)).toEqual(["nsys export --type sqlite", ""]);
});
