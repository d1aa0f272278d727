/** A range on a scale: solid up to its low end, paler to its high end. */

interface WhiskerBarProps {
  /** As shares of the scale, 0 to 1. */
  low: number;
  high: number;
  /** The range in words. */
  label: string;
}

export function WhiskerBar({ low, high, label }: WhiskerBarProps) {
  const wide = (share: number): string => `${Math.min(Math.max(share, 0), 1) * 100}%`;
  return (
    <span class="whisker-bar" role="img" aria-label={label} data-tip={label}>
      <span class="whisker-high" style={{ width: wide(high) }} />
      <span class="whisker-low" style={{ width: wide(low) }} />
    </span>
  );
}
