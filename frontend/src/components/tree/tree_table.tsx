/**
 * The tree as a table. Only rows in view are drawn, so that thousands of them scroll smoothly.
 *
 * Keyboard: up and down walk over the rows and, from the first, up to the head, right opens a row or goes to its first child, left closes it or goes to its parent, Enter
 * or Space selects, Esc undoes that, Home and End go to the first and last row.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { columnUnit, type TimeUnit } from "../../format/time";
import { useScope } from "../../frame/scope";
import { useBaseline } from "../../frame/use_baseline";
import { changeOf, changesOf, isPaired, type Change } from "../../model/comparison";
import { shortUnit } from "../../model/resources";
import { PART_NOTE } from "../../model/rated";
import { gainsUntold, knownGains } from "../../model/waste";
import type { TreeRow } from "../../model/tree_row";
import {
  chainOf,
  isRated,
  isShare,
  leastOf,
  isWithoutShare,
  limitedNs,
  mayBeMoreTime,
  mayGainMore,
  nothingShown,
  SHARES,
  timeOf,
  type Measure,
} from "../../model/tree_values";
import { Icon } from "../icon";
import { useCached } from "../use_cached";
import { Timeless } from "./timeless";
import { barOf, NameCell, ValueCell } from "./tree_cells";
import {
  columnsFor,
  COMPARED,
  fittingColumns,
  isOfBoth,
  isTime,
  nextSort,
  widthOf,
  type TreeColumn,
} from "./tree_columns";
import type { GroupTree } from "./use_group_tree";
import { walk } from "../walking";

const ROW_HEIGHT = 28;
/** Rows drawn beyond those in view. */
const MARGIN = 12;

interface TreeTableProps {
  tree: GroupTree;
  matrixUnit: string;
  /** The change of a row, where rows are compared and nothing else. */
  compared?: (row: TreeRow) => Change;
}

