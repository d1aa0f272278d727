/** The tree of groups as a view shows it: which levels are open, what is filtered, folded and selected; all of it in the URL. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { fetchGroups } from "../../api/client";
import type { GroupsResponse } from "../../api/types";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useCauses } from "../../frame/use_causes";
import { useQuery, type Query } from "../../frame/use_query";
import { buildTree, keep, Rows } from "../../model/group_tree";
import type { TreeRow } from "../../model/tree_row";
import { chainOf, deepestOf, openedFirst, type Measure, type Screen } from "../../model/tree_values";
import { pathMatcher } from "../../model/path_filter";
import { shortHash } from "../../model/short_hash";

const MOST_NODES = 10_000;

export interface GroupTree {
  rows: Rows;
  /** The same, whatever the order: what does not care for it is drawn again only where the rows are others. */
  unordered: Rows;
  /** The same, folded and not filtered: what sentences say depends on neither. */
  folded: Rows;
  /** Of the whole model, also where a group is shown alone. */
  whole: (measure: Measure) => number;
  /** Nodes of the profile that were not sent. */
  leftOut: number;
  /** Ops without GPU time, and whether the user wants them shown; null where that is no choice. */
  timeless: { ops: number; shown: boolean } | null;
  /** What was not recorded, without which nothing tells what rows could gain. */
  missing: GroupsResponse["missing"];
  selected: TreeRow | null;
  /** Levels that the user asked to open; null where the rows with most time are open. */
  level: number | null;
  deepest: number;
  fold: boolean;
  sort: string;
  filter: string;
  /** The path of the group that is shown alone; empty for the whole tree. */
  root: string;
  isOpen: (row: TreeRow) => boolean;
  /** Whether a drawing shows one by one what takes little below the row. */
  showsSmall: (row: TreeRow) => boolean;
  showSmall: (row: TreeRow) => void;
  /** Opens a row, or closes it. */
  toggle: (row: TreeRow) => void;
  /** Opens all rows above it, and selects it. */
  select: (row: TreeRow) => void;
  setLevel: (level: number) => void;
  setFold: (fold: boolean) => void;
  change: (values: Readonly<Record<string, string | null>>) => void;
}

const timelessOps = ({ op_id: ops, gpu_time_ns: times }: GroupsResponse["nodes"]): number =>
  ops.filter((op, node) => op !== null && (times[node] ?? 0) === 0).length;

const wholeOf = ({ nodes }: GroupsResponse, measure: Measure): number =>
  nodes.parent.reduce((sum, parent, node) => sum + (parent < 0 ? (nodes[measure][node] ?? 0) : 0), 0);

const hashOfSmall = (key: string): string => shortHash(`small ${key}`);

/** With the name under which the state is kept in the URL, and what may be open at first: the same object every time. */
export function useGroupTree(
  name: string,
  screen: Screen,
): {
  tree: GroupTree | null;
  query: Query<GroupsResponse>;
} {
  const scope = useScope();
  const root = useUrl()[`${name}.root`] ?? "";
  const all = useQuery(scopeKey(scope), (signal) => fetchGroups(scope, "", MOST_NODES, signal));
  const part = useQuery(root === "" ? null : scopeKey(scope, root), (signal) =>
    fetchGroups(scope, root, MOST_NODES, signal),
  );
  const query = root === "" ? all : { ...part, data: part.data ?? all.data, error: part.error ?? all.error };
  const { data, reload } = query;
  useCauses(data !== null && data.causes === null, reload);
  const tree = useTree(name, screen, data, scope.iterations / scope.summed, all.data);
  useRevealed(tree);
  return { tree, query };
}

/** What was selected in another view of the tree may lie below what is closed here. */
function useRevealed(tree: GroupTree | null): void {
  const isShown = useRef(false);
  useLayoutEffect(() => {
    if (tree === null || isShown.current) return;
    isShown.current = true;
    const { selected } = tree;
    if (selected !== null && !chainOf(selected.parent).every(tree.isOpen)) tree.select(selected);
  }, [tree]);
}

