/** Widths of columns: by type, of short texts by what they say, by the room there is, and what the user dragged. */
import { useCallback, useRef, useState } from "preact/hooks";

import type { Column, ColumnType, TableResponse } from "../../api/types";
import { fitting, wholePairs, widthsIn, type ColumnSize } from "../../model/column_fit";
import { shortKernelName, splitPath } from "../../model/kernel_name";

/** Least and ideal width in CSS pixels; those of texts that can always use more room are marked. */
const SIZES: Record<ColumnType, { least: number; ideal: number; grows?: boolean }> = {
  text: { least: 84, ideal: 108 },
  long_text: { least: 160, ideal: 300, grows: true },
  kernel_name: { least: 240, ideal: 400, grows: true },
  path: { least: 220, ideal: 320, grows: true },
  integer: { least: 68, ideal: 84 },
  number: { least: 84, ideal: 92 },
  boolean: { least: 76, ideal: 84 },
  duration_ns: { least: 100, ideal: 112 },
  fraction: { least: 84, ideal: 92 },
  bytes: { least: 92, ideal: 104 },
};

/** Value, meter and percentage in one cell. */
const METER = { least: 210, ideal: 236 };

type Widths = Readonly<Record<string, number>>;

function stored(key: string): Widths {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, width]) => Number.isFinite(width)));
  } catch {
    return {};
  }
}

/** About what a letter takes, and a capital or an m more: measuring every cell would take longer than drawing it. */
const LETTER_WIDTH = 6.8;
const CODE_LETTER_WIDTH = 7.9;
const CAPITAL = 0.3;
const WIDE = 0.6;
const lettersOf = (text: string): number =>
  text.length + CAPITAL * (text.match(/[A-Z]/g)?.length ?? 0) + WIDE * (text.match(/[mw]/gi)?.length ?? 0);
const CELL_PADDING = 20;
const WIDEST_TEXT = 220;
/** For the end of a path, which tells rows apart, and for the whole of it, for which less important columns give way. */
const WIDEST_END = 280;
const WIDEST_PATH = 460;
/** Longer texts are cut before other columns are left out, except those that identify a row. */
const CUT_TEXT = 120;

const textWidth = (letters: number): number =>
  Math.min(Math.max(Math.ceil(letters * LETTER_WIDTH) + CELL_PADDING, SIZES.text.least), WIDEST_TEXT);

/**
 * How much of a narrow page what tells rows apart may claim before columns are left out for it, a path less, as its end tells most;
 * and what it takes to tell anything.
 */
const NAME_SHARE = 0.45;
const PATH_SHARE = 0.3;
const LEAST_NAME = 96;

/** Before the cause of idle time. */
const SWATCH = 16;

const BOLD_LETTER_WIDTH = 6.3;
const SORT_ARROW = 14;
const UNIT = " (ms)";

/** Of a label in one line, and in two, broken between words; only that of what rows are sorted by has its arrow in it. */
function labelWidths({ key, label, type }: Column, sort: string): { inOne: number; inTwo: number } {
  const text = type === "duration_ns" ? label + UNIT : label;
  const words = text.split(" ");
  const lines = words.map((_, i) =>
    Math.max(...[words.slice(0, i), words.slice(i)].map((line) => lettersOf(line.join(" ")))),
  );
  const widthOf = (letters: number): number =>
    Math.ceil(letters * BOLD_LETTER_WIDTH) + CELL_PADDING + (sort.replace("-", "") === key ? SORT_ARROW : 0);
  return { inOne: widthOf(lettersOf(text)), inTwo: widthOf(Math.min(...lines)) };
}

/** The column that identifies a row: the name of the kernel that it is about, else the path, else the table's own key. */
const namingColumn = (columns: readonly Column[], key: string): string =>
  (
    columns.find(({ type, tier }) => type === "kernel_name" && tier === 0) ??
    columns.find(({ type }) => type === "path")
  )?.key ?? key;

/** Names of kernels are of one width each. */
const letterWidth = ({ type }: Column): number => (type === "kernel_name" ? CODE_LETTER_WIDTH : LETTER_WIDTH);

export interface ColumnLayout {
  /** Those of the columns that fit; `needed` are in use, for order or as a filter, and stay. */
  fit: (columns: readonly Column[], needed: readonly string[]) => Column[];
  /** The width of each of the columns when they are shown together. */
  widths: (columns: readonly Column[]) => (column: Column) => number;
  setWidth: (column: string, width: number) => void;
}