export function TreeTable({ tree, matrixUnit, compared }: TreeTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, width: 1200 });
  const { onGpu, summed } = useScope();
  const [focus, setFocus] = useState<string | null>(null);
  const wantsFocus = useRef(false);
  const { rows, isOpen } = tree;
  // Changes between different programs tell nothing.
  const { data } = useBaseline();
  const baseline = data?.same_program === true ? data : null;
  const hasBaseline = baseline !== null;
  // In another order than that of their time, and beside a baseline, those that take least may be what is looked for.
  const isRanked = ["-gpu_time_ns", "-cpu_time_ns", "-gpu_share", "-cpu_share"].includes(tree.sort);
  const hides = isRanked && tree.fold && tree.timeless?.shown !== true && compared === undefined && !hasBaseline;
  const least = useMemo(() => {
    const { by, whole } = timeOf(rows.roots);
    const chosen = new Set(chainOf(tree.selected));
    return (row: TreeRow): readonly TreeRow[] =>
      !hides || tree.showsSmall(row) ? [] : leastOf(rows.below(row), by, whole).filter((each) => !chosen.has(each));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `showsSmall` changes with `isOpen`
  }, [rows, isOpen, hides, tree.selected]);
  const shown = useMemo(() => rows.visible(isOpen, least), [rows, isOpen, least]);
  const head = useRef<HTMLTableRowElement>(null);
  const changes = useMemo(() => (baseline === null ? null : changesOf(baseline)), [baseline]);
  const paired = useMemo(
    () => changes === null || compared !== undefined || isPaired(changes, tree.rows.tree),
    [changes, compared, tree.rows.tree],
  );
  const total = (measure: Measure): number => tree.rows.roots.reduce((sum, row) => sum + row.values[measure], 0);
  const own = columnsFor(matrixUnit, shortUnit(matrixUnit), {
    limited: tree.rows.roots.reduce((sum, row) => sum + limitedNs(row), 0) / Math.max(total("kernel_time_ns"), 1),
    onGpu,
    summed: summed > 1,
    rated: onGpu && isRated(tree.rows.tree),
    change: paired ? (baseline?.per ?? null) : null,
  });
  const all = compared === undefined ? own : COMPARED;
  const totalled = (key: TreeColumn["key"]): Measure =>
    isTime(key) ? key : isShare(key) ? SHARES[key] : "gpu_time_ns";
  // A column of which every row would say the same says it once, below.
  const isNothing = ({ key, tier }: TreeColumn): boolean =>
    tree.sort.replace("-", "") !== key &&
    (key === "share"
      ? tree.rows.roots.every(isWithoutShare)
      : tier !== undefined && tree.rows.roots.every(({ values }) => values[key as Measure] === 0));
  const isUntold = ({ key }: TreeColumn): boolean =>
    tree.rows.roots.some((row) => (key === "share" ? mayBeMoreTime(row) : row.unknown.has(key as Measure)));
  const none = all.filter(isNothing);
  const nothing = none.filter((column) => !isUntold(column)).map(({ label }) => label);
  const untoldIn = none.filter(isUntold).map(({ label }) => label);
  const some = all.filter((column) => !isNothing(column));
  const columns = fittingColumns(some, tree.sort, view.width);
  const leftOut = some.filter((column) => !columns.includes(column)).map(({ label }) => label);
  // Times of the GPU have one unit, so that a gain is compared with the time that it is a part of; those of the host another.
  const ofGpu = columnUnit(total("gpu_time_ns"));
  const ofHost = columnUnit(total("cpu_time_ns"));
  const unitOf = (key: string): TimeUnit | undefined =>
    isShare(key)
      ? undefined
      : key.startsWith("cpu_")
        ? ofHost
        : key === "limited" || ["a", "b", "change"].includes(key) || key.endsWith("_ns")
          ? ofGpu
          : undefined;
  const known = useMemo(() => knownGains(tree.folded), [tree.folded]);
  const untold = onGpu && compared === undefined ? gainsUntold(known, tree.missing[0]) : "";
  const hasPart = columns.some(({ key }) => key === "gain_ns") && shown.some(mayGainMore);
  const current = useRef(tree);
  current.current = tree;
  const keep = useCached([tree.unordered, matrixUnit, changes, columns.map(({ key }) => key).join(" ")]);
  const chain = new Set(chainOf(tree.selected));
  const focused = Math.max(
    shown.findIndex(({ key }) => key === (focus ?? tree.selected?.key)),
    0,
  );

  const from = Math.max(Math.floor(view.top / ROW_HEIGHT) - MARGIN, 0);
  const to = Math.min(Math.ceil((view.top + view.height) / ROW_HEIGHT) + MARGIN, shown.length);

  const hasMore = view.top + view.height < (shown.length + 1) * ROW_HEIGHT;

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const { scrollTop: top, clientHeight: height, clientWidth: width } = element;
      // A frame that is not shown has no width; the columns of before come back with it.
      setView((before) => ({ top, height, width: width > 0 ? width : before.width }));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, []);

  const bring = (index: number): void => {
    const element = scroller.current;
    if (element === null || index < 0) return;
    const head = element.querySelector("thead")?.offsetHeight ?? 0;
    const top = index * ROW_HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW_HEIGHT + head > element.scrollTop + element.clientHeight)
      element.scrollTop = top + ROW_HEIGHT + head - element.clientHeight;
    // At once: the scroll event comes later, and a row that is not drawn cannot take the focus.
    setView((before) => ({ ...before, top: element.scrollTop, height: element.clientHeight }));
  };

  // What was selected elsewhere, in the icicle for instance, comes into view.
  const selectedKey = tree.selected?.key;
  useLayoutEffect(() => {
    if (selectedKey === undefined) return;
    setFocus(null);
    bring(shown.findIndex(({ key }) => key === selectedKey));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when another row is selected
  }, [selectedKey]);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    scroller.current?.querySelector<HTMLElement>('tr[tabindex="0"]')?.focus({ preventScroll: true });
  });

  const move = (index: number): void => {
    const row = shown[Math.min(Math.max(index, 0), shown.length - 1)];
    if (row === undefined) return;
    wantsFocus.current = true;
    setFocus(row.key);
    bring(shown.indexOf(row));
  };
  const onKey = (event: KeyboardEvent): void => {
    const row = shown[focused];
    if (row === undefined) return;
    const page = Math.max(Math.floor(view.height / ROW_HEIGHT) - 2, 1);
    if (event.key === "ArrowDown") move(focused + 1);
    else if (event.key === "ArrowUp" && focused === 0) head.current?.querySelector("button")?.focus();
    else if (event.key === "ArrowUp") move(focused - 1);
    else if (event.key === "PageDown") move(focused + page);
    else if (event.key === "PageUp") move(focused - page);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(shown.length - 1);
    else if (event.key === "ArrowRight") {
      if (row.expandable && !tree.isOpen(row)) tree.toggle(row);
      else if (row.expandable) move(focused + 1);
    } else if (event.key === "ArrowLeft") {
      if (row.expandable && tree.isOpen(row)) tree.toggle(row);
      else if (row.parent !== null) move(shown.indexOf(row.parent));
    } else if (event.key === "Enter" || event.key === " ") {
      setFocus(row.key);
      wantsFocus.current = true;
      tree.select(row);
    } else if (event.key === "Escape" && tree.selected !== null) {
      setFocus(row.key);
      wantsFocus.current = true;
      tree.change({ row: null });
    } else return;
    event.preventDefault();
  };

  const onHeadKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") move(0);
    else walk(event);
  };

  return (
    <div class="tree-main">
      <div class={hasMore ? "tree-scroll has-more" : "tree-scroll"} ref={scroller}>
        <table
          role="treegrid"
          aria-label="Groups of ops"
          aria-rowcount={shown.length + 1}
          class="tree-table"
          style={{ minWidth: `${columns.reduce((sum, { key }) => sum + widthOf(key, view.width), 0)}px` }}
        >
          <colgroup>
            {columns.map(({ key }) => (
              <col key={key} style={key === "name" ? {} : { width: `${widthOf(key, view.width)}px` }} />
            ))}
          </colgroup>
          <thead>
            <tr ref={head} onKeyDown={onHeadKey}>
              {columns.map(({ key, label, about }) => {
                const unit = unitOf(key);
                const title = unit === undefined ? label : `${label} (${unit.name})`;
                if (isOfBoth(key))
                  return (
                    <th scope="col" key={key} class="right" data-tip={about}>
                      {title}
                    </th>
                  );
                const sorted = tree.sort === key ? "ascending" : tree.sort === `-${key}` ? "descending" : "none";
                return (
                  <th
                    scope="col"
                    key={key}
                    class={key === "name" || key === "limited" ? "" : "right"}
                    aria-sort={sorted}
                  >
                    <button
                      type="button"
                      class="sort-button"
                      tabIndex={-1}
                      data-tip={`${about}\nSorts within each level.`}
                      onClick={() => tree.change({ sort: nextSort(tree.sort, key) })}
                    >
                      <span class="sort-label">{title}</span>
                      <span class={sorted === "none" ? "sort-arrow idle" : "sort-arrow"}>
                        <Icon name={sorted === "ascending" ? "up" : "down"} />
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody onKeyDown={onKey}>
            {from > 0 && <tr aria-hidden="true" style={{ height: `${from * ROW_HEIGHT}px` }} />}
            {shown.slice(from, to).map((row, i) => {
              const stop = from + i === focused;
              const left = row.expandable && isOpen(row) ? least(row) : [];
              const look = `${from + i} ${stop} ${isOpen(row)} ${chain.has(row)} ${row === tree.selected} ${left.length}`;
              return keep(row.key, look, () => (
                <tr
                  key={row.key}
                  class={`tree-row${chain.has(row) ? " in-chain" : ""}${tree.rows.isMatch(row) ? " match" : ""}`}
                  role="row"
                  aria-level={row.depth}
                  aria-expanded={row.expandable ? isOpen(row) : undefined}
                  aria-selected={row === tree.selected}
                  aria-rowindex={from + i + 2}
                  tabIndex={stop ? 0 : -1}
                  onClick={() => {
                    setFocus(row.key);
                    current.current.select(row);
                  }}
                >
                  <td role="gridcell">
                    <NameCell
                      row={row}
                      open={isOpen(row)}
                      onToggle={() => current.current.toggle(row)}
                      least={left}
                      onShow={() => current.current.showSmall(row)}
                    />
                  </td>
                  {columns.slice(1).map(({ key, label }) => (
                    <td
                      role="gridcell"
                      key={key}
                      class={key === "limited" ? "" : key === "share" ? "right bar-cell bar-plain" : "right bar-cell"}
                      style={{ "--bar": barOf(row, key, tree.whole(totalled(key))) }}
                    >
                      <ValueCell
                        row={row}
                        column={key}
                        label={label}
                        matrixUnit={matrixUnit}
                        unit={unitOf(key)}
                        total={tree.whole(totalled(key))}
                        change={compared?.(row) ?? (changes === null ? null : changeOf(changes, tree.rows.tree, row))}
                      />
                    </td>
                  ))}
                </tr>
              ));
            })}
            {to < shown.length && <tr aria-hidden="true" style={{ height: `${(shown.length - to) * ROW_HEIGHT}px` }} />}
          </tbody>
        </table>
        {shown.length === 0 && <p class="nothing">{nothingShown(tree.filter)}</p>}
      </div>
      {(leftOut.length > 0 || none.length > 0 || !paired || tree.timeless !== null || untold !== "" || hasPart) && (
        <p class="tree-narrow">
          <Timeless tree={tree} />
          {hasPart && <span>{PART_NOTE}</span>}
          {untold !== "" && <span>{untold}</span>}
          {!paired && <span>None of these is paired with the baseline.</span>}
          {nothing.length > 0 && <span>0 in all rows: {nothing.join(", ")}.</span>}
          {untoldIn.length > 0 && <span>0 or not known in all rows: {untoldIn.join(", ")}.</span>}
          {leftOut.length > 0 && <span>Wider pages show more: {leftOut.join(", ")}.</span>}
        </p>
      )}
    </div>
  );
}
