/** The search of the timeline: how often a text is found in the window, and the way to the next of them. */
import { useState } from "preact/hooks";

import { fetchTimelineHits, fetchTimelineSearch } from "../../api/client";
import type { TimelineHits, TimelineItem } from "../../api/types";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import type { TrackRow } from "../../model/timeline";
import type { Selected, View } from "../../model/timeline_link";

/** Tracks whose items have names to search for, and how many of them the server takes. */
const SEARCHED = /^(?:stream|op|range)$/;
const MOST_SEARCHED = 64;

interface Asked {
  rows: readonly TrackRow[];
  /** The window at rest. */
  rest: View;
  width: number;
  item: TimelineItem | null;
  /** The one whose hits are counted, of which the window may be a part. */
  base: View;
  go: (next: Pick<TimelineItem, "start" | "duration">, what: Selected) => void;
  say: (text: string) => void;
}

interface Search {
  hits: TimelineHits | null;
  /** How often it is found in the window, and which of them is selected; null until it is known. */
  counted: { count: number | null; place: number } | null;
  search: (text: string) => void;
  /** To the next hit of the window, or the one before; behind its last one to the next of the whole recording. */
  find: (text: string, by: 1 | -1) => void;
}

export function useSearch({ rows, rest, base, width, item, go, say }: Asked): Search {
  const { profile, round } = useScope();
  const [searched, setSearched] = useState("");
  const named = rows.flatMap(({ kind, track }) => (SEARCHED.test(kind) ? [track] : [])).slice(0, MOST_SEARCHED);
  const key = (window: View): string | null =>
    searched === "" || width < 1 || named.length === 0
      ? null
      : `${profile} ${round} ${window.from} ${window.to} ${width} ${named.join(" ")} ${searched}`;
  const hitsIn = (window: View) => (signal: AbortSignal) =>
    fetchTimelineHits(profile, searched, window, Math.round(width), named, signal);
  const isPart = key(base) !== key(rest);
  const found = useQuery(key(base), hitsIn(base));
  const near = useQuery(isPart ? key(rest) : null, hitsIn(rest));
  // Those of the last letters stay until the next are known.
  const hits = searched === "" || found.error !== null ? null : found.data;
  const listed = hits?.listed ?? [];
  const place = listed.findIndex(({ id }) => id === item?.id);
  const find = (text: string, by: 1 | -1): void => {
    if (text.trim() === "") return;
    say("");
    setSearched(text.trim());
    const known = text.trim() === searched && !found.loading ? listed[place < 0 ? 0 : place + by] : undefined;
    if (known !== undefined) {
      go(known, { item: known.id });
      return;
    }
    if (by < 0) {
      say("No earlier one in this window.");
      return;
    }
    const at = item === null ? rest.from : item.start + 1;
    fetchTimelineSearch(profile, text, at, new AbortController().signal).then(
      (next) => {
        if (next === null) say(`Nothing is called "${text}".`);
        else go(next, { item: next.id });
      },
      () => say("The search failed."),
    );
  };
  return {
    hits: isPart && hits !== null && near.error === null ? near.data : hits,
    counted: hits === null || found.loading ? null : { count: hits.count, place },
    search: setSearched,
    find,
  };
}
