/** Widths of columns: by type, of short texts by what they say, and what the user dragged, remembered in this browser. */
import { useCallback, useRef, useState } from "preact/hooks";

import type { Column, ColumnType, TableResponse } from "../../api/types";

const DEFAULT_WIDTH: Record<ColumnType, number> = {
  text: 108,
  long_text: 300,
  kernel_name: 400,
  path: 320,
  integer: 84,
  number: 92,
  boolean: 84,
  duration_ns: 112,
  fraction: 92,
  bytes: 104,
};

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

/** Wide enough for a long label in two lines with its unit. */
const widthAtFirst = ({ type, label }: Column): number =>
  type === "duration_ns" && label.length > 14 ? 132 : DEFAULT_WIDTH[type];

const METER_WIDTH = 236;

/** About what a letter takes, and a capital more: measuring every cell would take longer than drawing it. */
const LETTER_WIDTH = 7.3;
const CAPITAL = 0.3;
const lettersOf = (text: string): number => text.length + CAPITAL * (text.match(/[A-Z]/g)?.length ?? 0);
const CELL_PADDING = 20;
const WIDEST_TEXT = 220;

const textWidth = (letters: number): number =>
  Math.min(Math.max(Math.ceil(letters * LETTER_WIDTH) + CELL_PADDING, 96), WIDEST_TEXT);

const BOLD_LETTER_WIDTH = 8;
const SORT_ARROW = 14;

/** Labels wrap between words, but are cut within one. */
const labelWidth = (label: string): number =>
  Math.max(...label.split(" ").map(({ length }) => length)) * BOLD_LETTER_WIDTH + CELL_PADDING + SORT_ARROW;

export function useColumnWidths(
  table: string,
  meters: Readonly<Record<string, string>>,
  data: TableResponse | null,
): {
  widthOf: (column: Column) => number;
  setWidth: (column: string, width: number) => void;
} {
  const key = `dlprof.widths.${table}`;
  const [widths, setWidths] = useState(() => stored(key));
  const setWidth = useCallback(
    (column: string, width: number) =>
      setWidths((before) => {
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
  for (const column of data?.columns.filter(({ type }) => type === "text") ?? [])
    for (const row of data?.rows ?? []) {
      const length = lettersOf(String(row[column.key] ?? ""));
      if (length > (letters.current.get(column.key) ?? 0)) letters.current.set(column.key, length);
    }
  const atFirst = (column: Column): number => {
    if (column.key in meters) return METER_WIDTH;
    if (column.type !== "text") return widthAtFirst(column);
    return Math.max(textWidth(letters.current.get(column.key) ?? 0), labelWidth(column.label));
  };
  return {
    widthOf: (column) => widths[column.key] ?? atFirst(column),
    setWidth,
  };
}
