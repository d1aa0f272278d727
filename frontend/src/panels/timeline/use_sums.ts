/** What a GPU did in the window, and in what is dragged over: the last that is known, until the next is. */
import { useRef } from "preact/hooks";

import { fetchTimelineWindow } from "../../api/client";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import type { View } from "../../model/timeline_link";

type Parts = Readonly<Record<string, number>>;

/** The sums of one stretch of time. */
export interface Sums {
  parts: Parts;
  range: View;
  dragged: boolean;
}

export function useSums(
  device: number | null,
  track: number | undefined,
  rest: View,
  dragged: View | null,
): { sums: Sums | null; ofWindow: Parts } {
  const ofWindow = usePartsOf(device, track, rest);
  const ofDragged = usePartsOf(device, track, dragged);
  // A sentence of numbers of one window and the length of another would be false.
  const last = useRef<Sums | null>(null);
  const parts = dragged === null ? ofWindow.fresh : ofDragged.fresh;
  if (parts !== null) last.current = { parts, range: dragged ?? rest, dragged: dragged !== null };
  return { sums: last.current, ofWindow: ofWindow.last };
}

function usePartsOf(
  device: number | null,
  track: number | undefined,
  range: View | null,
): { fresh: Parts | null; last: Parts } {
  const { profile, round } = useScope();
  const { data, loading } = useQuery(
    track === undefined || range === null ? null : `${profile} ${round} ${range.from} ${range.to} ${track}`,
    (signal) => fetchTimelineWindow(profile, range ?? { from: 0, to: 1 }, 1, [track ?? 0], signal),
  );
  const parts = data?.parts[String(device)] ?? null;
  return { fresh: loading ? null : parts, last: parts ?? {} };
}
