/** The layout of the module graph as a tree from left to right: places of nodes and edges, and the kind of each node. */
import { formatCount } from "../format/number";
import type { Rows } from "./group_tree";
import type { TreeRow } from "./tree_row";
import { mayBeMoreOps, onlyCommunicates } from "./tree_values";

export interface GraphNode {
  row: TreeRow;
  x: number;
  y: number;
  /** The same for all of a level. */
  width: number;
  open: boolean;
}

/** Children of one node that take too little to be looked at one by one. */
export interface GraphRest {
  from: GraphNode;
  of: TreeRow;
  rows: readonly TreeRow[];
  x: number;
  y: number;
  width: number;
}

export interface GraphEdge {
  from: GraphNode;
  to: GraphNode;
  /** Whether it leads to the first or the last child; all other edges are between these. */
  outer: boolean;
}

export interface Graph {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  rests: readonly GraphRest[];
  width: number;
  height: number;
  levels: number;
}

/** `widest` and `narrowest`: a name may be longer, the line of numbers below it is about as long as the latter. */
export const NODE = { height: 42, narrowest: 160, widest: 420, rest: 30 } as const;
export const GAP_BELOW = 10;
const PITCH = NODE.height + GAP_BELOW;

/** Between levels: least, and most; longer edges say nothing. */
const GAP = { least: 40, most: 150 } as const;

/**
 * Children are placed one below the other, and a parent beside the first of them: where rows are in the order of their times, the chain
 * of the longest ones is the first line, and what has no room in the view is the least.
 *
 * @param isSmall what is gathered in one node with its like, below a node with more than one of them
 * @param wanted the width that the texts of a row take; nodes are as wide as the widest of their level, within `NODE`'s limits
 * @param room what the drawing may take, where that does not make nodes too narrow or too wide
 */
export function layOut(
  rows: Rows,
  isOpen: (row: TreeRow) => boolean,
  isSmall: (row: TreeRow) => boolean,
  wanted: (row: TreeRow) => number,
  room: number,
): Graph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const rests: GraphRest[] = [];
  let bottom = 0;
  const place = (row: TreeRow): GraphNode => {
    const open = row.expandable && isOpen(row);
    const node: GraphNode = { row, x: 0, y: bottom, width: 0, open };
    nodes.push(node);
    const inside = open ? rows.below(row) : [];
    const small = inside.filter(isSmall);
    const below = inside.filter((each) => small.length < 2 || !small.includes(each)).map(place);
    if (small.length >= 2) {
      rests.push({ from: node, of: row, rows: small, x: 0, y: bottom, width: 0 });
      bottom += NODE.rest;
    }
    bottom = Math.max(bottom, node.y + PITCH);
    for (const to of below) edges.push({ from: node, to, outer: to === below[0] || to === below.at(-1) });
    return node;
  };
  rows.roots.forEach(place);
  const levels = spread(nodes, rests, wanted, room);
  return {
    nodes,
    edges,
    rests,
    width: nodes.reduce((most, { x, width }) => Math.max(most, x + width), 0),
    height: Math.max(...nodes.map(({ y }) => y + NODE.height), ...rests.map(({ y }) => y + NODE.rest - GAP_BELOW), 0),
    levels,
  };
}

/** The same with each node beside the middle of what is below it: a graph that is seen whole fills its view. */
export function centred(graph: Graph): Graph {
  const nodes = new Map(graph.nodes.map((node) => [node, { ...node }]));
  const moved = (node: GraphNode): GraphNode => nodes.get(node) ?? node;
  const edges = graph.edges.map((edge) => ({ ...edge, from: moved(edge.from), to: moved(edge.to) }));
  const rests = graph.rests.map((rest) => ({ ...rest, from: moved(rest.from) }));
  const middles = new Map<GraphNode, number[]>();
  const add = (from: GraphNode, middle: number): void => {
    middles.set(from, [...(middles.get(from) ?? []), middle]);
  };
  for (const { from, y } of rests) add(from, y + (NODE.rest - GAP_BELOW) / 2);
  // Children stand behind their parent.
  const parents = new Map(edges.map(({ from, to }) => [to, from]));
  for (const node of [...nodes.values()].reverse()) {
    const below = middles.get(node) ?? [];
    if (below.length > 0) node.y = (Math.min(...below) + Math.max(...below)) / 2 - NODE.height / 2;
    const parent = parents.get(node);
    if (parent !== undefined) add(parent, node.y + NODE.height / 2);
  }
  return { ...graph, nodes: [...nodes.values()], edges, rests };
}

