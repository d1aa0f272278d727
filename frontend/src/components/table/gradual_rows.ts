/** Draws the rows of a table in steps, so that no click waits for more cells than are in sight. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { TableResponse } from "../../api/types";

/** About as many as are in sight. A hundred rows of all columns are 1,800, too many for one go. */
const CELLS_AT_ONCE = 360;

/** A drawn row; a waiting one keeps its cells, but only holds their place. */
export type Row = (waiting: boolean) => VNode;

interface Kept {
  drawing: object;
  /** The keys of its cells. */
  shown: string;
  look: string;
  row: Row;
  /** The widths that its cells were last laid out for. */
  widths: string;
  waiting: boolean;
  node: VNode;
}

export interface Sight {
  /** The place of the first row that the user sees, and how many they see. */
  first: number;
  count: number;
}

interface GradualRows {
  /** Whether rows out of sight still wait. */
  waiting: boolean;
  /**
   * The row at `place`: drawn now, or as it was, where nothing has changed or its step has not come; null where no such cells were there.
   * `look` says what a row's looks depend on beside its own values and the columns.
   */
  rowAt: (place: number, look: string, draw: () => Row) => VNode | null;
}

/**
 * The rows of `data` in `columns` (their keys) of `widths`, those in sight before the others: all of them stand in the page some
 * frames later, to be found, marked, copied and read aloud. A row that would look as before is not even compared.
 */
export function useGradualRows(
  data: TableResponse,
  columns: readonly string[],
  widths: string,
  sight: () => Sight,
): GradualRows {
  const shown = columns.join(" ");
  const count = data.rows.length;
  // eslint-disable-next-line react-hooks/exhaustive-deps -- other cells are to be drawn
  const drawing = useMemo(() => ({}), [data, shown]);
  const round = useMemo(() => {
    const { first, count: seen } = sight();
    return { first: Math.min(first, Math.max(count - 1, 0)), seen };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- where the user looks when cells are to be drawn or laid out
  }, [data, shown, widths]);
  const [steps, setSteps] = useState({ round, taken: 1 });
  const taken = steps.round === round ? steps.taken : 1;
  const due = taken * Math.ceil(CELLS_AT_ONCE / Math.max(columns.length, 1));
  const waiting = due < count;
  useEffect(() => {
    if (waiting) setSteps({ round, taken: taken + 1 });
  }, [waiting, round, taken]);

  const kept = useRef<Kept[]>([]);
  kept.current.length = Math.min(kept.current.length, count);
  return {
    waiting,
    rowAt: (place, look, draw) => {
      const before = kept.current[place];
      const nth = (place - round.first + count) % count;
      const same = before?.drawing === drawing && before.look === look;
      if (!same && nth < due) {
        const row = draw();
        const node = row(false);
        kept.current[place] = { drawing, shown, look, row, widths, waiting: false, node };
        return node;
      }
      // Of other columns, it would have to be laid out anew for their widths, and then once more.
      if (before?.shown !== shown) return null;
      // What is in sight never waits: it would flicker.
      if (nth < Math.max(due, round.seen)) before.widths = widths;
      const waits = before.widths !== widths;
      if (waits !== before.waiting) {
        before.waiting = waits;
        before.node = before.row(waits);
      }
      return before.node;
    },
  };
}
