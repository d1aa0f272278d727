/** Finds what a user wants to see next: a gap of a GPU, or the call of a name. */
import { fetchMoment, fetchNextGap, fetchTable, fetchTimelineItemAt } from "../../api/client";
import type { TimelineGap, TimelineItem, TrackInfo } from "../../api/types";
import type { View } from "../../model/timeline_link";

interface From {
  scope: { profile: string; aggregation: number | null; domain: string | null };
  device: number;
  view: View;
  /** Pixels that the window is drawn on. */
  width: number;
  /** The one that is selected. */
  gap: TimelineGap | null;
  forwards: boolean;
}

/** As the table of gaps has it; null where the window has none. */
async function longestGap({ scope, device, view }: From, signal: AbortSignal): Promise<TimelineGap | null> {
  const links = { from: String(view.from), to: String(view.to), device: String(device) };
  const asked = { table: "gaps", offset: 0, limit: 1, sort: "-duration_ns", search: "", where: {}, links };
  const { rows } = await fetchTable({ ...scope, ...asked }, signal);
  const start = rows[0]?.start_ns;
  if (typeof start !== "number") return null;
  const there = await fetchMoment(scope.profile, device, start, signal);
  return "gap" in there ? there.gap : null;
}

/** The first one is the longest of the window, which is what the headline is about; then those that can be seen, then all. */
export async function findGap(from: From): Promise<TimelineGap | null> {
  const { scope, device, view, width, gap, forwards } = from;
  const { signal } = new AbortController();
  const at = gap === null ? (forwards ? view.from : view.to) : forwards ? gap.start + gap.duration : gap.start;
  const least = Math.round((view.to - view.from) / Math.max(width, 1));
  const ask = (longest: number): Promise<TimelineGap | null> =>
    fetchNextGap(scope.profile, device, at, forwards, longest, signal);
  const first = gap === null ? await longestGap(from, signal) : null;
  return first ?? (await ask(least)) ?? ask(0);
}

/** Threads whose calls are searched for one that blocks. */
const MOST_THREADS = 6;

/** The call of this name at a moment, of the threads that launch most; undefined where there is none. */
export async function findCall(
  profile: string,
  tracks: readonly TrackInfo[],
  name: string,
  at: number,
): Promise<TimelineItem | undefined> {
  const threads = tracks
    .filter(({ kind }) => kind === "call")
    .sort((a, b) => b.launches - a.launches)
    .slice(0, MOST_THREADS);
  const { signal } = new AbortController();
  const there = await Promise.all(
    threads.map(({ id }) => fetchTimelineItemAt(profile, id, { at, slack: 0, span: 0 }, signal)),
  );
  return there.find((each) => each?.name === name && each.start <= at && at < each.start + each.duration) ?? undefined;
}
