/** What communication in a rank's bar was, in the words and shades of the bars of all ranks. */
import type { RankJob } from "../../api/types";
import { colourOf } from "../../model/resources";
import { exposedOf, PARTS } from "../../model/ranks";
import type { BarSegment } from "../../model/step";

const SHADES: Readonly<Record<string, string>> = {
  transfer: "var(--rank-transfer)",
  // As it is called elsewhere, so that the text on it is read.
  wait: colourOf("communication"),
  unmatched: "var(--rank-unmatched)",
};

/** The segments with communication told apart, where the job knows it of the iterations `numbers`. */
export function withWaiting(segments: readonly BarSegment[], job: RankJob, numbers: readonly number[]): BarSegment[] {
  return segments.flatMap((segment) => {
    const exposed = segment.key === "communication" ? exposedOf(job, numbers, segment.ns) : null;
    if (exposed === null) return [segment];
    return PARTS.flatMap(({ key, label, about }) => {
      const ns = key in exposed ? exposed[key as keyof typeof exposed] : 0;
      return ns > 0 ? [{ ...segment, key, label, about, ns, colour: SHADES[key] ?? segment.colour }] : [];
    });
  });
}
