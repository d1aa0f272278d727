/** Draws the rows of a table in steps, so that no click waits for more cells than are in sight. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { TableResponse } from "../../api/types";

/** About as many as are in sight on a large screen. A hundred rows of all columns are 1,800, too many for one go. */
const CELLS_AT_ONCE = 450;

interface Kept {
  drawing: object;
  /** The keys of its cells. */
  shown: string;
  look: string;
  node: VNode;
}

interface GradualRows {
  /** Whether rows out of sight still wait. */
  waiting: boolean;
  /**
   * The row at `place`: drawn now, or as it was, where nothing has changed or its step has not come; null where no such cells were there.
   * `look` says what a row's looks depend on beside its own values and the columns.
   */
  rowAt: (place: number, look: string, draw: () => VNode) => VNode | null;
}

/**
 * The rows of `data` in `columns` (their keys), those from `firstInSight` on before the others: all of them stand in the page some
 * frames later, to be found, marked, copied and read aloud. A row that would look as before is not even compared.
 */
export function useGradualRows(
  data: TableResponse,
  columns: readonly string[],
  firstInSight: () => number,
): GradualRows {
  const shown = columns.join(" ");
  const count = data.rows.length;
  const drawing = useMemo(
    () => ({ first: Math.min(firstInSight(), Math.max(count - 1, 0)) }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- where the user looks when other cells are to be drawn
    [data, shown],
  );
  const [steps, setSteps] = useState({ drawing, taken: 1 });
  const taken = steps.drawing === drawing ? steps.taken : 1;
  const due = taken * Math.ceil(CELLS_AT_ONCE / Math.max(columns.length, 1));
  const waiting = due < count;
  useEffect(() => {
    if (waiting) setSteps({ drawing, taken: taken + 1 });
  }, [waiting, drawing, taken]);

  const kept = useRef<Kept[]>([]);
  kept.current.length = Math.min(kept.current.length, count);
  return {
    waiting,
    rowAt: (place, look, draw) => {
      const before = kept.current[place];
      if (before?.drawing === drawing && before.look === look) return before.node;
      // Of other columns, it would have to be laid out anew for their widths, and then once more.
      if ((place - drawing.first + count) % count >= due) return before?.shown === shown ? before.node : null;
      const node = draw();
      kept.current[place] = { drawing, shown, look, node };
      return node;
    },
  };
}