/** Gives nodes their width and their distance from the left, level by level; returns how many levels there are. */
function spread(
  nodes: readonly GraphNode[],
  rests: readonly GraphRest[],
  wanted: (row: TreeRow) => number,
  room: number,
): number {
  const levels = Math.max(1, ...nodes.map(({ row }) => row.depth), ...rests.map(({ of }) => of.depth + 1));
  const gaps = Math.max(levels - 1, 1);
  const widest = Array.from({ length: levels }, () => 0);
  const widen = (level: number, to: number): void => {
    widest[level] = Math.max(widest[level] ?? 0, to);
  };
  for (const { row } of nodes) widen(row.depth - 1, Math.min(wanted(row), NODE.widest));
  for (const { of } of rests) widen(of.depth, NODE.narrowest);
  const least = widest.map((each) => Math.min(each, NODE.narrowest));
  const sumOf = (some: readonly number[]): number => some.reduce((all, each) => all + each, 0);
  // What names take beyond the narrowest shrinks where all of it does not fit, drawn as small as can be read.
  const fits = room / LEGIBLE - gaps * GAP.least - sumOf(least);
  const part = Math.min(Math.max(fits / Math.max(sumOf(widest) - sumOf(least), 1), 0), 1);
  const widths = widest.map((each, level) => Math.floor((least[level] ?? 0) * (1 - part) + part * each));
  const taken = sumOf(widths);
  const gap = Math.min(Math.max(Math.floor((room - taken) / gaps), GAP.least), GAP.most);
  const lefts = widths.map((_, level) => widths.slice(0, level).reduce((all, each) => all + each + gap, 0));
  const put = (box: GraphNode | GraphRest, level: number): void => {
    box.x = lefts[level] ?? 0;
    box.width = widths[level] ?? 0;
  };
  for (const node of nodes) put(node, node.row.depth - 1);
  for (const rest of rests) put(rest, rest.of.depth);
  return levels;
}

/** The height of a view of that width which shows the whole graph, within what the page has. */
export function heightFor(graph: Pick<Graph, "width" | "height">, width: number, least: number, most: number): number {
  const scale = Math.min(Math.max((width - 32) / Math.max(graph.width, 1), LEGIBLE), LARGEST);
  return Math.max(Math.min(Math.ceil(graph.height * scale) + 32, most), least);
}

export type Compatibility = "using" | "not_using" | "eligible" | "not_eligible" | "not_known" | "communication";

/**
 * Whether ops of the row use the matrix unit, could but do not, or could not, as far as that is known; without any work
 * of a GPU in the recording, whether they could.
 */
export function compatibilityOf({ key, values, unknown }: TreeRow, onGpu: boolean): Compatibility {
  if (onlyCommunicates({ key, values })) return "communication";
  if (values.using_ops > 0) return "using";
  if (unknown.has("eligible_ops") || (onGpu && unknown.has("using_ops"))) return "not_known";
  if (values.eligible_ops === 0) return "not_eligible";
  return onGpu ? "not_using" : "eligible";
}

/** In words: `3 of 5 use TC`; `5 eligible` where it is not known which use them, as without work of a GPU. */
export function compatibilityText(row: TreeRow, core: string, onGpu: boolean): string {
  const { using_ops: using, eligible_ops: eligible } = row.values;
  if (onlyCommunicates(row)) return "communication";
  if (using === 0 && row.unknown.has("eligible_ops")) return "not known";
  if (eligible === 0 && using === 0) return onGpu && row.unknown.has("using_ops") ? "not known" : "not eligible";
  if (!onGpu) return `${formatCount(eligible)} eligible`;
  if (row.unknown.has("using_ops")) return `${formatCount(eligible)} eligible, use not known`;
  return using === 0
    ? `none of ${formatCount(eligible)} uses ${core}`
    : `${mayBeMoreOps(row) ? "≥ " : ""}${formatCount(using)} of ${formatCount(Math.max(eligible, using))} use ${core}`;
}

