/**
 * The tree as a table. Only rows in view are drawn, so that thousands of them scroll smoothly.
 *
 * Keyboard: up and down walk over the rows, right opens a row or goes to its first child, left closes it or goes to its parent, Enter
 * or Space selects, Esc undoes that, Home and End go to the first and last row.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { formatCount } from "../../format/number";
import { useScope } from "../../frame/scope";
import { useBaseline } from "../../frame/use_baseline";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, inUnit, readableAndExact, unitsBeside, type TimeUnit } from "../../format/time";
import { causesTip } from "../../model/causes";
import { fitting } from "../../model/column_fit";
import { arrowOf, changeOf, changesOf, directionOf, signedDuration, type Change } from "../../model/comparison";
import { splitNumber } from "../../model/folding";
import {
  chainOf,
  isRated,
  limitedNs,
  mayBeMoreOps,
  nothingShown,
  usingShare,
  type Measure,
  type TreeRow,
} from "../../model/group_tree";
import { shortUnit } from "../../model/resources";
import { boundOf } from "../../model/shades";
import { Icon } from "../icon";
import { useKept } from "../use_kept";
import type { GroupTree } from "./use_group_tree";

interface TreeColumn {
  key: "name" | "share" | "limited" | "gpu_share" | "bound" | "change" | Measure;
  label: string;
  about: string;
  /** Where the page is too narrow for all, a higher one is left out first. */
  tier?: number;
}

const ROW_HEIGHT = 28;
/** Rows drawn beyond those in view. */
const MARGIN = 12;

/** Without GPU work in the recording it is not known which ops use the units, and how long they take on a GPU. */
const columnsFor = (
  unit: string,
  core: string,
  has: { limited: boolean; onGpu: boolean; rated: boolean; change: boolean },
): TreeColumn[] => {
  const { limited, onGpu, rated } = has;
  const always = (column: TreeColumn): TreeColumn[] => [column];
  const withGpu = (column: TreeColumn): TreeColumn[] => (onGpu ? [column] : []);
  return [
    ...always({
      key: "name",
      label: "Module",
      about: "Levels of the model: modules and name scopes, their ops at the end.",
    }),
    ...withGpu({ key: "gpu_share", label: "Share", about: "GPU time over that of the whole model." }),
    ...withGpu({
      key: "gpu_time_ns",
      label: "GPU Time",
      about: "Time in which kernels, copies and sets of the ops were running.",
    }),
    ...(has.change
      ? ([
          {
            key: "change",
            label: "Change",
            about: "Kernel time of an iteration less that of the baseline A, of modules that both have.",
          },
        ] as const)
      : []),
    ...(rated
      ? ([
          {
            key: "gain_ns",
            label: "Could Gain",
            about: "Kernel time less the time that it would take at the GPU's published rates.",
          },
          { key: "bound", label: "Bound by", about: "What limits most of the kernel time: compute or memory." },
        ] as const)
      : []),
    ...withGpu({
      key: "share",
      label: "Share of Eligible",
      about: `Ops using ${unit}s over eligible ops; an op that uses them counts as eligible.`,
    }),
    ...(limited
      ? ([
          {
            key: "limited",
            label: "Limited by",
            about: `Why eligible ops below do not use ${unit}s, or not well: the cause with the most kernel time, and that time.`,
          },
        ] as const)
      : []),
    ...always({ key: "calls", label: "Calls", about: "Calls of the ops below.", tier: 1 }),
    ...always({
      key: "eligible_ops",
      label: `${core} Eligible`,
      about: `Ops below that could use ${unit}s.`,
      tier: onGpu ? 1 : 0,
    }),
    ...withGpu({
      key: "using_ops",
      label: `Using ${core}`,
      about: `Ops below of which at least one kernel uses ${unit}s.`,
      tier: 1,
    }),
    ...always({
      key: "cpu_time_ns",
      label: "CPU Time",
      about: "Time that the calls took on the CPU.",
      tier: onGpu ? 2 : 0,
    }),
    ...always({
      key: "cpu_overhead_ns",
      label: "CPU Overhead",
      about: "CPU time of the calls without the time in CUDA calls.",
      tier: 2,
    }),
    ...withGpu({
      key: "gpu_idle_ns",
      label: "GPU Idle",
      about: "Time within the calls' work on the GPU in which none of it was running.",
      tier: 2,
    }),
  ];
};

const isTime = (key: TreeColumn["key"]): key is Measure => key.endsWith("_ns");

/** In CSS pixels; names take what is left, and need at least this, or all that a very narrow page has beside the time. */
const OWN_WIDTH: Readonly<Record<string, number>> = {
  name: 200,
  share: 86,
  limited: 160,
  gpu_share: 78,
  bound: 86,
  change: 96,
};
const TIME_WIDTH = 104;
function widthOf(key: TreeColumn["key"], available: number): number {
  const width = OWN_WIDTH[key] ?? (isTime(key) ? TIME_WIDTH : 72);
  return key === "name" ? Math.min(width, available - TIME_WIDTH) : width;
}

