/** What a change could gain, at the left of its card: a bar on the scale of the step, the time, and its share. */
import type { Changes } from "../model/url_state";
import { WhiskerBar } from "./charts/whisker_bar";
import { Sentence } from "./sentence";

interface FindingGainProps {
  /** As shares of the step, 0 to 1. */
  low: number;
  high: number;
  /** The same in words. */
  time: string;
  share: string;
  /** What the shares are of. */
  of: string;
  /** What a click on the bar opens. */
  to?: Changes | null;
}

export const FindingGain = ({ low, high, time, share, of, to = null }: FindingGainProps) => (
  <div class="finding-gain">
    <WhiskerBar low={low} high={high} label={`Could gain ${time}, ${share} of ${of}`} to={to} />
    <strong>
      <Sentence text={time} />
    </strong>
    <span class="muted">{share}</span>
  </div>
);
