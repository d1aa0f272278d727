import { fetchEfficiency } from "../../api/client";
import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { ABOUT_PRECISIONS, PrecisionBreakdown } from "../../components/precision_breakdown";
import { ViewLink } from "../../components/view_link";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { formatDuration, inTimeUnit, readableAndExact, unitOf } from "../../format/time";
import { causeAbout, divided } from "../../model/causes";
import { kernelNs, kernelTimeTitle } from "../../model/kernel_time";
import { unknownSentence } from "../../model/precisions";

/** In which precisions the kernels computed, and how much of that is unknown; nothing where none is known. */
export function PrecisionPanel({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const query = useQuery<EfficiencyResponse>(scopeKey(scope), (signal) => fetchEfficiency(scope, signal));
  const unit = data.matrix_unit;
  const times = query.data?.precisions ?? [];
  const { keptOff } = divided(query.data?.causes ?? []);
  // What is left of "Not using them": kernels that multiply nothing, and do not change the layout for those that do.
  const { kernel_ns: eligible, tensor_core_ns: used, unknown_ns: untold } = data.tensor_core_efficiency;
  const off = keptOff.reduce((sum, { kernel_ns: ns }) => sum + (ns ?? 0), 0);
  const others = (eligible ?? 0) - (used ?? 0) - (untold ?? 0) - off;
  const offUnit = unitOf([...keptOff.map(({ kernel_ns: ns }) => ns), others]);
  const unknown = unknownSentence(data.kernel_time, kernelNs(data), unit);
  const graphNs = data.kernel_time.graph.time_ns ?? 0;
  if (times.length === 0 && unknown === "" && graphNs === 0) return null;
  return (
    <Panel
      title={`${kernelTimeTitle(data)} by Precision`}
      about={ABOUT_PRECISIONS}
      class="span-all"
      tools={
        <ViewLink class="more-button" to={{ view: "efficiency" }}>
          Efficiency <Icon name="right" />
        </ViewLink>
      }
    >
      {(times.length > 0 || graphNs > 0) && (
        <PrecisionBreakdown times={times} matrixUnit={data.has_matrix_units ? unit : ""} graphNs={graphNs} />
      )}
      {data.has_matrix_units && keptOff.length > 0 && (
        <p class="note-below">
          Of eligible ops, {formatDuration(off + others)} are not on {unit}s:{" "}
          {keptOff.map(({ label, kernel_ns: time }, place) => (
            <span key={label}>
              {place > 0 && ", "}
              <ViewLink
                class="link-button"
                tip={causeAbout(label, unit)}
                to={{ view: "efficiency", "eff.where.cause": label }}
              >
                {label}
              </ViewLink>{" "}
              <span class="number" data-tip={readableAndExact(time)}>
                {inTimeUnit(time ?? 0, offUnit)}
              </span>
            </span>
          ))}
          {others > 0 && (
            <span data-tip={`Kernels of these ops that multiply no matrices. ${readableAndExact(others)}`}>
              , their other kernels <span class="number">{inTimeUnit(others, offUnit)}</span>
            </span>
          )}
          .
        </p>
      )}
      {unknown !== "" && <p class="muted note-below">{unknown}</p>}
    </Panel>
  );
}
