/** A gap of the timeline as a window shows it. */
import type { TimelineGap } from "../api/types";
import { formatDuration } from "../format/time";
import { partKinds } from "./parts";
import { seenOf } from "./timeline";
import type { View } from "./timeline_link";

/** What the window shows of a gap, which may begin before it and go on after it: as the tables below count it. */
export function seenGap(gap: TimelineGap, view: View): TimelineGap {
  const cut = <Part extends { start: number; duration: number }>(part: Part): Part => {
    const [from, to] = seenOf(part.start, part.duration, view);
    return { ...part, start: from, duration: to - from };
  };
  const seen = cut(gap);
  if (seen.duration <= 0) return gap;
  const parts = gap.parts.map(cut).filter(({ duration }) => duration > 0);
  return { ...seen, parts, cause: [...parts].sort((a, b) => b.duration - a.duration)[0]?.part ?? gap.cause };
}

/** The length and the cause that the page tells. */
export function gapInWords(gap: TimelineGap, view: View, unit: string): string {
  const { duration, cause } = seenGap(gap, view);
  return `Gap of ${formatDuration(duration)}, ${partKinds(unit).find(({ key }) => key === cause)?.label ?? cause}`;
}
