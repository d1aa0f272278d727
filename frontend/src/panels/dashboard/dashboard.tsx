/** The Dashboard: where the time of the aggregated iterations went, at a glance. */
import type { DashboardResponse } from "../../api/types";
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
  return (
    <div class="dashboard">
      <HeadlineBand data={data} />
      <PerformanceSummary data={data} />
      <Utilization data={data} />
      <ResourceBreakdown data={data} />
      <KernelTimePanel data={data} />
      <TensorCoreEfficiency data={data} />
      <IterationSummary data={data} />
      <div class="side-column">
        <SystemConfiguration data={data} />
        <Guidance data={data} />
        <Coverage data={data} />
      </div>
      <TopOps data={data} />
      <PrecisionPanel data={data} />
      <Recommendations data={data} />
    </div>
  );
}
