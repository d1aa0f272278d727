/** Profiles of the same time beside one another: a memory snapshot and the trace that was recorded meanwhile. */
import type { ProfileEntry } from "../api/types";

/** Whether it is a snapshot or a timeline of memory alone. */
export const isOfMemory = ({ format }: Pick<ProfileEntry, "format">): boolean => format.startsWith("pytorch_memory_");

/** Seconds since 1970; null where it is not known. The trace may go on after its last iteration. */
function spanOf({ captured_at: start, headline }: ProfileEntry): readonly [number, number] | null {
  return start === null ? null : [start, start + (headline?.wall_time_ns ?? 0) / 1e9];
}

/**
 * The profiles in the same run and at the same time, of the same rank as far as ranks are known, that hold what this
 * one lacks: snapshots beside a trace, and traces beside a snapshot.
 */
export function recordedMeanwhile(profiles: readonly ProfileEntry[], id: string): ProfileEntry[] {
  const self = profiles.find((each) => each.id === id);
  const span = self === undefined ? null : spanOf(self);
  if (self === undefined || span === null) return [];
  return profiles.filter((each) => {
    const other = spanOf(each);
    if (other === null || each.run !== self.run || isOfMemory(each) === isOfMemory(self)) return false;
    const sameRank = each.rank === null || self.rank === null || each.rank === self.rank;
    return sameRank && other[0] <= span[1] && span[0] <= other[1];
  });
}
