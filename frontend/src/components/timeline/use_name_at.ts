/** The name and length of what is at a moment of a track, once the pointer rests there; empty until it is known. */
import { useEffect, useState } from "preact/hooks";

import { fetchTimelineItemAt } from "../../api/client";
import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { shortName } from "./drawing";

/** A pointer that moves on within it asks nothing. */
const REST_MS = 120;

export function useNameAt(place: { track: number; at: number } | null): string {
  const { profile } = useScope();
  const [track, at] = [place?.track ?? null, place?.at ?? null];
  const key = track === null ? "" : `${track} ${at}`;
  const [known, setKnown] = useState({ key: "", text: "" });
  useEffect(() => {
    if (track === null || at === null) return undefined;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      fetchTimelineItemAt(profile, track, at, asking.signal).then(
        (item) => {
          if (item !== null && item.name !== "")
            setKnown({ key, text: `${shortName(item.name)} · ${formatDuration(item.duration)}` });
        },
        // What stands there without the name is right, too.
        () => undefined,
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [profile, track, at, key]);
  return known.key === key ? known.text : "";
}
