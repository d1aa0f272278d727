/** What is at the pointer, in words. */
import { formatBytes } from "../../format/bytes";
import { exactNumber } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import type { TrackData } from "../../api/types";
import { binClass, binShare } from "../../model/timeline";

/** Where a time lies in a row of equal bins; -1 outside of it. */
function binAt(track: TrackData, time: number, bins: number): number {
  const [from, to] = [track.bins_from ?? 0, track.bins_to ?? 0];
  const at = Math.floor(((time - from) / Math.max(to - from, 1)) * bins);
  return at >= 0 && at < bins ? at : -1;
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
