import { formatDuration } from "../format/time";
import type { View } from "../model/timeline_link";

/** Of what is shown. */
const LEAST_SEEN = 0.01;

const SIDES = ["before", "after"] as const;

/** How much of the recording is not in a picture on each side, where it could be seen. */
export const leftOutOf = (mapped: View, whole: View): { ns: number; side: (typeof SIDES)[number] }[] =>
  SIDES.map((side) => ({ side, ns: side === "before" ? mapped.from - whole.from : whole.to - mapped.to })).filter(
    ({ ns }) => ns > LEAST_SEEN * (mapped.to - mapped.from),
  );

/** What of the recording is not in a picture, and the way to see it. */
export function LeftOut({ mapped, whole, onWhole }: { mapped: View; whole: View; onWhole: () => void }) {
  const seen = leftOutOf(mapped, whole);
  if (seen.length === 0) return null;
  return (
    <p class="muted timeline-left-out">
      Not shown: {seen.map(({ ns, side }) => `${formatDuration(ns)} ${side}`).join(", ")}.{" "}
      <button type="button" class="link-button" onClick={onWhole}>
        Show the whole recording
      </button>
    </p>
  );
}
