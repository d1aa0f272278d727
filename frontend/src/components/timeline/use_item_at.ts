/** What is at a moment of a track, once the pointer rests there; null until it is known. */
import { useEffect, useState } from "preact/hooks";

import { fetchTimelineItemAt } from "../../api/client";
import { useScope } from "../../frame/scope";
import type { TimelineItem } from "../../api/types";
import type { Place } from "./tracks";

/** A pointer that moves on within it asks nothing. */
const REST_MS = 120;

export function useItemAt(place: ({ track: number } & Place) | null): TimelineItem | null {
  const { profile } = useScope();
  const [track, at, slack, span] = [place?.track ?? null, place?.at ?? null, place?.slack ?? 0, place?.span ?? 0];
  const key = track === null ? "" : `${track} ${at} ${span}`;
  const [known, setKnown] = useState<{ key: string; item: TimelineItem | null }>({ key: "", item: null });
  useEffect(() => {
    if (track === null || at === null) return undefined;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      fetchTimelineItemAt(profile, track, { at, slack, span }, asking.signal).then(
        (item) => {
          if (item !== null && item.name !== "") setKnown({ key, item });
        },
        // What stands there without the name is right, too.
        () => undefined,
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [profile, track, at, slack, span, key]);
  return known.key === key ? known.item : null;
}
