/** A row of the tree of groups and ops: which nodes it stands for, what it is called, and the sums of their numbers. */
import { formatCount } from "../format/number";
import type { Tree } from "./group_tree";
import { labelOf, UNASSOCIATED } from "./kernel_name";
import { MEASURES, type Measure } from "./tree_values";

export interface RowCause {
  label: string;
  kernelNs: number;
  ops: number;
}

export interface TreeRow {
  /** Names the row in the URL. A child's key begins with its parent's. */
  key: string;
  /** Nodes of the tree, more than one where they are folded. */
  members: readonly number[];
  parent: TreeRow | null;
  /** 1 for a root. */
  depth: number;
  name: string;
  /** The names of the groups that hold nothing but this op and are one row with it; empty for all others. */
  within: string;
  isOp: boolean;
  /**
   * What the row gathers that is no group of the server: all work, work of no op, or ops without a module in one direction. Null for
   * the others.
   */
  gathers: "all" | "no op" | "direction" | null;
  /** Of an op and a group of one name beside each other, which are counted apart: whether this is the op itself, or what is inside. */
  part: "itself" | "inside" | null;
  /** What is not known counts as nothing here; where nothing of it is known it is named in `unknown`. */
  values: Readonly<Record<Measure, number>>;
  unknown: ReadonlySet<Measure>;
  /** Why work of eligible ops below is not on matrix units, that with the most kernel time first. */
  causes: readonly RowCause[];
  /** Children that were not sent. */
  missing: number;
  expandable: boolean;
}

/** The path of a row as it is shown, with all numbers of what is folded: `/Net/Layer[0..23]/linear`. */
export function shownPath(row: TreeRow): string {
  const { parent, name, isOp, gathers } = row;
  if (parent === null) return row.key;
  if (gathers === "no op" || name.startsWith(UNASSOCIATED)) return name;
  const place = shownPath(parent);
  return gathers === "direction" ? place : `${place}${name}${isOp || name.endsWith("/") ? "" : "/"}`;
}

/** The name of a row where there is no room for its path; of two that are counted apart, which it is. */
export const rowLabel = ({ name, part }: Pick<TreeRow, "name" | "part">): string =>
  `${labelOf(name)}${part === null ? "" : ` (${part})`}`;

/** The same with the number of rows that it stands for. */
export const countedLabel = (row: TreeRow): string =>
  `${rowLabel(row)}${row.gathers === null && row.members.length > 1 ? ` ×${formatCount(row.members.length)}` : ""}`;

/** What tells why a row and another one of its name are counted apart; empty where there is none. */
export const partTip = ({ part }: TreeRow): string =>
  part === null
    ? ""
    : part === "itself"
      ? "\nIts own work; what is inside it is a row beside it, as DLProf counts"
      : "\nWhat is inside it; its own work is a row beside it, as DLProf counts";

export const at = <T>(list: readonly T[], index: number): T => list[index] as T;

export function summed(values: readonly (number | null)[], members: readonly number[]): number {
  let sum = 0;
  for (const node of members) sum += at(values, node) ?? 0;
  return sum;
}

const NOTHING_UNKNOWN: ReadonlySet<Measure> = new Set();

/** Whether the measure grows with the number of iterations, unlike numbers of ops. */
const isOfIterations = (measure: Measure): boolean => measure === "calls" || measure.endsWith("_ns");

/** All of a row but its numbers. */
export type OwnOfRow = Omit<TreeRow, "values" | "unknown" | "causes">;

/** A row whose numbers are added up when they are first asked for: of thousands, few are ever seen. */
export class Row implements TreeRow {
  readonly key: string;
  readonly members: readonly number[];
  readonly parent: TreeRow | null;
  readonly depth: number;
  readonly name: string;
  readonly within: string;
  readonly isOp: boolean;
  readonly gathers: TreeRow["gathers"];
  readonly part: TreeRow["part"];
  readonly missing: number;
  readonly expandable: boolean;
  readonly #tree: Tree;
  #values: Record<Measure, number> | null = null;
  #unknown: ReadonlySet<Measure> | null = null;
  #causes: readonly RowCause[] | null = null;

  constructor(tree: Tree, own: OwnOfRow) {
    this.#tree = tree;
    this.key = own.key;
    this.members = own.members;
    this.parent = own.parent;
    this.depth = own.depth;
    this.name = own.name;
    this.within = own.within;
    this.isOp = own.isOp;
    this.gathers = own.gathers;
    this.part = own.part;
    this.missing = own.missing;
    this.expandable = own.expandable;
  }

  get values(): Readonly<Record<Measure, number>> {
    if (this.#values === null) {
      const values = {} as Record<Measure, number>;
      const { nodes, iterations } = this.#tree;
      for (const measure of MEASURES)
        values[measure] = summed(nodes[measure], this.members) / (isOfIterations(measure) ? iterations : 1);
      this.#values = values;
    }
    return this.#values;
  }

  get unknown(): ReadonlySet<Measure> {
    if (this.#unknown === null) {
      const { nodes } = this.#tree;
      const unknown = MEASURES.filter(
        (measure) =>
          this.values[measure] === 0 && this.members.some((node) => at<number | null>(nodes[measure], node) === null),
      );
      this.#unknown = unknown.length === 0 ? NOTHING_UNKNOWN : new Set(unknown);
    }
    return this.#unknown;
  }

  get causes(): readonly RowCause[] {
    this.#causes ??= this.#tree.causes
      .map(({ label, kernel_ns: time, ops }) => ({
        label,
        kernelNs: summed(time, this.members) / this.#tree.iterations,
        ops: summed(ops, this.members),
      }))
      .filter((cause) => cause.ops > 0)
      .sort((one, other) => other.kernelNs - one.kernelNs);
    return this.#causes;
  }
}
