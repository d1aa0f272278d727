import { expect, it } from "vitest";

import { otherGroups } from "./other_files";

const JSON_ALONE = "is JSON, but holds no trace events.";
const EMPTY = "is empty.";

it("tells a reason once, with the folders of its files, most files first", () => {
  const groups = otherGroups([
    { run: ".", name: "a.sqlite", reason: EMPTY },
    { run: ".", name: "b.json", reason: JSON_ALONE },
    { run: "run", name: "old/c.json", reason: JSON_ALONE },
    { run: "run/old", name: "d.json", reason: JSON_ALONE },
  ]);
  expect(groups).toEqual([
    {
      reason: JSON_ALONE,
      count: 3,
      folders: [
        { folder: "", names: ["b.json"] },
        { folder: "run/old/", names: ["c.json", "d.json"] },
      ],
    },
    { reason: EMPTY, count: 1, folders: [{ folder: "", names: ["a.sqlite"] }] },
  ]);
});
