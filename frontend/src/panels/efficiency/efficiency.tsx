/** How well the GPU was used: what it achieved of what it could, op by op, and where the most could be gained. */
import { fetchEfficiency } from "../../api/client";
import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { ErrorBox, Loading, Message } from "../../components/message";
import { OneStop } from "../../components/one_stop";
import { Sentence } from "../../components/sentence";
import { Panel } from "../../components/panel";
import { ABOUT_PRECISIONS, PrecisionBreakdown } from "../../components/precision_breakdown";
import { scopeKey, useScope } from "../../frame/scope";
import { useUrl } from "../../frame/url";
import { useGroup, type SelectedGroup } from "../../frame/use_op_rates";
import { useQuery } from "../../frame/use_query";
import { hasGpuWork, hasKernels, whyNoKernels } from "../../model/headline";
import { splitPath } from "../../model/kernel_name";
import { kernelNs, kernelTimeTitle, withGraphsNs } from "../../model/kernel_time";
import { unknownSentence } from "../../model/precisions";
import { drawnDots, groupedDots, rowOfDot } from "../../model/roofline";
import { EfficiencyBand } from "./efficiency_band";
import { GpuUse, RowUse } from "./gpu_use";
import { LimitsPanel } from "./limits_panel";
import { MfuPanel } from "./mfu_panel";
import { Missing } from "./missing";
import { RankedOps } from "./ranked_ops";
import { RooflinePanel } from "./roofline_panel";

export function Efficiency({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const query = useQuery<EfficiencyResponse>(scopeKey(scope), (signal) => fetchEfficiency(scope, signal));
  const rates = query.data;
  const url = useUrl();
  const inTable = useGroup(url["gains.row"] ?? "");
  if (rates === null)
    return query.error === null ? <Loading what="efficiency" /> : <ErrorBox error={query.error} retry={query.reload} />;
  if (rates.precisions.length === 0)
    return (
      <Message title="Nothing is known about the efficiency of ops">
        <p>
          {hasKernels(data)
            ? "The kernels here cannot be rated."
            : hasGpuWork(data)
              ? "The GPUs ran copies and memsets, but no kernel: nothing was computed that could be rated."
              : "This recording holds no kernels."}
        </p>
        <p>
          {!hasKernels(data) ? (
            hasGpuWork(data) ? (
              "Kernels that were expected here ran outside of the recording, or on the CPU."
            ) : (
              <Sentence text={whyNoKernels(data)} />
            )
          ) : rates.hint !== "" ? (
            rates.hint
          ) : (
            "Record ops beside the kernels: NVTX ranges, or the PyTorch profiler's CPU activities."
          )}
        </p>
      </Message>
    );
  const by = scope.iterations / scope.summed;
  const shown = shownTimes(rates, by);
  const op = url["eff.row"] ?? "";
  const dot = op === "" && url["gains.row"] === undefined ? dotOf(shown, url["eff.dot"] ?? "") : null;
  const rated = rates.dots.length > 0;
  // Without roofs, dots of a small part of the time show nothing.
  const dotted = rates.dots.reduce((sum, { kernel_ns: ns }) => sum + (ns ?? 0), 0);
  const drawn = rated && (rates.peaks.length > 0 || 2 * dotted >= (kernelNs(data) ?? 0));
  const gains = rated && rates.peaks.length > 0;
  const unit = data.matrix_unit;
  const unknown = unknownSentence(data.kernel_time, kernelNs(data), unit);
  const byPrecision = (
    <Panel title={`${kernelTimeTitle(data)} by Precision`} summed about={ABOUT_PRECISIONS}>
      <PrecisionBreakdown
        times={shown.precisions}
        matrixUnit={data.has_matrix_units ? unit : ""}
        graphNs={(data.kernel_time.graph.time_ns ?? 0) / by}
      />
      {unknown !== "" && <p class="muted note-below">{unknown}</p>}
    </Panel>
  );
  return (
    <div class="dashboard efficiency">
      <OneStop>
        <EfficiencyBand data={data} rates={rates} />
        <LimitsPanel data={data} rates={shown} whole={withGraphsNs(data) / by} />
        <div class={drawn ? "efficiency-columns" : "efficiency-row"}>
          {drawn && (
            <div class="main-column">
              <RooflinePanel rates={shown} whole={withGraphsNs(data) / by} group={dot ?? inTable} />
            </div>
          )}
          <div class="side-column">
            <GpuUse data={data} rates={rates} group={dot} />
            {byPrecision}
          </div>
        </div>
      </OneStop>
      <div class="span-all gains-and-pane with-pane pane-in-sight">
        <RankedOps rated={rated} gains={gains} by={rankOf(data, rates)} />
        {(op !== "" || inTable !== null) && <RowUse data={data} rates={rates} group={inTable} op={op} />}
      </div>
      <div class="span-all efficiency-last">
        <MfuPanel rates={rates} profiled={data.performance.profiled_iterations} />
        <Missing rates={rates} />
      </div>
    </div>
  );
}

/** By what groups of ops are ranked: a gain that is known for less than half of the kernel time would hide the rest of it. */
function rankOf(
  data: DashboardResponse,
  { dots, peaks }: EfficiencyResponse,
): "gain_ns" | "kernel_time_ns" | "gpu_time_ns" {
  const kernels = kernelNs(data) ?? 0;
  if ((data.kernel_time.graph.time_ns ?? 0) > kernels) return "gpu_time_ns";
  const known = dots.reduce((sum, { kernel_ns: ns, gain_ns: gain }) => sum + (gain === null ? 0 : (ns ?? 0)), 0);
  return peaks.length > 0 && 2 * known >= kernels ? "gain_ns" : "kernel_time_ns";
}

/** What the server answers are sums: with the times of so many iterations for one. */
function shownTimes(rates: EfficiencyResponse, by: number): EfficiencyResponse {
  const mean = (ns: number | null): number | null => (ns === null ? null : ns / by);
  return {
    ...rates,
    precisions: rates.precisions.map((time) => ({ ...time, kernel_ns: mean(time.kernel_ns) })),
    causes: rates.causes.map((cause) => ({ ...cause, kernel_ns: mean(cause.kernel_ns) })),
    limits: rates.limits.map((limit) => ({ ...limit, kernel_ns: limit.kernel_ns / by })),
    undrawn: rates.undrawn && { ...rates.undrawn, kernel_ns: mean(rates.undrawn.kernel_ns) },
    dots: rates.dots.map((dot) => ({ ...dot, kernel_ns: mean(dot.kernel_ns), gain_ns: mean(dot.gain_ns) })),
  };
}

/** The group of the dot that an op belongs to. */
function dotOf({ dots, peaks }: EfficiencyResponse, op: string): SelectedGroup | null {
  const dot = op === "" ? undefined : groupedDots(drawnDots(dots)).find(({ ops }) => ops.includes(op));
  if (dot === undefined) return null;
  const memory = peaks.find(({ unit }) => unit === "memory")?.per_second ?? null;
  return {
    ...{ title: splitPath(dot.name).name, key: "", longest: dot.op_id, ops: dot.ops.length },
    row: rowOfDot(dot, memory),
  };
}
