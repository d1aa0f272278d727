/**
 * The tree of groups and ops as rows: order among siblings, folding of repeated siblings, filter by path.
 *
 * A row stands for one node of the server's tree, or for several alike ones that are folded: `Layer[0..23]`. The children of a folded
 * row are the children of all its members, folded in turn, so that its sums are those of the whole fold at every level.
 */
import type { CauseColumns, GroupNodes } from "../api/types";
import { foldedName, numberless } from "./folding";
import { UNASSOCIATED } from "./kernel_name";
import { at, Row, shownPath, summed, type OwnOfRow, type TreeRow } from "./tree_row";
import { sorted, type Measure } from "./tree_values";

export interface Tree {
  nodes: GroupNodes;
  /** What limits the use of matrix units; empty where nothing does, or nobody says. */
  causes: readonly CauseColumns[];
  /** Positions of the children of each node. */
  below: readonly (readonly number[])[];
  roots: readonly number[];
  /** The path of the node that the tree begins with; empty for the whole tree. */
  group: string;
  /** By how many iterations times and calls of rows are divided. */
  iterations: number;
}

export function buildTree(
  nodes: GroupNodes,
  group: string,
  causes: readonly CauseColumns[] = [],
  iterations = 1,
): Tree {
  const below: number[][] = nodes.parent.map(() => []);
  const roots: number[] = [];
  nodes.parent.forEach((parent, node) => (parent < 0 ? roots : (below[parent] ?? roots)).push(node));
  return { nodes, causes, below, roots, group, iterations };
}

const isOpOf = ({ op_id: op }: GroupNodes, node: number): boolean => at(op, node) !== null;

/** The path of a node, of a group with a slash at its end. */
export function pathOf({ nodes, group }: Tree, node: number): string {
  const names: string[] = [];
  let top = node;
  for (let i = node; i >= 0; i = at(nodes.parent, i)) {
    top = i;
    names.push(at(nodes.name, i));
  }
  names.pop();
  const isOp = at(nodes.op_id, node) !== null;
  const start = group !== "" ? group : rootPath(at(nodes.name, top), at(nodes.op_id, top) !== null);
  if (node === top) return start;
  return `${start}${names.reverse().join("/")}${isOp ? "" : "/"}`;
}

/** Longer lists of nodes do not fit into an address. */
const MOST_NODES = 1_000;

/** What the tables of ops and of kernels below a row are asked for; null where it stands for more nodes than they can be asked for. */
export function linksOf(tree: Tree, row: TreeRow): Readonly<Record<string, string>> | null {
  const { members, gathers } = row;
  if (gathers === "all") return { group: "" };
  const [first = 0] = members;
  const op = at(tree.nodes.op_id, first);
  if (members.length === 1) return op === null ? { group: pathOf(tree, first) } : { op };
  if (members.length > MOST_NODES) return null;
  return { group: shownPath(row), nodes: members.map((node) => at(tree.nodes.id, node)).join(",") };
}

const rootPath = (name: string, isOp: boolean): string => (isOp || name.endsWith("/") ? name : `${name}/`);

/** How rows are made of a tree. */
export interface RowOptions {
  /**
   * A measure, `name`, `share` (of eligible ops that use the matrix unit) or `limited` (kernel time of the causes); `-` before it for
   * descending. Empty for the order of the server.
   */
  sort: string;
  /** Fold repeated siblings. */
  fold: boolean;
  /** What the filter leaves; null without one. */
  visible: Filtered | null;
  /** Leave out rows with none of it; null leaves out none. */
  without?: Measure | null;
}

/** For each node, whether it matches, contains a match, or is below one. */
export interface Filtered {
  matches: Uint8Array;
  above: Uint8Array;
  below: Uint8Array;
}

