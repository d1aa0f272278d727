import { expect, it } from "vitest";

import { nodes } from "../testing/tree";
import { buildTree, Rows } from "./group_tree";
import { icicleParts } from "./icicle";

const rows = new Rows(buildTree(nodes(), ""), { sort: "", fold: false, visible: null });
const parts = (narrowest: number) => icicleParts(rows, rows.roots, "gpu_time_ns", narrowest);

it("draws each child below its parent, as wide as its share, the longest first", () => {
  const { boxes, rests } = parts(0);
  const at = (name: string) => boxes.find(({ row }) => row.name === name);
  expect(at("/")).toMatchObject({ x: 0, depth: 0, width: 1 });
  expect(at("Net")).toMatchObject({ x: 0, depth: 1, width: 100 / 107 });
  expect(at("Head")).toMatchObject({ x: 0, depth: 2, width: 60 / 107 });
  expect(at("Layer[0]")?.x).toBeCloseTo(60 / 107);
  expect(rests).toEqual([]);
});

it("draws what is too narrow for a box of its own together", () => {
  const { boxes, rests } = parts(30 / 107);
  expect(boxes.map(({ row }) => row.name)).toEqual(["/", "Net", "Head", "linear"]);
  expect(rests).toEqual([{ count: 2, sum: 40, x: 60 / 107, width: 40 / 107, depth: 2 }]);
});
