import { describe, expect, it } from "vitest";

import {
  compatibilityOf,
  compatibilityText,
  fitted,
  heightFor,
  graphNeighbour,
  inView,
  layOut,
  NODE,
  scaled,
  whole,
  type Graph,
} from "./graph_layout";
import { buildTree, Rows } from "./group_tree";
import { nodes } from "../testing/tree";
import { openedFirst } from "./tree_values";

const rows = new Rows(buildTree(nodes(), ""), { sort: "-gpu_time_ns", fold: false, visible: null });
const WIDE = 1_200;
const wanted = () => 200;
const graph = layOut(rows, () => true, wanted, WIDE);
const named = (name: string) => {
  const node = graph.nodes.find(({ row }) => row.name === name);
  if (node === undefined) throw new Error(`${name} is missing`);
  return node;
};

describe("the graph", () => {
  it("stands from left to right, parents beside the first of their children, none upon another", () => {
    const net = named("Net");
    expect(net.x).toBeGreaterThan(named("/").x + named("/").width);
    expect(net.y).toBe(named("Head").y);
    for (const one of graph.nodes)
      for (const other of graph.nodes)
        if (one !== other && one.x === other.x) expect(Math.abs(one.y - other.y)).toBeGreaterThan(NODE.height);
    expect(graph.edges).toHaveLength(graph.nodes.length - 1);
  });

  it("is drawn where it is in view, with the outer edges of what goes on beyond", () => {
    const all = inView(graph, { scale: 1, left: 0, top: 0 }, graph.width, graph.height);
    expect(all).toEqual({ nodes: graph.nodes, edges: graph.edges });
    // Only the column of the layers, and of it the first two rows.
    const column = named("Head");
    const place = { scale: 2, left: -2 * column.x, top: -2 * column.y };
    const part = inView(graph, place, 2 * column.width, 2 * (NODE.height + 20));
    expect(part.nodes.map(({ row }) => row.name)).toEqual(["Head", "Layer[0]"]);
    expect(part.edges.map(({ to }) => to.row.name)).toEqual(["linear", "conv_0", "Head", "Layer[0]", "Layer[1]"]);
  });

  it("leaves out work of no op", () => {
    expect(graph.nodes.map(({ row }) => row.name)).not.toContain("unassociated");
  });

  it("is walked by the arrow keys", () => {
    expect(graphNeighbour(graph, named("/"), "ArrowRight")?.row.name).toBe("Net");
    expect(graphNeighbour(graph, named("Net"), "ArrowLeft")?.row.name).toBe("/");
    expect(graphNeighbour(graph, named("Head"), "ArrowDown")?.row.name).toBe("Layer[0]");
    expect(graphNeighbour(graph, named("/"), "ArrowUp")).toBeNull();
  });
});

describe("its place", () => {
  const small: Pick<Graph, "width" | "height"> = { width: 100, height: 100 };

  it("is the middle where all fits", () => {
    expect(fitted(small, 300, 200)).toEqual({ scale: 1.25, left: 87.5, top: 37.5 });
  });

  it("stays readable where it does not", () => {
    expect(fitted({ ...small, height: 100_000 }, 300, 200).scale).toBe(1);
    expect(fitted({ ...small, height: 100_000, width: 5_000 }, 300, 200).scale).toBe(0.85);
    expect(fitted({ ...small, height: 100_000 }, 300, 200).top, "its root is in sight").toBe(16);
  });

  it("is shown whole on demand, unless its nodes could not be told apart", () => {
    const wide = { ...small, height: 1_000, width: 600 };
    const all = whole(wide, 300, 200);
    expect(all.scale * wide.height).toBeLessThanOrEqual(200);
    expect(all.left).toBeCloseTo((300 - all.scale * 600) / 2);
    expect(whole(small, 300, 200)).toEqual(fitted(small, 300, 200));
    expect(whole({ ...small, height: 100_000 }, 300, 200)).toMatchObject({ scale: 0.1, top: 16 });
  });

  it("keeps the point under the pointer when it is scaled", () => {
    const place = scaled({ scale: 1, left: 10, top: 20 }, 2, 50, 60);
    expect((50 - place.left) / place.scale).toBe(40);
    expect((60 - place.top) / place.scale).toBe(40);
  });
});

it("does not take what is not known for not eligible", () => {
  const tree = nodes();
  tree.eligible_ops[1] = null;
  const untold = new Rows(buildTree(tree, ""), { sort: "name", fold: false, visible: null });
  const said = untold.roots.map((row) => [row.name, compatibilityOf(row, true), compatibilityText(row, "TC", true)]);
  expect(said).toEqual([
    ["/", "using", "2 of 3 use TC"],
    ["unassociated", "not_known", "not known"],
  ]);
});

it("does not say of eligible ops that none uses the units where that is not known", () => {
  const untold = { ...nodes(), using_ops: nodes().using_ops.map((count, i) => (i === 5 || i === 8 ? null : count)) };
  const of = new Rows(buildTree(untold, ""), { sort: "", fold: false, visible: null }).rowOf(8);
  if (of === null) throw new Error("There is no such row.");
  expect(compatibilityOf(of, true)).toBe("not_known");
  expect(compatibilityText(of, "TC", true)).toBe("1 eligible, use not known");
});

it("says without work of a GPU which ops could use the units", () => {
  const none = { ...nodes(), using_ops: nodes().using_ops.map(() => null) };
  const rows = new Rows(buildTree(none, ""), { sort: "name", fold: false, visible: null });
  const said = rows.roots.map((row) => [row.name, compatibilityOf(row, false), compatibilityText(row, "TC", false)]);
  expect(said).toEqual([
    ["/", "not_using", "3 eligible"],
    ["unassociated", "not_eligible", "not eligible"],
  ]);
});

it("makes boxes as wide as their names, where there is room, and all alike narrower where there is none", () => {
  const long = (row: { name: string }) => (row.name === "Net" ? 400 : 100);
  const wide = layOut(rows, () => true, long, 3_000);
  const widths = (of: Graph) =>
    ["/", "Net", "Head"].map((name) => of.nodes.find(({ row }) => row.name === name)?.width);
  expect(widths(wide)).toEqual([NODE.narrowest, 400, NODE.narrowest]);
  expect(
    layOut(
      rows,
      () => true,
      () => 10_000,
      10_000,
    ).nodes[0]?.width,
  ).toBe(NODE.widest);
  const room = 0.85 * (wide.levels * NODE.narrowest + 48 * (wide.levels - 1) + 100);
  const tight = layOut(rows, () => true, long, room);
  expect(tight.nodes.find(({ row }) => row.name === "Net")?.width).toBeCloseTo(NODE.narrowest + 100, -1);
  expect(tight.width * 0.85).toBeLessThanOrEqual(room);
  expect(wide.width).toBeGreaterThan(tight.width);
});

it("is drawn as high as it is, up to what the page has", () => {
  const of = { width: 968, height: 500 };
  expect(heightFor(of, 1_000, 320, 2_000)).toBe(532);
  expect(heightFor(of, 1_000, 320, 400)).toBe(400);
  expect(heightFor({ width: 968, height: 50 }, 1_000, 320, 2_000)).toBe(320);
});

it("opens first what takes most time, as far as that can be read", () => {
  expect([...openedFirst(rows, 4, 9)]).toEqual(["/", "/Net/", "/Net/Head/", "/Net/Layer[0]/", "/Net/Layer[1]/"]);
  expect([...openedFirst(rows, 4, 3)]).toEqual(["/", "/Net/"]);
  expect([...openedFirst(rows, 1, 9)]).toContain("/Net/");
});
