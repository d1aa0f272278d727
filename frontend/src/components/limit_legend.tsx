/** What the colours of bars say that are split by what limits the time of their rows. */
import { useScope } from "../frame/scope";
import { colourOfLimit, rowLimits, type RowLimit } from "../model/row_limits";

interface LimitLegendProps {
  /** Those that are seen. */
  limits: ReadonlySet<RowLimit>;
  label: string;
}

export const LimitLegend = ({ limits, label }: LimitLegendProps) => (
  <ul class="bar-legend" aria-label={label}>
    {rowLimits(useScope().matrixUnit)
      .filter(([limit]) => limits.has(limit))
      .map(([limit, words]) => (
        <li key={limit}>
          <span class="swatch" style={{ background: colourOfLimit(limit) }} /> {words}
        </li>
      ))}
  </ul>
);
