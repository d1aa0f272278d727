/** Widths of columns: a default by type, and what the user dragged, remembered in this browser. */
import { useCallback, useState } from "preact/hooks";

import type { Column, ColumnType } from "../../api/types";

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

export function useColumnWidths(
  table: string,
  meters: Readonly<Record<string, string>>,
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
  return {
    widthOf: (column) => widths[column.key] ?? (column.key in meters ? METER_WIDTH : widthAtFirst(column)),
    setWidth,
  };
}