/** What the tree is read for stays however narrow the page is, and so does what it is sorted by. */
function fittingColumns(columns: readonly TreeColumn[], sort: string, available: number): TreeColumn[] {
  const kept = new Set(["name", "gpu_time_ns", sort.replace(/^-/, "")]);
  const shown = fitting(
    columns.map(({ key, tier = 0 }) => {
      const width = widthOf(key, available);
      return { key, least: width, whole: width, ideal: width, grows: key === "name", kept: kept.has(key), tier };
    }),
    available,
  );
  return columns.filter(({ key }) => shown.has(key));
}

function nextSort(current: string, key: string): string {
  if (current === `-${key}`) return key;
  if (current === key) return `-${key}`;
  return key === "name" || key === "bound" ? key : `-${key}`;
}

export function TreeTable({ tree, matrixUnit }: { tree: GroupTree; matrixUnit: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, width: 1200 });
  const { onGpu } = useScope();
  const [focus, setFocus] = useState<string | null>(null);
  const wantsFocus = useRef(false);
  const { rows, isOpen } = tree;
  const shown = useMemo(() => rows.visible(isOpen), [rows, isOpen]);
  const baseline = useBaseline();
  const changes = useMemo(() => changesOf(baseline.data?.modules ?? []), [baseline.data]);
  const all = columnsFor(matrixUnit, shortUnit(matrixUnit), {
    limited: tree.rows.tree.causes.length > 0,
    onGpu,
    rated: onGpu && isRated(tree.rows.tree),
    change: baseline.data !== null,
  });
  const columns = fittingColumns(all, tree.sort, view.width);
  const leftOut = all.filter((column) => !columns.includes(column)).map(({ label }) => label);
  const total = (measure: Measure): number => tree.rows.roots.reduce((sum, row) => sum + row.values[measure], 0);
  const units = unitsBeside(
    new Map(all.flatMap(({ key }): [string, number][] => (isTime(key) ? [[key, total(key)]] : []))),
  );
  const current = useRef(tree);
  current.current = tree;
  const keep = useKept([tree.unordered, matrixUnit, changes, columns.map(({ key }) => key).join(" ")]);
  const chain = new Set(chainOf(tree.selected));
  const focused = Math.max(
    shown.findIndex(({ key }) => key === (focus ?? tree.selected?.key)),
    0,
  );

  const from = Math.max(Math.floor(view.top / ROW_HEIGHT) - MARGIN, 0);
  const to = Math.min(Math.ceil((view.top + view.height) / ROW_HEIGHT) + MARGIN, shown.length);

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
      tree.change({ row: null, member: null });
    } else return;
    event.preventDefault();
  };

  return (
    <div class="tree-main">
      <div class="tree-scroll" ref={scroller}>
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
            <tr>
              {columns.map(({ key, label, about }) => {
                if (key === "change")
                  return (
                    <th scope="col" key={key} class="right" data-tip={about}>
                      {label}
                    </th>
                  );
                const unit = units.get(key);
                const sorted = tree.sort === key ? "ascending" : tree.sort === `-${key}` ? "descending" : "none";
                return (
                  <th scope="col" key={key} class={key === "name" ? "" : "right"} aria-sort={sorted}>
                    <button
                      type="button"
                      class="sort-button"
                      data-tip={`${about}\nSorts within each level.`}
                      onClick={() => tree.change({ sort: nextSort(tree.sort, key) })}
                    >
                      <span class="sort-label">{unit === undefined ? label : `${label} (${unit.name})`}</span>
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
              const look = `${from + i} ${stop} ${isOpen(row)} ${chain.has(row)} ${row === tree.selected}`;
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
                    <NameCell row={row} open={isOpen(row)} onToggle={() => current.current.toggle(row)} />
                  </td>
                  {columns.slice(1).map(({ key, label }) => (
                    <td
                      role="gridcell"
                      key={key}
                      class={key === "share" || key === "gpu_share" ? "right bar-cell bar-plain" : "right bar-cell"}
                      style={{ "--bar": barOf(row, key, total(isTime(key) ? key : "gpu_time_ns")) }}
                    >
                      <ValueCell
                        row={row}
                        column={key}
                        label={label}
                        matrixUnit={matrixUnit}
                        unit={units.get(key)}
                        total={total(isTime(key) ? key : "gpu_time_ns")}
                        change={changeOf(changes, tree.rows.tree, row)}
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
      {leftOut.length > 0 && <p class="tree-narrow">Wider pages show more: {leftOut.join(", ")}.</p>}
    </div>
  );
}

function NameCell({ row, open, onToggle }: { row: TreeRow; open: boolean; onToggle: () => void }) {
  const { expandable, members } = row;
  return (
    <span class="tree-name" style={{ paddingLeft: `${(row.depth - 1) * 16}px` }}>
      {expandable ? (
        <button
          type="button"
          tabIndex={-1}
          class="tree-toggle"
          aria-label={open ? `Collapse ${row.name}` : `Expand ${row.name}`}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Icon name={open ? "down" : "right"} />
        </button>
      ) : (
        <span class="tree-toggle" aria-hidden="true" />
      )}
      <span class={row.isOp ? "tree-label tree-op" : "tree-label"} data-tip={row.key}>
        <Label name={row.name} />
      </span>
      {members.length > 1 && (
        <span class="fold-count" data-tip={`${formatCount(members.length)} alike, added up`}>
          ×{formatCount(members.length)}
        </span>
      )}
      {row.missing > 0 && (
        <span
          class="fold-count"
          data-tip="Too many to show at once. Show this group alone, or see the table of its ops below."
        >
          {formatCount(row.missing)} more
        </span>
      )}
    </span>
  );
}

/** A name that is cut keeps its number. */
function Label({ name }: { name: string }) {
  const { head, number } = splitNumber(name);
  return (
    <>
      <span class="tree-head">{head}</span>
      {number}
    </>
  );
}

/** How much of its cell the bar behind a value fills, from 0 to 1. */
function barOf(row: TreeRow, column: TreeColumn["key"], total: number): number {
  if (column === "share") return usingShare(row) ?? 0;
  if (column === "gpu_share") return Math.min(shareOf(row.values.gpu_time_ns, total) ?? 0, 1);
  return isTime(column) && !row.unknown.has(column) ? Math.min(shareOf(row.values[column], total) ?? 0, 1) : 0;
}

interface ValueCellProps {
  row: TreeRow;
  column: TreeColumn["key"];
  label: string;
  matrixUnit: string;
  unit: TimeUnit | undefined;
  total: number;
  change: Change | null;
}

function ValueCell({ row, column, label, matrixUnit, unit, total, change }: ValueCellProps) {
  if (column === "limited") return <CauseCell row={row} matrixUnit={matrixUnit} />;
  if (column === "share") {
    const share = usingShare(row);
    if (share === null) return <span class="unknown">–</span>;
    const of = `${mayBeMoreOps(row) ? "At least " : ""}${formatCount(row.values.using_ops)} of ${formatCount(Math.max(row.values.eligible_ops, row.values.using_ops))} eligible ops`;
    return (
      <span class="number" data-tip={of}>
        {mayBeMoreOps(row) && share < 1 && "≥ "}
        {formatShare(share)}
      </span>
    );
  }
  if (column === "gpu_share") {
    const of = `${readableAndExact(row.values.gpu_time_ns)} of ${readableAndExact(total)}`;
    return (
      <span class="number" data-tip={of}>
        {formatShare(shareOf(row.values.gpu_time_ns, total))}
      </span>
    );
  }
  if (column === "change") return <ChangeCell change={change} />;
  if (column === "bound") return boundOf(row) === "" ? <span class="unknown">–</span> : <span>{boundOf(row)}</span>;
  if (column === "name") return null;
  if (row.unknown.has(column)) return <span class="unknown">–</span>;
  const value = row.values[column];
  if (unit === undefined)
    return (
      <span class={value === 0 ? "number muted" : "number"}>
        {column === "using_ops" && mayBeMoreOps(row) && "≥ "}
        {formatCount(value)}
      </span>
    );
  const ofAll = shareOf(value, total);
  const parent = row.parent?.values[column];
  const ofParent = parent === undefined ? null : shareOf(value, parent);
  return (
    <span
      class="number"
      data-tip={`${label}: ${readableAndExact(value)}\n${formatShare(ofAll)} of the whole${ofParent === null ? "" : `, ${formatShare(ofParent)} of the level above`}`}
    >
      {inUnit(value, unit)}
    </span>
  );
}

/** The change from the baseline, in words too. */
function ChangeCell({ change }: { change: Change | null }) {
  if (change === null) return <span class="unknown">–</span>;
  const ns = change.b_ns - change.a_ns;
  return (
    <span
      class={`number change-${directionOf(ns)}`}
      data-tip={`${formatDuration(change.a_ns)} → ${formatDuration(change.b_ns)}`}
    >
      {arrowOf(ns)} {signedDuration(ns)}
    </span>
  );
}

/** The main cause and its time; all causes on hover. */
function CauseCell({ row, matrixUnit }: { row: TreeRow; matrixUnit: string }) {
  const [main] = row.causes;
  if (main === undefined) return <span class="unknown">–</span>;
  return (
    <span class="cause-cell" data-tip={causesTip(row.causes, limitedNs(row), matrixUnit)}>
      <span class="cause-label">{main.label}</span>
      {row.causes.length > 1 && <span class="fold-count">+{row.causes.length - 1}</span>}
      <span class="number">{formatDuration(main.kernelNs)}</span>
    </span>
  );
}
