import { expect, test } from "vitest";

import type { CompareResponse } from "../api/types";
import { byChange, comparedModules } from "./compared_modules";
import { buildTree, Rows } from "./group_tree";

const module = (path: string, a_ns: number, b_ns: number) => ({
  path,
  level: path.split("/").length - 1,
  a_ns,
  b_ns,
  rows: 1,
});

const compared = {
  modules: [
    module("/net", 90, 60),
    module("/net/layer[0]", 40, 20),
    module("/net/layer[0]/mlp", 40, 20),
    module("/net/layer[1]", 40, 20),
    module("/net/layer[1]/mlp", 40, 20),
    module("/net/head", 0, 15),
    module("/net/old", 10, 0),
  ],
  measures: { kernel_time: { a: 100, b: 64 } },
} as unknown as CompareResponse;

test("modules of both sides are a tree in which repeats are one row, also those of one side alone", () => {
  const { groups, changeOf, whole } = comparedModules(compared, "");
  const rows = new Rows(buildTree(groups.nodes, groups.group), { sort: "-gpu_time_ns", fold: true, visible: null });
  const { of, legend } = byChange(changeOf, whole);
  expect(
    rows
      .visible(() => true)
      .map((row) => [row.name, row.members.length, changeOf(row).a_ns, changeOf(row).b_ns, of(row)]),
  ).toEqual([
    ["/", 1, 100, 64, "muchLess"],
    ["net", 1, 90, 60, "less"],
    ["layer[0..1]", 2, 80, 40, "muchLess"],
    ["mlp", 2, 80, 40, "muchLess"],
    ["head", 1, 0, 15, "muchMore"],
    ["old", 1, 10, 0, "muchLess"],
    ["Not in any module", 1, 10, 4, "muchLess"],
  ]);
  expect(legend.map(([, label]) => label)).toEqual([
    "less time, by 36 % and more, like all work",
    "less",
    "within 2 %",
    "more",
    "more time, by 30 % and more",
  ]);
});

test("a module alone is the whole of its tree", () => {
  const { groups, changeOf } = comparedModules(compared, "/net/layer[0]/");
  const rows = new Rows(buildTree(groups.nodes, groups.group), { sort: "", fold: false, visible: null });
  expect(rows.visible(() => true).map((row) => [row.key, changeOf(row).a_ns])).toEqual([
    ["/net/layer[0]/", 40],
    ["/net/layer[0]/mlp/", 40],
  ]);
});

test("a change of less than 2 % has no colour, nor is a small one loud", () => {
  const steps = [100, 101, 105, 140].flatMap((b) => {
    const { groups, changeOf } = comparedModules({ ...compared, modules: [module("/m", 100, b)] }, "/m/");
    const [row] = new Rows(buildTree(groups.nodes, "/m/"), { sort: "", fold: true, visible: null }).roots;
    return row === undefined ? [] : [byChange(changeOf, 0).of(row)];
  });
  expect(steps).toEqual(["none", "none", "more", "muchMore"]);
});

test("parts fold however often they repeat a part of their own", () => {
  const layers = [1, 3].flatMap((blocks, layer) => [
    module(`/layer[${layer}]`, 10 * blocks, 10),
    ...Array.from({ length: blocks }, (_, block) => module(`/layer[${layer}]/block[${block}]`, 10, 5)),
  ]);
  const { groups } = comparedModules({ ...compared, modules: layers }, "");
  const rows = new Rows(buildTree(groups.nodes, groups.group), { sort: "-gpu_time_ns", fold: true, visible: null });
  const names = rows.visible(() => true).map((row) => [row.name, row.members.length]);
  expect(names).toContainEqual(["layer[0..1]", 2]);
  expect(names).toContainEqual(["block[0..2]", 4]);
});
