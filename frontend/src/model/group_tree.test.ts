import { describe, expect, it } from "vitest";

import { foldedName, shortened, splitNumber } from "./folding";
import { buildTree, keep, linksOf, pathOf, Rows, type RowOptions } from "./group_tree";
import { rowLabel, shownPath } from "./tree_row";
import { chainOf, deepestOf, leastOf, limitedNs, mayBeMoreTime, sorted, tensorCoreShare } from "./tree_values";
import { pathMatcher } from "./path_filter";
import { nodes } from "../testing/tree";

const tree = buildTree(nodes(), "");
const rowsWith = (options: Partial<RowOptions> = {}): Rows =>
  new Rows(tree, { sort: "-gpu_time_ns", fold: false, visible: null, ...options });
const names = (rows: readonly { name: string }[]): string[] => rows.map(({ name }) => name);

describe("rows of the tree", () => {
  it("stand below their parents in the order asked for", () => {
    expect(names(rowsWith().visible(() => true))).toEqual([
      "/", "Net", "Head", "linear", "Layer[0]", "conv_0", "Layer[1]", "conv_1", "Not in any op", "unassociated_k",
    ]); // prettier-ignore
    expect(names(rowsWith({ sort: "name" }).visible(({ depth }) => depth < 3))).toEqual([
      "/", "Net", "Head", "Layer[0]", "Layer[1]", "Not in any op", "unassociated_k",
    ]); // prettier-ignore
  });

  it("are left out below an open one where they take least, less than a hundredth together", () => {
    const rows = rowsWith();
    const net = rows.roots.flatMap((root) => rows.below(root)).find(({ name }) => name === "Net");
    if (net === undefined) throw new Error("There is no such row.");
    const below = rows.below(net);
    const leftOut = (whole: number): string[] => names(leastOf(below, "gpu_time_ns", whole));
    expect(leftOut(5_000)).toEqual(["Layer[0]", "Layer[1]"]);
    expect(leftOut(3_000), "one alone takes a row of its own").toEqual([]);
    expect(leftOut(20_000), "nothing would be left").toEqual([]);
    const shown = rows.visible(
      ({ depth }) => depth < 3,
      (row) => leastOf(rows.below(row), "gpu_time_ns", 5_000),
    );
    expect(names(shown)).toEqual(["/", "Net", "Head", "Not in any op", "unassociated_k"]);
  });

  it("stand in the order of their names, numbers by size, where they took the same time", () => {
    const row = rowsWith().rowOf(6);
    if (row === null) throw new Error("There is no such row.");
    const same = ["Layer[10]", "Layer[9]", "Head"].map((name) => {
      const { values, unknown, causes } = row;
      return { ...row, values, unknown, causes, name };
    });
    for (const sort of ["-gpu_time_ns", "gpu_time_ns"])
      expect(sorted(same, sort).map(({ name }) => name)).toEqual(["Head", "Layer[9]", "Layer[10]"]);
  });

  it("have keys and paths that find them again", () => {
    const rows = rowsWith();
    const all = rows.visible(() => true);
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
    for (const row of all) expect(rows.find(row.key)?.members).toEqual(row.members);
    expect(pathOf(tree, 6)).toBe("/Net/Layer[0]/conv_0");
    expect(pathOf(tree, 5)).toBe("/Net/Head/");
    expect(pathOf(tree, 0)).toBe("/");
    expect(rows.find("/Nowhere/")).toBeNull();
    expect(chainOf(rows.rowOf(6)).map(({ name }) => name)).toEqual(["/", "Net", "Layer[0]", "conv_0"]);
  });

  it("have keys of their own where layers of one name are not alike in repeated modules", () => {
    const parent = [-1, -1, 0, 2, 2, 3, 3, 4, 4];
    const blocks = {
      ...nodes(),
      parent,
      name: ["/", "unassociated_k", "Net", "Stage[0]", "Stage[1]", "Block[0]", "Block[1]", "Block[0]", "Block[1]"],
      op_id: parent.map((_, i) => (i === 1 ? "UNASSOCIATED_0" : null)),
      structure: [9, 0, 8, 5, 5, 1, 1, 2, 2],
      ops: [4, 1, 4, 2, 2, 1, 1, 9, 9],
      children: parent.map((_, i) => parent.filter((each) => each === i).length),
    };
    const rows = new Rows(buildTree(blocks, ""), { sort: "", fold: true, visible: null });
    const all = rows.visible(() => true);
    expect(names(all)).toEqual([
      "/",
      "Net",
      "Stage[0..1]",
      "Block[0..1]",
      "Block[0..1]",
      "Not in any op",
      "unassociated_k",
    ]);
    for (const row of all) expect(rows.find(row.key)?.members).toEqual(row.members);
  });

  it("fold repeated siblings, and the children of the fold, with the sums of all", () => {
    const rows = rowsWith({ fold: true });
    const all = rows.visible(() => true);
    expect(names(all)).toEqual([
      "/", "Net", "Head/linear", "Layer[0..1]/conv_0..1", "Not in any op", "unassociated_k",
    ]); // prettier-ignore
    const fold = all.find(({ within }) => within === "Layer[0..1]");
    expect(fold?.members).toHaveLength(2);
    expect(fold?.values.gpu_time_ns).toBe(40);
    expect(rows.find(fold?.key ?? "")).toBe(fold);
    expect(rows.rowOf(7)).toBe(fold);
    expect(rows.find("/Net/Head/")?.name, "a group that is one row with its op").toBe("Head/linear");
  });

  it("are asked for what lies below all that they stand for", () => {
    const rows = rowsWith({ fold: true });
    const asked = (node: number): unknown => {
      const row = rows.rowOf(node);
      return row === null ? null : linksOf(tree, row);
    };
    expect(asked(2)).toEqual({ group: "/Net/" });
    expect(asked(8)).toEqual({ op: "LINEAR_0" });
    expect(asked(0)).toEqual({ group: "" });
    expect(asked(7)).toEqual({ group: "/Net/Layer[0..1]/conv_0..1", nodes: "106,107" });
  });

  it("can leave out what takes no time", () => {
    const idle = { ...nodes(), gpu_time_ns: nodes().gpu_time_ns.map((time, i) => (i === 5 || i === 8 ? 0 : time)) };
    const rows = new Rows(buildTree(idle, ""), { sort: "", fold: false, visible: null });
    expect(names(rows.leavingOut("gpu_time_ns").visible(() => true))).not.toContain("Head");
    expect(names(rows.visible(() => true))).toContain("Head");
  });

  it("fold what is nearly alike, and nothing that is not", () => {
    const folded = (ops: number[]): string[] => {
      const others = {
        ...nodes(),
        structure: [9, 0, 8, 1, 3, 2, 0, 0, 0],
        ops: nodes().ops.map((own, i) => ops[i] ?? own),
      };
      const rows = new Rows(buildTree(others, ""), { sort: "name", fold: true, visible: null });
      return names(rows.visible(({ depth }) => depth < 3)).slice(2, -2);
    };
    expect(folded([3, 0, 3, 10, 9])).toEqual(["Head/linear", "Layer[0..1]/conv_0..1"]);
    expect(folded([3, 0, 3, 10, 5])).toEqual(["Head/linear", "Layer[0]/conv_0", "Layer[1]/conv_1"]);
  });

  it("tell shares of their kernel time", () => {
    const net = rowsWith().find("/Net/");
    if (net === null) throw new Error("the row is missing");
    expect(tensorCoreShare(net)).toBe(0.4);
  });

  it("are filtered by path with the levels above, and what lies below", () => {
    const visible = keep(tree, pathMatcher("Layer[1]"));
    expect(names(rowsWith({ visible: visible }).visible(() => true))).toEqual(["/", "Net", "Layer[1]", "conv_1"]);
  });

  it("know how many levels there are", () => {
    expect(deepestOf(rowsWith())).toBe(4);
  });

  it("stand below one that is all work, also that of no op", () => {
    const rows = rowsWith();
    expect(rows.roots.map(({ values }) => values.gpu_time_ns)).toEqual([107]);
    const outside = rows.visible(() => true).find(({ gathers }) => gathers === "no op");
    expect(outside?.values.gpu_time_ns).toBe(7);
    expect(rows.rowOf(1)?.parent).toBe(outside);
    const [all] = new Rows(buildTree({ ...nodes(), parent: nodes().parent.map(() => -1) }, "/Net/"), {
      sort: "",
      fold: false,
      visible: null,
    }).roots;
    expect(all?.gathers, "a group shown alone is no more than itself").toBeNull();
  });

  it("of kernels without an op are folded by their whole names: numbers tell what they are", () => {
    const kernels = (one: string, other: string): string[] => {
      const { name } = nodes();
      const tree = buildTree(
        {
          ...nodes(),
          parent: nodes().parent.map(() => -1),
          op_id: name.map((_, i) => `K_${i}`),
          structure: name.map(() => 0),
          name: name.map((_, i) => `unassociated_${i % 2 === 0 ? one : other}`),
        },
        "",
      );
      return names(new Rows(tree, { sort: "", fold: true, visible: null }).visible(() => true)).slice(1);
    };
    expect(kernels("transpose_16x32", "transpose_64x64")).toEqual([
      "unassociated_transpose_16x32",
      "unassociated_transpose_64x64",
    ]);
    expect(kernels("same", "same")).toEqual(["unassociated_same"]);
  });

  it("of ops without modules stand below their directions", () => {
    const parent = [-1, -1, 0, 0, 0, 0, 0, 0, 0];
    const op_id = ["A", "B", "C", "D", "E", "F", "G"].map((id, i) => (i === 0 ? null : id));
    const direction = parent.map((_, i) => (i < 2 ? "" : i % 2 === 0 ? "forward" : "backward"));
    const tree = buildTree({ ...nodes(), parent, op_id: [...op_id, "H", "I"], direction }, "");
    const rows = new Rows(tree, { sort: "name", fold: true, visible: null });
    const shown = rows.visible(({ depth }) => depth < 2);
    expect(names(shown)).toEqual(["/", "backward", "forward", "Not in any op"]);
    const [backward, forward] = shown.slice(1);
    expect((backward?.values.gpu_time_ns ?? 0) + (forward?.values.gpu_time_ns ?? 0)).toBe(
      nodes()
        .gpu_time_ns.slice(2)
        .reduce<number>((sum, time) => sum + (time ?? 0), 0),
    );
    const [op] = backward === undefined ? [] : rows.below(backward);
    expect(op === undefined ? "" : shownPath(op), "a direction is no part of a path").toBe("/conv_1");
  });

  it("tell an op apart from the group of its name beside it", () => {
    const parts = { name: nodes().name.map((name, i) => (i === 3 || i === 5 ? "loop" : name)) };
    const ops = { op_id: nodes().op_id.map((id, i) => (i === 5 ? "LOOP_0" : id)) };
    const tree = buildTree({ ...nodes(), ...parts, ...ops, parent: [-1, -1, 0, 2, 2, 2, 3, 4, 4] }, "");
    const loops = new Rows(tree, { sort: "-gpu_time_ns", fold: false, visible: null })
      .visible(() => true)
      .filter(({ name }) => name === "loop");
    expect(loops.map(rowLabel)).toEqual(["loop (itself)", "loop (inside)"]);
  });

  it("say how many children were not sent", () => {
    const cut = { ...nodes(), children: [1, 0, 5, 1, 1, 1, 0, 0, 0] };
    const rows = new Rows(buildTree(cut, ""), { sort: "", fold: false, visible: null });
    expect(rows.find("/Net/")?.missing).toBe(2);
  });

  it("begin with the path of the group that was asked for", () => {
    const { parent, ...rest } = nodes();
    const part = buildTree({ ...rest, parent: parent.map((each) => each) }, "/Net/");
    expect(pathOf(part, 0)).toBe("/Net/");
    expect(pathOf(part, 2)).toBe("/Net/Net/");
  });
});