/** The same of groups that are known, which may be a part of `all`: by how many iterations their times are divided. */
export function useTree(
  name: string,
  screen: Screen,
  data: GroupsResponse | null,
  dividedBy: number,
  all: GroupsResponse | null = data,
): GroupTree | null {
  const url = useUrl();
  const root = url[`${name}.root`] ?? "";
  const filter = url[`${name}.filter`] ?? "";
  const hasGpuTime = data?.nodes.gpu_time_ns.some((time) => (time ?? 0) > 0) !== false;
  const sort = url[`${name}.sort`] ?? (hasGpuTime ? "-gpu_time_ns" : "-cpu_time_ns");
  const fold = (url[`${name}.fold`] ?? "yes") === "yes";

  const tree = useMemo(
    () => (data === null ? null : buildTree(data.nodes, data.group, data.causes ?? [], dividedBy)),
    [data, dividedBy],
  );
  const made = useMemo(() => {
    if (tree === null) return null;
    const visible = filter.trim() === "" ? null : keep(tree, pathMatcher(filter));
    return new Rows(tree, { sort: "", fold, visible: visible });
  }, [tree, filter, fold]);
  // What is looked for or selected is shown, whether it takes time or not.
  const selected = made?.find(url[`${name}.row`] ?? "") ?? null;
  const isChoice = hasGpuTime && filter.trim() === "" && (selected === null || selected.values.gpu_time_ns > 0);
  const showsAll = url[`${name}.all`] === "yes" || !isChoice;
  const unordered = useMemo(() => made?.leavingOut(showsAll ? null : "gpu_time_ns") ?? null, [made, showsAll]);
  const timeless = useMemo(() => (tree === null ? 0 : timelessOps(tree.nodes)), [tree]);
  const rows = useMemo(() => unordered?.inOrder(sort) ?? null, [unordered, sort]);
  const folded = useMemo(
    () =>
      unordered === null || tree === null || (fold && filter.trim() === "")
        ? unordered
        : new Rows(tree, { sort: "", fold: true, visible: null, without: unordered.options.without ?? null }),
    [tree, unordered, fold, filter],
  );
  const deepest = useMemo(() => (unordered === null ? 1 : deepestOf(unordered)), [unordered]);
  const first = useMemo(
    () => (unordered === null ? new Set<string>() : openedFirst(unordered, screen)),
    [unordered, screen],
  );

  const asked = Number(url[`${name}.level`]);
  const level = Number.isInteger(asked) && asked >= 1 ? Math.min(asked, deepest) : null;
  const hashes = url[`${name}.toggled`] ?? "";
  // The same function until something is opened or closed: what is worked out with it is kept as long.
  const isOpen = useMemo(() => {
    const toggled = new Set(hashes.split(".").filter(Boolean));
    return (row: TreeRow): boolean =>
      ((level === null ? first.has(row.key) : row.depth < level) || rows?.holdsMatch(row) === true) !==
      toggled.has(shortHash(row.key));
  }, [rows, level, first, hashes]);

  if (unordered === null || folded === null || rows === null || data === null || all === null) return null;

  const change = (values: Readonly<Record<string, string | null>>): void =>
    navigate(Object.fromEntries(Object.entries(values).map(([key, value]) => [`${name}.${key}`, value])));
  const flippedHashes = (which: readonly string[]): string => {
    const next = new Set(hashes.split(".").filter(Boolean));
    for (const hash of which) if (!next.delete(hash)) next.add(hash);
    return [...next].join(".");
  };
  const flipped = (which: readonly TreeRow[]): string => flippedHashes(which.map(({ key }) => shortHash(key)));

  return {
    rows,
    unordered,
    folded,
    whole: (measure) => wholeOf(all, measure) / dividedBy,
    leftOut: data.left_out,
    missing: data.missing,
    timeless: isChoice && timeless > 0 ? { ops: timeless, shown: showsAll } : null,
    selected: rows.find(url[`${name}.row`] ?? ""),
    level,
    deepest,
    fold,
    sort,
    filter,
    root,
    isOpen,
    showsSmall: ({ key }) => level !== null || filter.trim() !== "" || hashes.split(".").includes(hashOfSmall(key)),
    showSmall: ({ key }) => change({ toggled: flippedHashes([hashOfSmall(key)]), place: null }),
    toggle: (row) => change({ toggled: flipped([row]), place: null }),
    select: (asked) => {
      // The row of a sentence may be folded where those on screen are not.
      const row = rows.find(asked.key) ?? rows.rowOf(asked.members[0] ?? 0) ?? asked;
      const closed: TreeRow[] = [];
      for (let up = row.parent; up !== null; up = up.parent) if (!isOpen(up)) closed.push(up);
      change({ row: row.key, ...(closed.length > 0 ? { toggled: flipped(closed) } : {}) });
    },
    setLevel: (to) => change({ level: String(to), toggled: null, place: null }),
    setFold: (to) => {
      // The selected row is another one then; what it stands for stays selected.
      const node = rows.find(url[`${name}.row`] ?? "")?.members[0];
      const then = new Rows(rows.tree, { ...rows.options, fold: to });
      const row = node === undefined ? null : then.rowOf(node);
      change({ fold: to ? null : "no", row: row?.key ?? null });
    },
    change,
  };
}
