/** The Dashboard: where the time of the aggregated iterations went, at a glance. */
import { fetchFindings } from "../../api/client";
import type { DashboardResponse, FindingsResponse } from "../../api/types";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { Coverage } from "./coverage";
import { Guidance } from "./guidance";
import { HeadlineBand } from "./headline_band";
import { IterationSummary } from "./iteration_summary";
import { KernelTimePanel } from "./kernel_time_panel";
import { PerformanceSummary } from "./performance_summary";
import { PrecisionPanel } from "./precision_panel";
import { Recommendations } from "./recommendations";
import { ResourceBreakdown } from "./resource_breakdown";
import { SystemConfiguration } from "./system_configuration";
import { TensorCoreEfficiency } from "./tensor_core_efficiency";
import { TopOps } from "./top_ops";
import { Utilization } from "./utilization";

export function Dashboard({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const findings = useQuery<FindingsResponse>(scopeKey(scope), (signal) => fetchFindings(scope, signal)).data;
  return (
    <div class="dashboard">
      <HeadlineBand data={data} findings={findings} />
      <PerformanceSummary data={data} />
      <Utilization data={data} />
      <ResourceBreakdown data={data} />
      <KernelTimePanel data={data} />
      <TensorCoreEfficiency data={data} />
      <div class="main-column span-two-thirds">
        <IterationSummary data={data} />
        <TopOps data={data} />
      </div>
      <div class="side-column">
        <SystemConfiguration data={data} />
        <Guidance data={data} />
        <Coverage data={data} />
      </div>
      <PrecisionPanel data={data} />
      <Recommendations data={data} findings={findings} />
    </div>
  );
}