/** Scale and shift of the drawing: a point of the graph is at `x * scale + left`. */
export interface Place {
  scale: number;
  left: number;
  top: number;
}

const LARGEST = 1.25;

/** At which boxes are made as wide as their names, and the lines in them are 10 px high. */
export const LEGIBLE = 0.84;

/** Smaller, boxes hold names alone, which are read down to this. */
export const SMALLEST = 0.3;

/**
 * The whole graph in the middle of the view, a small one a quarter as large again; where that would be too small to tell names apart,
 * from its root on, as large as its width allows.
 */
export function fitted(
  graph: Pick<Graph, "width" | "height">,
  width: number,
  height: number,
  least: number = LEGIBLE,
): Place {
  const all = whole(graph, width, height);
  if (all.scale >= least) return all;
  const across = (width - 32) / Math.max(graph.width, 1);
  return { scale: Math.min(Math.max(across, LEGIBLE), 1), left: 16, top: 16 };
}

/** The whole graph, readable or not. */
export function whole(graph: Pick<Graph, "width" | "height">, width: number, height: number): Place {
  const scale = Math.min((width - 32) / Math.max(graph.width, 1), (height - 32) / Math.max(graph.height, 1), LARGEST);
  return { scale, left: (width - graph.width * scale) / 2, top: (height - graph.height * scale) / 2 };
}

/** Whether all of it can be seen. */
export const isWhole = (graph: Pick<Graph, "width" | "height">, place: Place, width: number, height: number): boolean =>
  place.left >= 0 &&
  place.top >= 0 &&
  place.left + graph.width * place.scale <= width &&
  place.top + graph.height * place.scale <= height;

/** Scaled by `factor` with the point at `x`, `y` of the view kept where it is. */
export function scaled(place: Place, factor: number, x: number, y: number): Place {
  // A large graph is shown whole at less.
  const scale = Math.min(Math.max(place.scale * factor, Math.min(place.scale, 0.05)), 3);
  const ratio = scale / place.scale;
  return { scale, left: x - (x - place.left) * ratio, top: y - (y - place.top) * ratio };
}

/**
 * What of the graph is drawn: nodes in view, the edges that lead to them, and of those that only pass through it the outer ones, which
 * show that there is more. A model of thousands of nodes can be moved then as lightly as a small one.
 */
export function inView(
  graph: Graph,
  place: Place,
  width: number,
  height: number,
): Pick<Graph, "nodes" | "edges" | "rests"> {
  const left = -place.left / place.scale;
  const top = -place.top / place.scale;
  const right = left + width / place.scale;
  const bottom = top + height / place.scale;
  const isIn = ({ x, y, width }: GraphNode | GraphRest): boolean =>
    x <= right && x + width >= left && y <= bottom && y + NODE.height >= top;
  const passes = ({ from, to }: GraphEdge): boolean =>
    from.x <= right && to.x >= left && Math.min(from.y, to.y) <= bottom && Math.max(from.y, to.y) + NODE.height >= top;
  return {
    nodes: graph.nodes.filter(isIn),
    edges: graph.edges.filter((edge) => (edge.outer ? passes(edge) : isIn(edge.to))),
    rests: graph.rests.filter(isIn),
  };
}

/** The node that an arrow key leads to. */
export function graphNeighbour(graph: Graph, at: GraphNode, key: string): GraphNode | null {
  if (key === "ArrowLeft") return graph.nodes.find(({ row }) => row === at.row.parent) ?? null;
  if (key === "ArrowRight") return graph.nodes.find(({ row }) => row.parent === at.row) ?? null;
  const level = graph.nodes.filter(({ x }) => x === at.x).sort((a, b) => a.y - b.y);
  const index = level.indexOf(at);
  if (key === "ArrowDown") return level[index + 1] ?? null;
  if (key === "ArrowUp") return level[index - 1] ?? null;
  return null;
}
