/** What the work made of the GPUs: matrix units, arithmetic, memory, multiprocessors. That one is busy tells of none of these. */
import { fetchEfficiency } from "../../api/client";
import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { ViewLink } from "../../components/view_link";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { formatBytes } from "../../format/bytes";
import { hasKernels } from "../../model/headline";
import { Meter, NetworkUse } from "../efficiency/gpu_use";

export function DeviceUse({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const { data: rates, error } = useQuery<EfficiencyResponse>(scopeKey(scope), (signal) =>
    fetchEfficiency(scope, signal),
  );
  if (!hasKernels(data) || error !== null) return null;
  const { memory } = data;
  return (
    <Panel
      title="While Kernels Run"
      summed="means"
      about="A GPU is busy as soon as any kernel runs, however little of it the kernel uses. Compute throughput is the mean over kernel time; the others are means, weighted by it, over the ops for which each value is known. Kernel time is that of the kernels that the iterations launched, as on Ops; Busy Time below is what ran in them."
      tools={
        <ViewLink class="more-button" to={{ view: "efficiency" }}>
          Efficiency <Icon name="right" />
        </ViewLink>
      }
    >
      <div class="device-use">
        {rates === null ? <p class="muted">Loading…</p> : <NetworkUse data={data} rates={rates} />}
        {memory !== null && !memory.relative && memory.capacity_bytes !== null && memory.capacity_bytes > 0 && (
          <Meter
            label={`Memory of GPU ${memory.device} at its peak`}
            fraction={memory.peak_bytes / memory.capacity_bytes}
            value={`${formatBytes(memory.peak_bytes)} of ${formatBytes(memory.capacity_bytes)}`}
          />
        )}
      </div>
    </Panel>
  );
}
