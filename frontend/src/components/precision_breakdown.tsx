/** Kernel time by precision and matrix unit: one bar, and its legend with every number. */
import type { PrecisionTime } from "../api/types";
import { formatDuration } from "../format/time";
import { kernelTimeWith } from "../model/kernel_time";
import { precisionSegments } from "../model/precisions";
import { BarLegend, StackedBar } from "./charts/stacked_bar";

/** About the panels that show it. */
export const ABOUT_PRECISIONS =
  "Kernel time by the precision in which each kernel computes, taken from its name, or else from the data type of its op. The colour tells the precision, as on the roofline; it is paler where kernels are not on matrix units.";

interface PrecisionBreakdownProps {
  times: readonly PrecisionTime[];
  /** Empty where the GPU has none. */
  matrixUnit: string;
  /** The time in CUDA graphs recorded as a whole. */
  graphNs: number;
}

export function PrecisionBreakdown({ times, matrixUnit, graphNs }: PrecisionBreakdownProps) {
  const segments = precisionSegments(times, matrixUnit, graphNs);
  const timed = kernelTimeWith(graphNs);
  const total = segments.reduce((sum, { ns }) => sum + ns, 0);
  return (
    <div>
      <StackedBar
        segments={segments}
        whole_ns={total}
        label={`${formatDuration(total)} ${timed}, by precision`}
        height={24}
      />
      <BarLegend segments={segments} whole_ns={total} timed={timed} />
    </div>
  );
}
