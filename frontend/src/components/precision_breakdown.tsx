/** Kernel time by precision and matrix unit: one bar, and its legend with every number. */
import type { PrecisionTime } from "../api/types";
import { formatCounted } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration, readableAndExact } from "../format/time";
import { precisionColour, precisionParts, type PrecisionPart } from "../model/precisions";

interface PrecisionBreakdownProps {
  times: readonly PrecisionTime[];
  matrixUnit: string;
}

/** Communication has no precision, and stripes of its own. */
const pattern = ({ precision, matrixUnit }: PrecisionPart): string =>
  `precision-part unit-${precision === "communication" ? "none" : matrixUnit}`;

export function PrecisionBreakdown({ times, matrixUnit }: PrecisionBreakdownProps) {
  const parts = precisionParts(times, matrixUnit);
  const total = parts.reduce((sum, { ns }) => sum + ns, 0);
  const tip = ({ label, ns, kernels, fraction }: PrecisionPart): string =>
    `${label}: ${formatShare(fraction)}\n${readableAndExact(ns)} of ${readableAndExact(total)} kernel time, ${formatCounted(kernels, "kernel")}`;
  return (
    <div>
      <div class="precision-bar" aria-hidden="true">
        {parts.map((part) => (
          <span
            key={part.key}
            class={pattern(part)}
            style={{ background: precisionColour(part.precision), flexGrow: part.fraction }}
            data-tip={tip(part)}
          />
        ))}
      </div>
      <ul class="precision-legend">
        {parts.map((part) => (
          <li key={part.key} data-tip={tip(part)}>
            <span class={`swatch ${pattern(part)}`} style={{ background: precisionColour(part.precision) }} />
            <span>{part.label}</span>
            <span class="precision-value muted number">{formatDuration(part.ns)}</span>
            <span class="precision-share number">{formatShare(part.fraction)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