describe("the filter by path", () => {
  it.each([
    ["head", "/Net/Head/", true],
    ["/Net/*", "/Net/Head/", true],
    ["/Net/*", "/Net/Head/linear", false],
    ["/Net/**", "/Net/Head/linear", true],
    ["/**/linear", "/Net/Head/linear", true],
    ["/**/linear", "/linear", true],
    ["**/linear", "/Net/Head/linear", true],
    ["conv_*", "/Net/Layer[0]/conv_0", true],
    ["conv_*", "/Net/Layer[0]/myconv_0", false],
    ["*[0]*", "/Net/Layer[0]/", true],
    ["*.*", "/Net/Layer[0]/", false],
    ["/Net/*/conv_?", "/Net/Layer[0]/conv_0", false],
  ])("%s on %s: %s", (pattern, path, passes) => {
    expect(pathMatcher(pattern)(path)).toBe(passes);
  });
});

it.each([
  [["Layer[0]", "Layer[1]", "Layer[2]"], "Layer[0..2]"],
  [["conv_4", "conv_0"], "conv_0,4"],
  [["conv_4", "conv_0", "conv_9", "conv_2"], "conv_0…9"],
  [["a1b2", "a1b3"], "a1b2..3"],
  [["same", "same"], "same"],
])("one name for %j: %s", (all, name) => {
  expect(foldedName(all)).toBe(name);
});