export function keep(tree: Tree, matches: (path: string) => boolean): Filtered {
  const count = tree.nodes.name.length;
  const visible = { matches: new Uint8Array(count), above: new Uint8Array(count), below: new Uint8Array(count) };
  const { parent: parents, name, op_id: op } = tree.nodes;
  const paths: string[] = [];
  for (let node = 0; node < count; node += 1) {
    const parent = at(parents, node);
    if (parent >= 0 && ((visible.matches[parent] ?? 0) | (visible.below[parent] ?? 0)) !== 0) visible.below[node] = 1;
    // A parent stands before its children: walking up from each of thousands would take longer than all else.
    const path =
      parent < 0 ? pathOf(tree, node) : `${at(paths, parent)}${at(name, node)}${at(op, node) === null ? "/" : ""}`;
    paths.push(path);
    if (!matches(path)) continue;
    visible.matches[node] = 1;
    for (let up = parent; up >= 0 && visible.above[up] === 0; up = at(tree.nodes.parent, up)) visible.above[up] = 1;
  }
  return visible;
}

/** What all rows stand below, unless one group is shown alone: also work of no op, which DLProf counts beside the group `/`. */
const ALL = "/";
export const NO_OP_ROW = "Not in any op";

/** Ops that take more than this share of the time without any module are told apart by their direction. */
const MOSTLY = 0.5;

/** Ops of the smaller of two groups over those of the larger, from which on they count as repeated. */
const NEARLY_ALIKE = 0.8;

/** Rows of a tree, made when they are asked for. */
export class Rows {
  readonly roots: readonly TreeRow[];
  readonly #below = new Map<TreeRow, readonly TreeRow[]>();
  /** The rows below each one, as the server orders them. */
  readonly #made: Map<TreeRow | null, readonly TreeRow[]>;

  constructor(
    readonly tree: Tree,
    readonly options: RowOptions,
    made = new Map<TreeRow | null, readonly TreeRow[]>(),
  ) {
    this.#made = made;
    this.roots = this.#ordered(null);
  }

  /** The same rows in another order: those that are made already are not made again. */
  inOrder(sort: string): Rows {
    return new Rows(this.tree, { ...this.options, sort }, this.#made);
  }

  /** The same rows but for those with none of a measure. */
  leavingOut(without: Measure | null): Rows {
    return new Rows(this.tree, { ...this.options, without });
  }

  below(row: TreeRow): readonly TreeRow[] {
    let rows = this.#below.get(row);
    if (rows === undefined) {
      rows = this.#ordered(row);
      this.#below.set(row, rows);
    }
    return rows;
  }

  /** Whether there is a match of the filter below the row. */
  holdsMatch(row: TreeRow): boolean {
    const { visible: visible } = this.options;
    return (
      visible !== null &&
      row.members.some((node) => visible.above[node] === 1 || (row.gathers !== null && visible.matches[node] === 1))
    );
  }

  isMatch(row: TreeRow): boolean {
    const { visible: visible } = this.options;
    return visible !== null && row.gathers === null && row.members.some((node) => visible.matches[node] === 1);
  }

  /** The row of that key, with folded ones unfolded as needed: none where it is not in the tree. */
  find(key: string): TreeRow | null {
    if (key === "") return null;
    let rows = this.roots;
    for (;;) {
      const next = rows.find((row) => row.key === key || (!row.isOp && key.startsWith(row.key)));
      // A group that is one row with what is in it.
      if (next === undefined) return rows.find((row) => row.key.startsWith(key)) ?? null;
      if (next.key === key) return next;
      rows = this.below(next);
    }
  }

  /** The row that stands for a node. */
  rowOf(node: number): TreeRow | null {
    const chain: number[] = [];
    for (let i = node; i >= 0; i = at(this.tree.nodes.parent, i)) chain.unshift(i);
    let deepest: TreeRow | null = null;
    for (const each of chain) {
      const among: readonly TreeRow[] = deepest === null ? this.roots : this.below(deepest);
      // A group that is one row with the only group in it has no row of its own.
      let next = among.find(({ members }) => members.includes(each));
      deepest = next ?? deepest;
      while (next !== undefined && next.gathers !== null) {
        deepest = next;
        next = this.below(next).find(({ members }) => members.includes(each));
      }
      deepest = next ?? deepest;
    }
    return deepest?.members.includes(node) === true ? deepest : null;
  }

  /** All rows on screen, from the top down, without those of an open row that are left out. */
  visible(isOpen: (row: TreeRow) => boolean, leftOut: (row: TreeRow) => readonly TreeRow[] = () => []): TreeRow[] {
    const shown: TreeRow[] = [];
    const waiting = [...this.roots].reverse();
    for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
      shown.push(row);
      if (!row.expandable || !isOpen(row)) continue;
      const out = new Set(leftOut(row));
      const below = this.below(row).filter((each) => !out.has(each));
      for (let i = below.length - 1; i >= 0; i -= 1) waiting.push(at(below, i));
    }
    return shown;
  }

