/** The tree of groups as a view shows it: which levels are open, what is filtered, folded and selected; all of it in the URL. */
import { useMemo } from "preact/hooks";

import { fetchGroups } from "../../api/client";
import type { GroupsResponse } from "../../api/types";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useCauses } from "../../frame/use_causes";
import { useQuery, type Query } from "../../frame/use_query";
import { buildTree, keep, Rows, type TreeRow } from "../../model/group_tree";
import { levels, openedFirst } from "../../model/tree_values";
import { pathMatcher } from "../../model/path_filter";
import { shortHash } from "../../model/short_hash";

const MOST_NODES = 10_000;

export interface GroupTree {
  rows: Rows;
  /** The same, whatever the order: what does not care for it is drawn again only where the rows are others. */
  unordered: Rows;
  /** Nodes of the profile that were not sent. */
  leftOut: number;
  /** Ops without GPU time, and whether the user wants them shown; null where that is no choice. */
  timeless: { ops: number; shown: boolean } | null;
  /** What was not recorded, without which nothing tells what rows could gain. */
  missing: GroupsResponse["missing"];
  selected: TreeRow | null;
  /** Levels that are open by default. */
  level: number;
  /** Whether the rows with most time are open, not all down to a level. */
  byTime: boolean;
  deepest: number;
  fold: boolean;
  sort: string;
  filter: string;
  /** The path of the group that is shown alone; empty for the whole tree. */
  root: string;
  isOpen: (row: TreeRow) => boolean;
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

/**
 * @param name under which the state is kept in the URL
 * @param screen rows that may be open at first
 * @param deepest of a drawing: the rows with most time are opened down to this level, not whole levels
 */
export function useGroupTree(
  name: string,
  screen: number,
  deepest: number | null = null,
): {
  tree: GroupTree | null;
  query: Query<GroupsResponse>;
} {
  const scope = useScope();
  const url = useUrl();
  const root = url[`${name}.root`] ?? "";
  const query = useQuery(scopeKey(scope, root), (signal) => fetchGroups(scope, root, MOST_NODES, signal));
  const { data, reload } = query;
  useCauses(data !== null && data.causes === null, reload);
  const filter = url[`${name}.filter`] ?? "";
  const hasGpuTime = data?.nodes.gpu_time_ns.some((time) => (time ?? 0) > 0) !== false;
  const sort = url[`${name}.sort`] ?? (hasGpuTime ? "-gpu_time_ns" : "-cpu_time_ns");
  const fold = (url[`${name}.fold`] ?? "yes") === "yes";

  const tree = useMemo(() => (data === null ? null : buildTree(data.nodes, data.group, data.causes ?? [])), [data]);
  const all = useMemo(() => {
    if (tree === null) return null;
    const visible = filter.trim() === "" ? null : keep(tree, pathMatcher(filter));
    return new Rows(tree, { sort: "", fold, visible: visible });
  }, [tree, filter, fold]);
  // What is looked for or selected is shown, whether it takes time or not.
  const selected = all?.find(url[`${name}.row`] ?? "") ?? null;
  const isChoice = hasGpuTime && filter.trim() === "" && (selected === null || selected.values.gpu_time_ns > 0);
  const showsAll = url[`${name}.all`] === "yes" || !isChoice;
  const unordered = useMemo(() => all?.leavingOut(showsAll ? null : "gpu_time_ns") ?? null, [all, showsAll]);
  const timeless = useMemo(() => (tree === null ? 0 : timelessOps(tree.nodes)), [tree]);
  const rows = useMemo(() => unordered?.inOrder(sort) ?? null, [unordered, sort]);
  const opened = useMemo(
    () => (unordered === null ? { deepest: 1, fitting: 1 } : levels(unordered, screen)),
    [unordered, screen],
  );

  const first = useMemo(
    () => (unordered === null || deepest === null ? null : openedFirst(unordered, screen, deepest)),
    [unordered, screen, deepest],
  );

  const asked = Number(url[`${name}.level`]);
  const isAsked = Number.isInteger(asked) && asked >= 1;
  const level = isAsked ? Math.min(asked, opened.deepest) : opened.fitting;
  const byTime = isAsked ? null : first;
  const hashes = url[`${name}.toggled`] ?? "";
  // The same function until something is opened or closed: what is worked out with it is kept as long.
  const isOpen = useMemo(() => {
    const toggled = new Set(hashes.split(".").filter(Boolean));
    return (row: TreeRow): boolean =>
      ((byTime === null ? row.depth < level : byTime.has(row.key)) || rows?.holdsMatch(row) === true) !==
      toggled.has(shortHash(row.key));
  }, [rows, level, byTime, hashes]);

  if (unordered === null || rows === null || data === null) return { tree: null, query };

  const change = (values: Readonly<Record<string, string | null>>): void =>
    navigate(Object.fromEntries(Object.entries(values).map(([key, value]) => [`${name}.${key}`, value])));
  const flipped = (which: readonly TreeRow[]): string => {
    const next = new Set(hashes.split(".").filter(Boolean));
    for (const { key } of which) {
      const hash = shortHash(key);
      if (!next.delete(hash)) next.add(hash);
    }
    return [...next].join(".");
  };

  return {
    query,
    tree: {
      rows,
      unordered,
      leftOut: data.left_out,
      missing: data.missing,
      timeless: isChoice && timeless > 0 ? { ops: timeless, shown: showsAll } : null,
      selected: rows.find(url[`${name}.row`] ?? ""),
      level,
      byTime: byTime !== null,
      deepest: opened.deepest,
      fold,
      sort,
      filter,
      root,
      isOpen,
      toggle: (row) => change({ toggled: flipped([row]) }),
      select: (row) => {
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
    },
  };
}
