/** The rows that are drawn: they are folded once the window rests, and never under the pointer. */
import { useRef } from "preact/hooks";

import type { TimelineWindow } from "../../api/types";
import { foldedRows, type TrackRow } from "../../model/timeline";
import type { View } from "../../model/timeline_link";

interface Drawn {
  rows: readonly TrackRow[];
  rest: View;
  answer: TimelineWindow;
  folded: readonly TrackRow[];
}

/** `answer` is null while the window moves; `pointed` is not while the pointer is on the tracks. */
export function useLanes(
  rows: readonly TrackRow[],
  rest: View,
  answer: TimelineWindow | null,
  pointed: { readonly current: number | null },
): readonly TrackRow[] {
  const last = useRef<Drawn | null>(null);
  const now = last.current;
  // What was loaded of another window does not tell what is in this one.
  const tells = answer !== null && answer.from <= rest.from && answer.to >= rest.to;
  if (!tells) return now?.rows === rows ? now.folded : rows;
  if (now?.rows === rows && now.rest === rest && now.answer === answer) return now.folded;
  const held = now?.rows === rows && pointed.current !== null ? now.folded : [];
  last.current = { rows, rest, answer, folded: foldedRows(rows, rest, answer, held) };
  return last.current.folded;
}