  #ordered(parent: TreeRow | null): readonly TreeRow[] {
    let rows = this.#made.get(parent);
    if (rows === undefined) {
      rows = this.#rowsBelow(parent);
      this.#made.set(parent, rows);
    }
    return sorted(rows, this.options.sort);
  }

  #rowsBelow(parent: TreeRow | null): TreeRow[] {
    const { roots, group } = this.tree;
    if (parent === null) return group === "" ? this.#all() : this.#make(roots, null);
    if (parent.gathers === "all") return this.#belowAll(parent);
    if (parent.gathers !== null) return this.#make(parent.members, parent);
    return this.#make(this.#nodesBelow(parent.members), parent);
  }

  /** The one row that all others stand below. */
  #all(): TreeRow[] {
    const { roots, nodes } = this.tree;
    // Groups first: what their path tells is that of the row.
    const members = this.#visible(roots).sort((a, b) => Number(isOpOf(nodes, a)) - Number(isOpOf(nodes, b)));
    if (members.length === 0) return [];
    return [this.#row(members, null, { key: ALL, name: ALL, isOp: false, gathers: "all", expandable: true })];
  }

  /** What is below `/`, work of no op in a row of its own; without modules, ops by their direction. */
  #belowAll(all: TreeRow): TreeRow[] {
    const { nodes } = this.tree;
    const gathered = (members: readonly number[], name: string, gathers: TreeRow["gathers"]): TreeRow[] =>
      this.#grouped(members).length === 0
        ? []
        : [this.#row(members, all, { key: `${ALL}:${name}:/`, name, isOp: false, gathers, expandable: true })];
    const ops = all.members.filter((node) => isOpOf(nodes, node));
    const inside = this.#visible(this.#nodesBelow(all.members.filter((node) => !isOpOf(nodes, node))));
    if (inside.length === 0) return this.#make(ops, all);
    const loose = inside.filter((node) => isOpOf(nodes, node) && at(nodes.direction, node) !== "");
    const directions = [...new Set(loose.map((node) => at(nodes.direction, node)))];
    const timeOf = (some: readonly number[]): number => summed(nodes.gpu_time_ns, some);
    const byDirection = directions.length > 1 && timeOf(loose) > MOSTLY * timeOf(inside);
    const apart = new Set(byDirection ? loose : []);
    return [
      ...this.#make(
        inside.filter((node) => !apart.has(node)),
        all,
      ),
      ...(byDirection ? directions : []).flatMap((direction) =>
        gathered(
          loose.filter((node) => at(nodes.direction, node) === direction),
          direction,
          "direction",
        ),
      ),
      ...gathered(ops, NO_OP_ROW, "no op"),
    ];
  }

  #nodesBelow(members: readonly number[]): readonly number[] {
    return members.flatMap((node) => at(this.tree.below, node));
  }

  #make(some: readonly number[], parent: TreeRow | null): TreeRow[] {
    const { nodes } = this.tree;
    const groups = this.#grouped(some);
    const [ops, modules] = [true, false].map(
      (are) => new Set(groups.flat().flatMap((node) => (isOpOf(nodes, node) === are ? [at(nodes.name, node)] : []))),
    ) as [Set<string>, Set<string>];
    const times = new Map<string, number>();
    return groups.map((members) => {
      const isOp = isOpOf(nodes, members[0] ?? 0);
      const name = at(nodes.name, members[0] ?? 0);
      const nth = (times.get(name) ?? 0) + 1;
      times.set(name, nth);
      const isPart = members.some((node) => (isOp ? modules : ops).has(at(nodes.name, node)));
      return this.#unchained(members, parent, isPart ? (isOp ? "itself" : "inside") : null, nth);
    });
  }

  #visible(nodes: readonly number[]): number[] {
    const { visible } = this.options;
    return nodes.filter(
      (node) =>
        visible === null ||
        ((visible.matches[node] ?? 0) | (visible.above[node] ?? 0) | (visible.below[node] ?? 0)) !== 0,
    );
  }

  #grouped(nodes: readonly number[]): number[][] {
    const { fold, without = null } = this.options;
    const left = this.#visible(nodes);
    const groups = fold ? this.#folded(left) : left.map((node) => [node]);
    return without === null ? groups : groups.filter((members) => summed(this.tree.nodes[without], members) > 0);
  }

  /**
   * The row of these nodes; with folding, groups that hold nothing but one other group, or one op, are one row with it:
   * `ResNet/layer1`, `Linear/linear`.
   */
  #unchained(members: readonly number[], parent: TreeRow | null, part: TreeRow["part"], nth: number): TreeRow {
    const { nodes } = this.tree;
    const above: string[] = [];
    let row = this.#row(members, parent, { part }, nth);
    const { fold, visible } = this.options;
    while (fold && !row.isOp && row.missing === 0) {
      const [inner, ...others] = this.#grouped(this.#nodesBelow(row.members));
      const [first] = inner ?? [];
      if (inner === undefined || first === undefined || others.length > 0) break;
      // A filter may hide other ops, whose times are in the group's.
      const isWhole = isOpOf(nodes, first)
        ? visible === null
        : inner.length === row.members.length && at(nodes.children, first) > 0;
      if (!isWhole) break;
      above.push(row.name);
      row = this.#row(inner, row);
    }
    if (above.length === 0) return row;
    const within = row.isOp ? above.join("/") : "";
    return this.#row(row.members, parent, { key: row.key, name: [...above, row.name].join("/"), within, part });
  }

  #folded(nodes: readonly number[]): number[][] {
    const { name, op_id: op } = this.tree.nodes;
    const folds = new Map<string, number[][]>();
    for (const node of nodes) {
      const own = at(name, node);
      // The numbers in the name of a kernel tell what it is, not which of several alike ones.
      const key = `${at(op, node) === null ? "" : "op"} ${own.startsWith(UNASSOCIATED) ? own : numberless(own)}`;
      const alike = folds.get(key) ?? [];
      folds.set(key, alike);
      const fold = alike.find(([first]) => first !== undefined && this.#isRepeated(first, node));
      if (fold === undefined) alike.push([node]);
      else fold.push(node);
    }
    return [...folds.values()].flat();
  }

  /** Alike below, or nearly so: the first layer of a model often has an op more than the others. */
  #isRepeated(one: number, other: number): boolean {
    const { structure, ops } = this.tree.nodes;
    if (at(structure, one) === at(structure, other)) return true;
    const [fewer, more] = [at(ops, one), at(ops, other)].sort((a, b) => a - b) as [number, number];
    return more * NEARLY_ALIKE <= fewer;
  }

  #row(
    members: readonly number[],
    parent: TreeRow | null,
    special: Partial<Omit<OwnOfRow, "members" | "parent">> = {},
    nth = 1,
  ): TreeRow {
    const { nodes, below, group } = this.tree;
    const first = members[0] ?? 0;
    const op = at(nodes.op_id, first);
    const name = at(nodes.name, first);
    // Below repeated modules, layers of one name need not be alike: they are several rows.
    const folded = nth > 1 ? `~${nth}` : members.length > 1 ? "~" : "";
    const place = parent?.key ?? "";
    const own = op === null ? (name === "/" ? "/" : `${name}${folded}/`) : `${op}${folded}`;
    const sent = members.reduce((sum, node) => sum + at(below, node).length, 0);
    const missing = members.reduce((sum, node) => sum + at(nodes.children, node), 0) - sent;
    return new Row(this.tree, {
      key: parent === null && group !== "" && op === null ? group : `${place}${own}`,
      members,
      parent,
      depth: (parent?.depth ?? 0) + 1,
      name: members.length > 1 ? foldedName(members.map((node) => at(nodes.name, node))) : name,
      within: "",
      isOp: op !== null,
      gathers: null,
      part: null,
      missing: Math.max(missing, 0),
      expandable: sent > 0,
      ...special,
    });
  }
}
