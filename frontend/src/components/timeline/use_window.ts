/** Loads the tracks around a window: the window and half of it on each side; what was loaded last is drawn until more comes. */
import { useEffect, useRef, useState } from "preact/hooks";

import type { ApiError } from "../../api/request";
import { fetchTimelineWindow } from "../../api/client";
import { asApiError } from "../../frame/use_query";
import type { TimelineWindow } from "../../api/types";
import type { View } from "../../model/timeline_link";

const MAX_ANSWERS = 8;
const PAUSE_MS = 70;
/** Tracks that are asked for at once: the server takes 64, and tells less of each the more there are. */
const AT_ONCE = 32;

interface Loaded {
  answer: TimelineWindow | null;
  error: ApiError | null;
}

/** Whether an answer is sharp enough for a window: it covers it, and is not of a much larger one. */
const serves = (answer: TimelineWindow, view: View): boolean =>
  answer.from <= view.from && answer.to >= view.to && answer.to - answer.from <= 3 * (view.to - view.from);

export function useWindow(
  profile: string,
  round: number,
  view: View,
  whole: View,
  width: number,
  tracks: readonly number[],
): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ answer: null, error: null });
  const cache = useRef<{ key: string; answers: TimelineWindow[] }>({ key: "", answers: [] });
  const wanted = tracks.join(",");
  const key = `${profile} ${round} ${wanted} ${width}`;
  const { from, to } = view;
  const { from: first, to: last } = whole;
  useEffect(() => {
    if (wanted === "" || width < 1) return undefined;
    if (cache.current.key !== key) cache.current = { key, answers: [] };
    const known = cache.current.answers.find((answer) => serves(answer, { from, to }));
    if (known !== undefined) {
      setLoaded({ answer: known, error: null });
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        const room = (to - from) / 2;
        const asked = {
          from: Math.max(Math.floor(from - room), Math.min(first, Math.floor(from))),
          to: Math.min(Math.ceil(to + room), Math.max(last, Math.ceil(to))),
        };
        const pixels = Math.min(Math.max(Math.round((width * (asked.to - asked.from)) / (to - from)), 1), 8000);
        const numbers = wanted.split(",").map(Number);
        const groups = Array.from({ length: Math.ceil(numbers.length / AT_ONCE) }, (_, group) =>
          numbers.slice(group * AT_ONCE, (group + 1) * AT_ONCE),
        );
        Promise.all(groups.map((group) => fetchTimelineWindow(profile, asked, pixels, group, abort.signal))).then(
          (answers) => {
            const answer: TimelineWindow = {
              ...asked,
              state: answers[0]?.state ?? 0,
              parts: Object.assign({}, ...answers.map(({ parts }) => parts)) as TimelineWindow["parts"],
              tracks: answers.flatMap(({ tracks }) => tracks),
            };
            cache.current.answers = [answer, ...cache.current.answers].slice(0, MAX_ANSWERS);
            if (!abort.signal.aborted) setLoaded({ answer, error: null });
          },
          (error: unknown) => {
            if (!abort.signal.aborted) setLoaded((before) => ({ ...before, error: asApiError(error) }));
          },
        );
      },
      cache.current.answers.length === 0 ? 0 : PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, profile, wanted, width, from, to, first, last]);
  return loaded;
}
