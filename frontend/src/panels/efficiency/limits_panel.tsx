/** The whole kernel time as one bar: on matrix units; could be, by what keeps it from them; limited by memory; communication. */
import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { BarLegend, StackedBar } from "../../components/charts/stacked_bar";
import { Panel } from "../../components/panel";
import { formatDuration } from "../../format/time";
import { kernelTimeName, kernelTimeTitle } from "../../model/kernel_time";
import { limitSegments, saysNothing } from "../../model/limits";
import { Causes } from "./causes";

interface LimitsPanelProps {
  data: DashboardResponse;
  rates: EfficiencyResponse;
  /** All kernel time, of as many iterations as the times of `rates`. */
  whole: number;
}

export function LimitsPanel({ data, rates, whole }: LimitsPanelProps) {
  const segments = limitSegments(rates, whole, data.matrix_unit);
  const timed = kernelTimeName(data);
  if (rates.causes.length === 0 && saysNothing(segments)) return null;
  return (
    <Panel
      title={`How ${kernelTimeTitle(data)} Is Spent`}
      summed
      about={`All ${timed}, each part once: on ${data.matrix_unit}s; of eligible ops, but not on them, by cause; limited by memory; communication. A click on a cause shows its ops in the table, also those that use ${data.matrix_unit}s, but not well.`}
      picture
      walked
      tools={
        <span class="muted">
          of {formatDuration(whole)} {timed}
        </span>
      }
    >
      <StackedBar segments={segments} whole_ns={whole} label={`How ${formatDuration(whole)} of ${timed} is spent`} />
      <div class="limits">
        <BarLegend segments={segments} whole_ns={whole} />
        <Causes causes={rates.causes} />
      </div>
    </Panel>
  );
}