describe("causes", () => {
  const zero = nodes().name.map(() => 0);
  const of = (times: Record<number, number>): number[] => zero.map((none, node) => times[node] ?? none);
  const causes = [
    { cause: "tf32_off", label: "TF32 is off", kernel_ns: of({ 0: 70, 2: 70, 3: 5, 5: 60, 8: 60, 4: 5, 6: 5, 7: 5 }), ops: of({ 0: 3, 2: 3, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1 }) },
    { cause: "layout", label: "Layout", kernel_ns: of({ 0: 20, 2: 20, 3: 10, 4: 10, 6: 10, 7: 10 }), ops: of({ 0: 2, 2: 2, 3: 1, 4: 1, 6: 1, 7: 1 }) },
  ]; // prettier-ignore
  const limited = new Rows(buildTree(nodes(), "", causes), { sort: "-limited", fold: true, visible: null });

  it("of a fold are the sums of its members, that with the most time first", () => {
    const fold = limited.visible(() => true).find(({ within }) => within === "Layer[0..1]");
    expect(fold?.causes).toEqual([
      { label: "Layout", kernelNs: 20, ops: 2 },
      { label: "TF32 is off", kernelNs: 10, ops: 2 },
    ]);
    expect(fold === undefined ? 0 : limitedNs(fold)).toBe(30);
  });

  it("order siblings, and are none where nothing is limited", () => {
    expect(names(limited.visible(({ depth }) => depth < 3))).toEqual([
      "/", "Net", "Head/linear", "Layer[0..1]/conv_0..1", "Not in any op", "unassociated_k",
    ]); // prettier-ignore
    expect(limited.rowOf(1)?.causes).toEqual([]);
  });
});

