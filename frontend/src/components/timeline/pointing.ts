/** What is at the pointer, in words. */
import { formatBytes } from "../../format/bytes";
import { exactNumber } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import type { TrackData } from "../../api/types";
import { binClass, binShare, itemAt, lanesOf, type TrackRow } from "../../model/timeline";

/** Where a time lies in a row of equal bins; -1 outside of it. */
function binAt(track: TrackData, time: number, bins: number): number {
  const [from, to] = [track.bins_from ?? 0, track.bins_to ?? 0];
  const at = Math.floor(((time - from) / Math.max(to - from, 1)) * bins);
  return at >= 0 && at < bins ? at : -1;
}

/** The bin of a strip at a time in which anything is: its middle, and how long it is; null where none is. */
export function spanAt(track: TrackData, time: number, idle: boolean): { middle: number; length: number } | null {
  const bins = idle ? track.idle_bins : track.bins;
  const at = bins === undefined ? -1 : binAt(track, time, bins.class.length);
  if (bins === undefined || at < 0 || binClass(bins, at) < 0) return null;
  const length = ((track.bins_to ?? 0) - (track.bins_from ?? 0)) / bins.class.length;
  return { middle: (track.bins_from ?? 0) + (at + 0.5) * length, length };
}

interface Pointed {
  /** Since the start of the answer. */
  time: number;
  /** Since the top of the row. */
  y: number;
  pixel: number;
  /** What is at most this far is meant where nothing is drawn. */
  slack: number;
}

/** The item whose colour is seen at the pointer, else the nearest; -1 where that is a strip, or there is none. */
export function itemDrawn(track: TrackData, { kind, height }: TrackRow, { time, y, pixel, slack }: Pointed): number {
  const { items } = track;
  if (items === undefined) return -1;
  const isStrip = spanAt(track, time, kind === "idle") !== null;
  const { lane, lanes } = kind === "stream" && track.bins === undefined ? lanesOf(items) : { lane: [], lanes: 1 };
  const own = Math.min(Math.max(Math.floor(((y - 2) / (height - 4)) * lanes), 0), lanes - 1);
  return itemAt(items, time, {
    pixel,
    slack: isStrip ? 0 : slack,
    skipped: (item) => lanes > 1 && lane[item] !== own,
  });
}

/** The value of a curve; of a strip, what takes most of a bin, and how much of it. Empty where nothing is. */
export function binInWords(track: TrackData, time: number, idle: boolean, word: (number: number) => string): string {
  const { depth, in_use_bytes: bytes } = track;
  const waiting = depth?.[binAt(track, time, depth.length)];
  if (waiting !== undefined)
    return `queue length ${exactNumber(waiting)}${Number.isInteger(waiting) ? "" : " on average"}`;
  const held = bytes?.[binAt(track, time, bytes.length)];
  if (held !== undefined) return `${formatBytes(held)} in use`;
  const bins = idle ? track.idle_bins : track.bins;
  if (bins === undefined) return "";
  const at = binAt(track, time, bins.class.length);
  const number = at < 0 ? -1 : binClass(bins, at);
  if (number < 0) return "";
  const length = ((track.bins_to ?? 0) - (track.bins_from ?? 0)) / bins.class.length;
  return `${word(number)} in ${formatShare(binShare(bins, at))} of this pixel, ${formatDuration(Math.round(length))}`;
}
