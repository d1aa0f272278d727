/** Draws the rows of a table in steps, so that no click waits for more cells than are in sight. */
import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { TableResponse } from "../../api/types";
import { inTurn } from "../turns";

/** About as many as are in sight. A hundred rows of all columns are 1,800, too many for one go. */
const CELLS_AT_ONCE = 360;

/** While a column is dragged, its width changes with each frame: what is out of sight waits until it rests. */
const REST_MS = 100;

/** A row that is drawn, or one that is waiting and only reserves the space of its cells. */
export type Row = (waiting: boolean) => VNode;

interface DrawnRow {
  drawing: object;
  /** The keys of its cells. */
  shown: string;
  look: string;
  row: Row;
  /** What its cells were last laid out and painted for. */
  setting: string;
  waiting: boolean;
  node: VNode;
}

export interface Sight {
  /** The place of the first row that the user sees, and how many they see. */
  first: number;
  count: number;
  /** The place of the row that has the focus, which it would lose; -1 for none. */
  focused: number;
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
 * The rows of `data` in `columns` (their keys), those in sight before the others: all of them stand in the page some frames later, to
 * be found, marked, copied and read aloud. A row that would look as before is not even compared. `setting` says what all cells are
 * laid out and painted for: the widths of the columns, the theme.
 */
export function useGradualRows(
  data: TableResponse,
  columns: readonly string[],
  setting: string,
  sight: () => Sight,
): GradualRows {
  const shown = columns.join(" ");
  const count = data.rows.length;
  // eslint-disable-next-line react-hooks/exhaustive-deps -- other cells are to be drawn
  const drawing = useMemo(() => ({}), [data, shown]);
  const drawn = useRef<object | null>(null);
  const round = useMemo(() => {
    const { first, count: seen, focused } = sight();
    const again = drawn.current === drawing;
    drawn.current = drawing;
    return { first: Math.min(first, Math.max(count - 1, 0)), seen, focused, again };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- where the user looks when cells are to be drawn or laid out
  }, [drawing, setting]);
  const [steps, setSteps] = useState({ round, taken: 0 });
  const taken = steps.round === round ? steps.taken : 0;
  const rowsAtOnce = Math.ceil(CELLS_AT_ONCE / Math.max(columns.length, 1));
  const due = (round.again ? round.seen : rowsAtOnce) + taken * rowsAtOnce;
  const waiting = due < count;
  useLayoutEffect(() => {
    if (!waiting) return undefined;
    const step = (): void => setSteps({ round, taken: taken + 1 });
    return inTurn(step, round.again && taken === 0 ? REST_MS : 0);
  }, [waiting, round, taken]);

  const cached = useRef<DrawnRow[]>([]);
  cached.current.length = Math.min(cached.current.length, count);
  return {
    waiting,
    rowAt: (place, look, draw) => {
      const before = cached.current[place];
      const nth = (place - round.first + count) % count;
      const same = before?.drawing === drawing && before.look === look;
      if (!same && nth < due) {
        const row = draw();
        const node = row(false);
        cached.current[place] = { drawing, shown, look, row, setting, waiting: false, node };
        return node;
      }
      // Of other columns, it would have to be laid out anew for their widths, and then once more.
      if (before?.shown !== shown) return null;
      // What is in sight never waits: it would flicker.
      if (nth < Math.max(due, round.seen) || place === round.focused) before.setting = setting;
      const waits = before.setting !== setting;
      if (waits !== before.waiting) {
        before.waiting = waits;
        before.node = before.row(waits);
      }
      return before.node;
    },
  };
}