describe("what is not known of matrix units", () => {
  const row = (using: number | null, time: number | null, untold: number) =>
    new Rows(
      buildTree(
        {
          ...nodes(),
          using_ops: nodes().using_ops.map((count, i) => (i === 8 ? using : count)),
          tensor_core_time_ns: nodes().tensor_core_time_ns.map((ns, i) => (i === 8 ? time : ns)),
          unknown_ops: nodes().unknown_ops.map((_, i) => (i === 8 ? untold : 0)),
        },
        "",
      ),
      { sort: "-gpu_time_ns", fold: false, visible: null },
    ).rowOf(8);

  it("is no share of 0", () => {
    const [unknown, none] = [row(null, null, 1), row(0, 0, 0)];
    if (unknown === null || none === null) throw new Error("There is no such row.");
    expect(tensorCoreShare(unknown)).toBeNull();
    expect(mayBeMoreTime(unknown)).toBe(true);
    expect([tensorCoreShare(none), mayBeMoreTime(none)]).toEqual([0, false]);
  });
});

it("finds the number that tells siblings apart where their names are cut", () => {
  expect(["Layer[12]", "Layer[0..23]", "conv_3", "layer1", "conv2d", "0", "/"].map(splitNumber)).toEqual([
    { head: "Layer", number: "[12]" },
    { head: "Layer", number: "[0..23]" },
    { head: "conv", number: "_3" },
    { head: "layer", number: "1" },
    { head: "conv2d", number: "" },
    { head: "", number: "0" },
    { head: "/", number: "" },
  ]);
});

it.each([
  ["T5Stack", 7, "T5Stack"],
  ["T5EncoderModel/T5Stack", 16, "T5Encod…/T5Stack"],
  ["OptimizedModule/DiffusionWrapper", 14, "Diffusi…rapper"],
  ["Linear[0..3]/linear ×92", 21, "Linear…/linear ×92"],
  ["T5Block[1..23] ×23", 17, "T5Blo…[1..23] ×23"],
  ["Sequential[0..3]", 12, "Seque…[0..3]"],
])("shortens %s before its last part and its numbers", (name, letters, short) => {
  expect(shortened(name, letters)).toBe(short);
});
