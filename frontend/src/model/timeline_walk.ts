/** The walk along what is looked for on the timeline, gaps or hits: the window that shows each of them wide enough to be seen. */
import { seenOf, within } from "./timeline";
import type { View } from "./timeline_link";

/** What is narrower is not seen between the lines that mark it. */
const LEAST_PIXELS = 40;
/** Some room beside what is as long as the window. */
const ROOM = 1.2;

interface Found {
  start: number;
  duration: number;
}

/** The window in which a walk looks, and the part of it that shows what it came to. */
export interface Walk {
  base: View;
  shown: View;
}

const lengthOf = ({ from, to }: View): number => to - from;

/** The window that a walk looks in: not the part of it that it shows. */
export const baseOf = (walk: Walk | null, view: View): View =>
  walk !== null && walk.shown.from === view.from && walk.shown.to === view.to ? walk.base : view;

/** The next step from `view`, drawn on `width` pixels; `part`: whether what goes on beyond the window may be seen in part. */
export function walkTo(
  found: Found,
  { view, base, whole, width, part }: { view: View; base: View; whole: View; width: number; part: boolean },
): Walk {
  const stop = found.start + found.duration;
  const around = (length: number): View => {
    const [middle, long] = [found.start + found.duration / 2, Math.max(length, found.duration * ROOM)];
    return within({ from: middle - long / 2, to: middle + long / 2 }, whole);
  };
  const isWide = (window: View): boolean => {
    const [from, to] = seenOf(found.start, found.duration, window);
    return (to - from) * width >= LEAST_PIXELS * lengthOf(window);
  };
  const shows = (window: View): boolean =>
    part ? found.start < window.to && stop > window.from : found.start >= window.from && stop <= window.to;
  const looked = shows(base) ? base : around(lengthOf(base));
  if (shows(view) && isWide(view)) return { base: looked, shown: view };
  return { base: looked, shown: isWide(looked) ? looked : around((found.duration * width) / LEAST_PIXELS) };
}
