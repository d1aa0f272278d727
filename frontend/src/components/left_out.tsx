import { formatDuration } from "../format/time";
import type { View } from "../model/timeline_link";

/** Of what is shown. */
const LEAST_SEEN = 0.01;

/** What of the recording is not in a picture, and the way to see it. */
export function LeftOut({ mapped, whole, onWhole }: { mapped: View; whole: View; onWhole: () => void }) {
  const sides = [
    [mapped.from - whole.from, "before"],
    [whole.to - mapped.to, "after"],
  ] as const;
  // Less cannot be seen.
  const seen = sides.filter(([ns]) => ns > LEAST_SEEN * (mapped.to - mapped.from));
  if (seen.length === 0) return null;
  return (
    <p class="muted timeline-left-out">
      Not shown: {seen.map(([ns, side]) => `${formatDuration(ns)} ${side}`).join(", ")}.{" "}
      <button type="button" class="link-button" onClick={onWhole}>
        Show the whole recording
      </button>
    </p>
  );
}
