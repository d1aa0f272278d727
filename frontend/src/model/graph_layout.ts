/** The layout of the module graph as a tree from left to right: places of nodes and edges, and the kind of each node. */
import { formatCount } from "../format/number";
import type { Rows, TreeRow } from "./group_tree";
import { mayBeMoreOps } from "./tree_values";

export interface GraphNode {
  row: TreeRow;
  x: number;
  y: number;
  open: boolean;
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
  width: number;
  height: number;
}

export const NODE = { width: 216, height: 42 } as const;
const PITCH = { x: NODE.width + 56, y: NODE.height + 10 } as const;

/** Distance of a parent below the first of many children: far enough to look central, near enough to be seen with it. */
const FARTHEST = 4 * PITCH.y;

/** Children are placed one below the other, and a parent in the middle of its children, or near the first of many. */
export function layOut(rows: Rows, isOpen: (row: TreeRow) => boolean, pitch: number = PITCH.x): Graph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  let bottom = 0;
  const place = (row: TreeRow): GraphNode => {
    const open = row.expandable && isOpen(row);
    const node: GraphNode = { row, x: (row.depth - 1) * pitch, y: bottom, open };
    nodes.push(node);
    const below = open ? rows.below(row).map(place) : [];
    const [first] = below;
    const last = below.at(-1);
    if (first === undefined || last === undefined) bottom += PITCH.y;
    else node.y = Math.min((first.y + last.y) / 2, first.y + FARTHEST);
    for (const to of below) edges.push({ from: node, to, outer: to === first || to === last });
    return node;
  };
  // Work that no op is known to have launched is no part of the model.
  const groups = rows.roots.filter(({ isOp }) => !isOp);
  (groups.length > 0 ? groups : rows.roots).forEach(place);
  return {
    nodes,
    edges,
    width: nodes.reduce((most, { x }) => Math.max(most, x + NODE.width), 0),
    height: nodes.reduce((most, { y }) => Math.max(most, y + NODE.height), 0),
  };
}

/** How far apart levels are, so that a graph of few levels has no empty half beside it; edges longer than a node say nothing. */
export function pitchFor(graph: Graph, width: number, height: number): number {
  const gaps = Math.round((graph.width - NODE.width) / PITCH.x);
  if (gaps < 1) return PITCH.x;
  const room = (width - 32) / fitted(graph, width, height).scale - NODE.width;
  return Math.min(Math.max(room / gaps, PITCH.x), 2 * NODE.width);
}

export type Compatibility = "using" | "not_using" | "not_eligible" | "not_known";

/**
 * Whether ops of the row use the matrix unit, could but do not, or could not, as far as that is known; without any work
 * of a GPU in the recording, whether they could.
 */
export function compatibilityOf({ values, unknown }: TreeRow, onGpu: boolean): Compatibility {
  if (values.using_ops > 0) return "using";
  if (unknown.has("eligible_ops") || (onGpu && unknown.has("using_ops"))) return "not_known";
  return values.eligible_ops > 0 ? "not_using" : "not_eligible";
}

/** In words: `3 of 5 use TC`; `5 eligible` where it is not known which use them, as without work of a GPU. */
export function compatibilityText(row: TreeRow, core: string, onGpu: boolean): string {
  const { using_ops: using, eligible_ops: eligible } = row.values;
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

const READABLE = 0.85;
const LARGEST = 1.5;

/**
 * The whole graph in the middle of the view, a small one half as large again; where that would be too small to read, from its root and its first
 * nodes, the longest, on, and then as large as its width allows and the root stays in view.
 */
export function fitted(graph: Pick<Graph, "width" | "height" | "nodes">, width: number, height: number): Place {
  const fits = Math.min((width - 32) / Math.max(graph.width, 1), (height - 32) / Math.max(graph.height, 1), LARGEST);
  if (fits >= READABLE)
    return { scale: fits, left: (width - graph.width * fits) / 2, top: (height - graph.height * fits) / 2 };
  const root = (graph.nodes[0]?.y ?? 0) + NODE.height;
  const scale = Math.min(Math.max(Math.min((width - 32) / graph.width, (height - 32) / root), READABLE), 1);
  const fitsBelow = graph.height * scale <= height - 32;
  return { scale, left: 16, top: fitsBelow ? (height - graph.height * scale) / 2 : 16 };
}

/** Nodes that are drawn smaller cannot be told apart. */
const SMALLEST = 0.1;

/** The whole graph, readable or not; of one with thousands of nodes what can be seen from its top on. */
export function whole(graph: Pick<Graph, "width" | "height" | "nodes">, width: number, height: number): Place {
  const first = fitted(graph, width, height);
  if (first.scale * graph.height + first.top <= height && first.scale * graph.width + first.left <= width) return first;
  const scale = Math.max(Math.min((width - 32) / graph.width, (height - 32) / graph.height), SMALLEST);
  const middle = (room: number, size: number): number => Math.max((room - size * scale) / 2, 16);
  return { scale, left: middle(width, graph.width), top: middle(height, graph.height) };
}

/** Scaled by `factor` with the point at `x`, `y` of the view kept where it is. */
export function scaled(place: Place, factor: number, x: number, y: number): Place {
  const scale = Math.min(Math.max(place.scale * factor, 0.05), 3);
  const ratio = scale / place.scale;
  return { scale, left: x - (x - place.left) * ratio, top: y - (y - place.top) * ratio };
}

/**
 * What of the graph is drawn: nodes in view, the edges that lead to them, and of those that only pass through it the outer ones, which
 * show that there is more. A model of thousands of nodes can be moved then as lightly as a small one.
 */
export function inView(graph: Graph, place: Place, width: number, height: number): Pick<Graph, "nodes" | "edges"> {
  const left = -place.left / place.scale;
  const top = -place.top / place.scale;
  const right = left + width / place.scale;
  const bottom = top + height / place.scale;
  const isIn = ({ x, y }: GraphNode): boolean =>
    x <= right && x + NODE.width >= left && y <= bottom && y + NODE.height >= top;
  const passes = ({ from, to }: GraphEdge): boolean =>
    from.x <= right && to.x >= left && Math.min(from.y, to.y) <= bottom && Math.max(from.y, to.y) + NODE.height >= top;
  return {
    nodes: graph.nodes.filter(isIn),
    edges: graph.edges.filter((edge) => (edge.outer ? passes(edge) : isIn(edge.to))),
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
