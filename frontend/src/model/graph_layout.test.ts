import { describe, expect, it } from "vitest";

import {
  centred,
  compatibilityOf,
  compatibilityText,
  fitted,
  heightFor,
  graphNeighbour,
  inView,
  isWhole,
  layOut,
  NODE,
  scaled,
  SMALLEST,
  whole,
  type Graph,
} from "./graph_layout";
import { buildTree, Rows } from "./group_tree";
import { nodes } from "../testing/tree";
import { openedFirst } from "./tree_values";

const rows = new Rows(buildTree(nodes(), ""), { sort: "-gpu_time_ns", fold: false, visible: null });
const WIDE = 1_200;
const wanted = () => 200;
const none = () => false;
const graph = layOut(rows, () => true, none, wanted, WIDE);
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

  it("has parents beside the middle of what is below them where it is seen whole, none upon another", () => {
    const all = centred(graph);
    const yOf = (name: string) => all.nodes.find(({ row }) => row.name === name)?.y ?? NaN;
    expect(yOf("Net")).toBe((yOf("Head") + yOf("Layer[1]")) / 2);
    expect(named("Net").y, "another graph").toBe(named("Head").y);
    for (const one of all.nodes)
      for (const other of all.nodes)
        if (one !== other && one.x === other.x) expect(Math.abs(one.y - other.y)).toBeGreaterThan(NODE.height);
    const edges = all.edges.flatMap(({ from, to }) => [from, to]);
    expect(edges.every((node) => all.nodes.includes(node))).toBe(true);
  });

  it("is drawn where it is in view, with the outer edges of what goes on beyond", () => {
    const all = inView(graph, { scale: 1, left: 0, top: 0 }, graph.width, graph.height);
    expect(all).toEqual({ nodes: graph.nodes, edges: graph.edges, rests: [] });
    // Only the column of the layers, and of it the first two rows.
    const column = named("Head");
    const place = { scale: 2, left: -2 * column.x, top: -2 * column.y };
    const part = inView(graph, place, 2 * column.width, 2 * (NODE.height + 20));
    expect(part.nodes.map(({ row }) => row.name)).toEqual(["Head", "Layer[0]"]);
    expect(part.edges.map(({ to }) => to.row.name)).toEqual(["linear", "conv_0", "Head", "Layer[0]", "Layer[1]"]);
  });

  it("gathers what takes little, in no other node's place", () => {
    const small = layOut(
      rows,
      () => true,
      ({ name }) => name.startsWith("Layer"),
      wanted,
      WIDE,
    );
    expect(small.rests.map(({ of, rows }) => [of.name, rows.length])).toEqual([["Net", 2]]);
    expect(small.nodes.map(({ row }) => row.name)).not.toContain("Layer[0]");
    const only = layOut(
      rows,
      () => true,
      ({ depth }) => depth === 3,
      wanted,
      WIDE,
    );
    const outside = only.nodes.find(({ row }) => row.gathers === "no op");
    const net = only.nodes.find(({ row }) => row.name === "Net");
    expect((outside?.y ?? 0) - (net?.y ?? 0)).toBeGreaterThan(NODE.height);
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

  it("is a little smaller where all fits then, as far as names can be told apart", () => {
    const tall = { ...small, height: 190 };
    expect(fitted(tall, 300, 200)).toEqual(whole(tall, 300, 200));
    expect(isWhole(tall, fitted(tall, 300, 200), 300, 200)).toBe(true);
  });

  it("is smaller still where the user opened what is shown, as far as its boxes hold names", () => {
    const tall = { ...small, height: 400 };
    expect(fitted(tall, 300, 200).scale).toBe(1);
    expect(fitted(tall, 300, 200, SMALLEST)).toEqual(whole(tall, 300, 200));
    expect(fitted({ ...small, height: 100_000 }, 300, 200, SMALLEST).scale).toBe(1);
  });

  it("stays readable where it does not", () => {
    expect(fitted({ ...small, height: 100_000 }, 300, 200).scale).toBe(1);
    expect(fitted({ ...small, height: 100_000, width: 5_000 }, 300, 200).scale).toBe(0.84);
    expect(fitted({ ...small, height: 100_000 }, 300, 200).top, "its root is in sight").toBe(16);
  });

  it("is shown whole on demand, however large it is", () => {
    for (const of of [small, { height: 1_000, width: 600 }, { height: 100_000, width: 600 }]) {
      const all = whole(of, 300, 200);
      expect(isWhole(of, all, 300, 200)).toBe(true);
      expect(all.left).toBeCloseTo((300 - all.scale * of.width) / 2);
    }
    const zoomed = scaled(whole({ height: 100_000, width: 600 }, 300, 200), 0.8, 0, 0);
    expect(zoomed.scale, "smaller would show no more").toBe(whole({ height: 100_000, width: 600 }, 300, 200).scale);
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
  const of = untold.rowOf(1);
  if (of === null) throw new Error("There is no such row.");
  expect(compatibilityOf(of, true)).toBe("not_known");
  expect(compatibilityText(of, "TC", true)).toBe("not known");
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
  expect(said).toEqual([["/", "eligible", "3 eligible"]]);
});

it("makes the boxes of a level as wide as its longest name, where there is room", () => {
  const long = (row: { name: string }) => (row.name === "Net" ? 400 : 100);
  const lay = (wide: (row: { name: string }) => number, room: number) => layOut(rows, () => true, none, wide, room);
  const widths = (of: Graph) => [1, 2, 3, 4].map((at) => of.nodes.find(({ row }) => row.depth === at)?.width);
  const { widest } = NODE;
  expect(widths(lay(long, 3_000))).toEqual([100, 400, 100, 100]);
  expect(widths(lay(() => 10_000, 10_000))).toEqual([widest, widest, widest, widest]);
  const room = 0.84 * (3 * 100 + 200 + 40 * 3);
  expect(widths(lay(long, room))).toEqual([100, 200, 100, 100]);
  expect(lay(long, room).width * 0.84).toBeLessThanOrEqual(room);
});

it("is drawn as high as it is, up to what the page has", () => {
  const of = { width: 968, height: 500 };
  expect(heightFor(of, 1_000, 320, 2_000)).toBe(532);
  expect(heightFor(of, 1_000, 320, 400)).toBe(400);
  expect(heightFor({ width: 968, height: 50 }, 1_000, 320, 2_000)).toBe(320);
});

describe("what is open at first", () => {
  const opened = (lines: number, levels: number, perRow: boolean) => [...openedFirst(rows, { lines, levels, perRow })];

  it("takes most time, as far as that can be read", () => {
    expect(opened(4, 9, false).slice(0, 3)).toEqual(["/", "/Net/", "/Net/Head/"]);
    // What takes less is not opened in place of what is too deep.
    expect(opened(4, 2, false)).toEqual(["/"]);
  });

  it("in a table is what takes most of the time, however many rows that has; a drawing is to be seen whole", () => {
    expect(opened(1, 9, true)).toEqual(["/", "/Net/", "/Net/Head/"]);
    expect(opened(1, 9, false)).toEqual(["/", "/Net/"]);
  });

  it("in a table ends with the first that would have no room", () => {
    expect(opened(7, 9, true)).toEqual(["/", "/Net/", "/Net/Head/"]);
  });
});
