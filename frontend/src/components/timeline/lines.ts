/** The lines from what is selected to what launched it; the end of one that leaves the window says when that is. */
import { clock } from "../../format/time";
import type { TimelineItem } from "../../api/types";
import type { View } from "../../model/timeline_link";

interface End {
  at: number;
  /** Number of the row on the screen. */
  row: number;
  /** What is there: `call`. */
  what: string;
}

export type Line = readonly [from: End, to: End];

/** From the op to the call, and from the call to the work. */
export function linesOf(item: TimelineItem | null, rows: readonly { track: number; kind: string }[]): Line[] {
  const call = item?.call ?? null;
  const row = (track: number | undefined): number => rows.findIndex((each) => each.track === track);
  if (item === null || call === null) return [];
  const op = item.op ?? null;
  const called = { at: call.start, row: row(call.track), what: "call" };
  const lines: Line[] = [
    [called, { at: item.start, row: row(item.track), what: "work" }],
    ...(op === null ? [] : [[{ at: call.start, row: row(op.track), what: "op" }, called] as const]),
  ];
  return lines.filter((line) => line.every((end) => end.row >= 0));
}

/** An end as a window shows it: at the border, with when what is beyond it begins, as the axis counts; none where it is in sight. */
export function endIn({ at, what }: End, { from, to }: View): { at: number; beyond: string } {
  const seen = Math.min(Math.max(at, from), to);
  return { at: seen, beyond: seen === at ? "" : `${what} at ${clock(at)}` };
}

/** Whether anything of a line is in sight. */
export const crosses = ([one, other]: Line, { from, to }: View): boolean =>
  Math.max(one.at, other.at) >= from && Math.min(one.at, other.at) <= to;
