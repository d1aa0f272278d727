/** Kernel time by precision and matrix unit: one bar, and its legend with every number. */
import type { PrecisionTime } from "../api/types";
import { formatShare } from "../format/share";
import { formatDuration, readableAndExact } from "../format/time";
import { precisionColour, precisionParts } from "../model/precisions";

interface PrecisionBreakdownProps {
  times: readonly PrecisionTime[];
  matrixUnit: string;
}

export function PrecisionBreakdown({ times, matrixUnit }: PrecisionBreakdownProps) {
  const parts = precisionParts(times, matrixUnit);
  const total = parts.reduce((sum, { ns }) => sum + ns, 0);
  const tip = (label: string, ns: number, fraction: number): string =>
    `${label}: ${formatShare(fraction)}\n${readableAndExact(ns)} of ${readableAndExact(total)} kernel time in ops`;
  return (
    <div class="precisions">
      <div class="precision-bar" aria-hidden="true">
        {parts.map(({ key, label, precision, matrixUnit: unit, ns, fraction }) => (
          <span
            key={key}
            class={`precision-part unit-${unit}`}
            style={{ background: precisionColour(precision), flexGrow: fraction }}
            data-tip={tip(label, ns, fraction)}
          />
        ))}
      </div>
      <ul class="precision-legend">
        {parts.map(({ key, label, precision, matrixUnit: unit, ns, fraction }) => (
          <li key={key} data-tip={tip(label, ns, fraction)}>
            <span class={`swatch precision-part unit-${unit}`} style={{ background: precisionColour(precision) }} />
            <span>{label}</span>
            <span class="precision-value muted number">{formatDuration(ns)}</span>
            <span class="precision-share number">{formatShare(fraction)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
