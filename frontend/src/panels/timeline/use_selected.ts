/** What is selected, as far as it is known: a gap or an item. Until the next one is known the last one stays, and the focus in it. */
import { useMemo } from "preact/hooks";

import type { ApiError } from "../../api/request";
import { fetchMoment, fetchTimelineItem } from "../../api/client";
import type { TimelineGap, TimelineItem } from "../../api/types";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import type { Selected, View } from "../../model/timeline_link";

interface Known {
  gap: TimelineGap | null;
  item: TimelineItem | null;
  /** The one of them that is not null. */
  extent: TimelineGap | TimelineItem | null;
  marked: readonly View[];
  error: ApiError | null;
}

export function useSelected(selected: Selected | null): Known {
  const { profile, round } = useScope();
  const { data, error, loading } = useQuery<{ item: TimelineItem } | { gap: TimelineGap }>(
    selected === null ? null : `${profile} ${round} ${JSON.stringify(selected)}`,
    async (signal) =>
      selected !== null && "item" in selected
        ? { item: await fetchTimelineItem(profile, selected.item, signal) }
        : fetchMoment(profile, selected?.device ?? 0, selected?.at ?? 0, signal),
  );
  const shown = selected === null || (error !== null && !loading) ? null : data;
  const gap = shown !== null && "gap" in shown ? shown.gap : null;
  const item = shown !== null && "item" in shown ? shown.item : null;
  const extent = gap ?? item;
  const marked = useMemo(
    () => (extent === null ? [] : [{ from: extent.start, to: extent.start + extent.duration }]),
    [extent],
  );
  return { gap, item, extent, marked, error };
}