/** How the columns of `table` share `available` pixels, with the rows of `data`. */
export function useColumnLayout(
  table: string,
  meters: Readonly<Record<string, string>>,
  data: TableResponse | null,
  available: number,
): ColumnLayout {
  const key = `dlprof.widths.${table}`;
  const [dragged, setDragged] = useState(() => stored(key));
  const setWidth = useCallback(
    (column: string, width: number) =>
      setDragged((before) => {
        const next = { ...before, [column]: width };
        try {
          localStorage.setItem(key, JSON.stringify(next));
        } catch {
          // Storage may be full or forbidden; the width still holds until the page is closed.
        }
        return next;
      }),
    [key],
  );
  // The longest text so far, so that columns only ever grow while the user turns pages.
  const letters = useRef(new Map<string, number>());
  const ofPaths = useRef(new Map<string, number>());
  for (const column of data?.columns.filter(({ type }) => type === "text" || type === "path") ?? [])
    for (const row of data?.rows ?? []) {
      const text = String(row[column.key] ?? "");
      // Of a path its last part, behind the sign that more stands before it.
      const length = lettersOf(column.type === "path" ? `…/${splitPath(text).name}` : text);
      if (length > (letters.current.get(column.key) ?? 0)) letters.current.set(column.key, length);
      if (column.type === "path" && text.length > (ofPaths.current.get(column.key) ?? 0))
        ofPaths.current.set(column.key, text.length);
    }
  for (const column of data?.columns.filter(({ type }) => type === "kernel_name") ?? [])
    for (const row of data?.rows ?? []) {
      const { length } = shortKernelName(String(row[column.key] ?? ""));
      if (length > (ofPaths.current.get(column.key) ?? 0)) ofPaths.current.set(column.key, length);
    }
  // Columns in which nothing has been seen so far: whatever they could hold, they need no room for it.
  const filled = useRef(new Set<string>());
  for (const { key: column } of data?.columns ?? [])
    if (
      !filled.current.has(column) &&
      data?.rows.some(({ [column]: value }) => value !== null && value !== "") === true
    )
      filled.current.add(column);
  const naming = namingColumn(data?.columns ?? [], data?.key ?? "");
  const sizeOf = (column: Column): Pick<ColumnSize, "least" | "whole" | "head" | "wish" | "ideal"> => {
    if (column.key in meters) return { ...METER, whole: METER.least };
    const { ideal } = SIZES[column.type];
    const share = column.type === "path" ? PATH_SHARE : column.key === naming ? NAME_SHARE : 1;
    const most = Math.max(available * share, LEAST_NAME);
    const named = column.type === "path" && column.key === naming;
    const pixels = (of: ReadonlyMap<string, number>, widest: number): number =>
      named ? Math.min(Math.ceil((of.get(column.key) ?? 0) * LETTER_WIDTH) + CELL_PADDING, widest) : 0;
    const least = Math.min(Math.max(SIZES[column.type].least, pixels(letters.current, WIDEST_END)), most);
    const { inOne: head, inTwo: label } = labelWidths(column, data?.sort ?? "");
    if (filled.current.size > 0 && !filled.current.has(column.key))
      return { least: label, whole: label, head, ideal: head };
    if (column.type !== "text") {
      const enough = Math.max(least, label);
      const wish = Math.max(enough, pixels(ofPaths.current, Math.min(WIDEST_PATH, available * NAME_SHARE)));
      return { least: enough, whole: enough, head, wish, ideal: Math.max(ideal, head, wish) };
    }
    const text = textWidth(letters.current.get(column.key) ?? 0) + (column.key === "cause" ? SWATCH : 0);
    const shortest = Math.min(text, column.key === naming ? most : CUT_TEXT);
    return { least: Math.max(shortest, label), whole: Math.max(text, label), head, ideal: Math.max(text, head) };
  };
  const sizes = (columns: readonly Column[], fixed: readonly string[]): ColumnSize[] =>
    columns.map((column) => ({
      key: column.key,
      ...sizeOf(column),
      ...(ofPaths.current.has(column.key)
        ? { most: Math.ceil((ofPaths.current.get(column.key) ?? 0) * letterWidth(column)) + CELL_PADDING }
        : {}),
      grows: SIZES[column.type].grows === true && filled.current.has(column.key),
      fixed: fixed.includes(column.key),
      tier: column.tier,
    }));
  return {
    fit: (columns, needed) => {
      const shown = fitting(sizes(columns, [naming, ...needed]), available);
      return wholePairs(columns, shown, needed);
    },
    widths: (columns) => {
      const own = widthsIn(sizes(columns, []), available);
      return (column) => dragged[column.key] ?? own.get(column.key) ?? SIZES[column.type].ideal;
    },
    setWidth,
  };
}
