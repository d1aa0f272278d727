/** A range on a scale: solid up to its low end, paler to its high end; where no range is known, an outline of what it is about. */
import type { Changes } from "../../model/url_state";
import { ViewLink } from "../view_link";

interface WhiskerBarProps {
  /** As shares of the scale, 0 to 1. */
  low: number;
  high: number;
  /** What it is about, of which it is not known how much can be gained. */
  about?: number;
  /** The range in words. */
  label: string;
  /** What a click opens. */
  to?: Changes | null;
}

export function WhiskerBar({ low, high, about = 0, label, to = null }: WhiskerBarProps) {
  const wide = (share: number): string => `${Math.min(Math.max(share, 0), 1) * 100}%`;
  const bar = (
    <span class="whisker-bar" role="img" aria-label={label} data-tip={to === null ? label : undefined}>
      {about > 0 && <span class="whisker-about" style={{ width: wide(about) }} />}
      <span class="whisker-high" style={{ width: wide(high) }} />
      <span class="whisker-low" style={{ width: wide(low) }} />
    </span>
  );
  if (to === null) return bar;
  return (
    <ViewLink to={to} class="whisker-link" label={`${label}; open its longest moment in the Timeline`} tip={label}>
      {bar}
    </ViewLink>
  );
}
