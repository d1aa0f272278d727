/** The modules of both sides of a comparison as a tree of groups: those that repeat fold as they do on Modules. */
import type { CompareResponse, GroupNodes, GroupsResponse } from "../api/types";
import { formatCount } from "../format/number";
import type { Change } from "./comparison";
import { numberless } from "./folding";
import type { Colouring } from "./shades";
import type { TreeRow } from "./tree_row";
import { MEASURES } from "./tree_values";

type Module = CompareResponse["modules"][number];

export interface ComparedModules {
  groups: GroupsResponse;
  /** Kernel time on both sides, of a folded row the sum over its members. */
  changeOf: (row: TreeRow) => Change;
  /** The change of all kernel time, as a share of A's. */
  whole: number;
}

const OUTSIDE = "Not in any module";

/** `root`: the path of the module that is shown alone, with a slash at its end; empty for all. */
export function comparedModules({ modules, measures }: CompareResponse, root: string): ComparedModules {
  const below = modules.filter(({ path }) => `${path}/`.startsWith(root));
  const all = root === "" ? withAll(below, measures.kernel_time) : below;
  const at = new Map(all.map(({ path }, node) => [path, node]));
  const parents = all.map(({ path }) => parentOf(path, at));
  const children: number[][] = all.map(() => []);
  parents.forEach((parent, node) => children[parent]?.push(node));
  const times = all.map(({ a_ns: a, b_ns: b }) => Math.max(a, b));
  const none = all.map(() => 0);
  const nodes = {
    ...(Object.fromEntries(MEASURES.map((measure) => [measure, none])) as unknown as GroupNodes),
    id: all.map((_, node) => node),
    parent: parents,
    name: all.map(({ path }, node) => nameOf(path, all[parents[node] ?? -1]?.path)),
    op_id: all.map(({ path }) => (path === OUTSIDE ? OUTSIDE : null)),
    direction: all.map(() => ""),
    level: none,
    children: children.map(({ length }) => length),
    structure: structures(all, children),
    ops: all.map(({ rows }) => rows),
    gpu_time_ns: times,
  };
  return {
    groups: { group: root, nodes, causes: [], missing: [], total: all.length, left_out: 0 },
    whole: wholeOf(measures.kernel_time),
    changeOf: ({ members }) => ({
      a_ns: members.reduce((sum, node) => sum + (all[node]?.a_ns ?? 0), 0),
      b_ns: members.reduce((sum, node) => sum + (all[node]?.b_ns ?? 0), 0),
    }),
  };
}

const wholeOf = (kernels: CompareResponse["measures"][string] | undefined): number =>
  kernels?.a && kernels.b !== null ? kernels.b / kernels.a - 1 : 0;

/** With the row of all modules, and what is in none: rows of one level are to add up to the one above them. */
function withAll(modules: readonly Module[], kernels: CompareResponse["measures"][string] | undefined): Module[] {
  const top = modules.filter(({ level }) => level === 1);
  const sum = (side: "a_ns" | "b_ns"): number => top.reduce((total, module) => total + module[side], 0);
  const [a, b] = [sum("a_ns"), sum("b_ns")];
  const outside = {
    a_ns: Math.max(Math.round(kernels?.a ?? a) - a, 0),
    b_ns: Math.max(Math.round(kernels?.b ?? b) - b, 0),
  };
  const all = { path: "", level: 0, a_ns: a + outside.a_ns, b_ns: b + outside.b_ns, rows: 0 };
  return [
    all,
    ...modules,
    ...(Math.max(outside.a_ns, outside.b_ns) > 0 ? [{ ...outside, path: OUTSIDE, level: 0, rows: 0 }] : []),
  ];
}

/** The nearest one that holds it; -1 where none does. */
function parentOf(path: string, at: ReadonlyMap<string, number>): number {
  if (path === "") return -1;
  for (let end = path.lastIndexOf("/"); end >= 0; end = path.lastIndexOf("/", end - 1)) {
    const parent = at.get(path.slice(0, end));
    if (parent !== undefined) return parent;
    if (end === 0) break; // before it, there is nothing to look for
  }
  return at.get("") ?? -1;
}

const nameOf = (path: string, parent: string | undefined): string =>
  path === ""
    ? "/"
    : parent === undefined
      ? path.slice(path.lastIndexOf("/") + 1)
      : path.slice(parent.length).replace(/^\//, "");

/** A number for what is below each module, alike for those that are alike, however often a part repeats: as on Modules. */
function structures(modules: readonly Module[], children: readonly (readonly number[])[]): number[] {
  const known = new Map<string, number>();
  const result: number[] = [];
  const of = (node: number): number => {
    const parts = (children[node] ?? []).map(
      (child) => `${numberless(modules[child]?.path.split("/").at(-1) ?? "")}:${of(child)}`,
    );
    const key = [...new Set(parts)].sort().join(" ");
    if (!known.has(key)) known.set(key, known.size);
    return (result[node] = known.get(key) ?? 0);
  };
  modules.forEach((_, node) => of(node));
  return result;
}

/** Of A: less is about the same, and more stands out. */
const LITTLE = 0.02;
const MUCH = 0.3;

/** Where all work changed by more than that, what did so by as much stands out: else one colour would be everywhere. */
const muchIn = (whole: number): number => Math.max(MUCH, Math.floor(whole * 100) / 100);

/** By how much a module takes more or less time than it did in the baseline; all work does so by `whole`. */
export function byChange(changeOf: ComparedModules["changeOf"], whole: number): Colouring {
  const [less, more] = [muchIn(-whole), muchIn(whole)];
  const from = (much: number): string =>
    `by ${formatCount(Math.round(100 * much))} % and more${much > MUCH ? ", like all work" : ""}`;
  return {
    label: "Change",
    about: "Kernel time of B over that of A",
    legend: [
      ["muchLess", `less time, ${from(less)}`],
      ["less", "less"],
      ["none", "within 2 %"],
      ["more", "more"],
      ["muchMore", `more time, ${from(more)}`],
    ],
    of: (row) => {
      const { a_ns: a, b_ns: b } = changeOf(row);
      const change = (b - a) / Math.max(a, 1);
      if (Math.abs(change) < LITTLE) return "none";
      if (change < 0) return change <= -less ? "muchLess" : "less";
      return change >= more ? "muchMore" : "more";
    },
  };
}
