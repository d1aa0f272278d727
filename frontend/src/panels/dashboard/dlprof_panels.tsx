/** DLProf's panels of the Dashboard, below the answer: utilisation, resources, kernels, precisions; system and guidance folded. */
import type { DashboardResponse, Diagnosis } from "../../api/types";
import { Panel } from "../../components/panel";
import { ofIterations } from "../../format/number";
import { useScope } from "../../frame/scope";
import { spanOf } from "../../model/answer";
import { emptyPanels } from "../../model/empty_panels";
import { exposedCommunication, isLowerBound } from "../../model/parts";
import { Coverage } from "./coverage";
import { Guidance } from "./guidance";
import { KernelTimePanel } from "./kernel_time_panel";
import { PerformanceSummary } from "./performance_summary";
import { PrecisionPanel } from "./precision_panel";
import { ResourceBreakdown } from "./resource_breakdown";
import { SystemConfiguration } from "./system_configuration";
import { TensorCoreEfficiency } from "./tensor_core_efficiency";
import { Utilization } from "./utilization";

interface DlprofPanelsProps {
  data: DashboardResponse;
  /** Whether the recording tells of times at all: a snapshot of memory does not. */
  timed: boolean;
  diagnosis: Diagnosis | null;
}

/** Whether collectives ran, which DLProf's classes count among kernels and the bar of a step does not. */
const communicates = ({ mean }: Diagnosis): boolean =>
  Object.values(mean.devices).some(({ overlap }) => overlap.communication_all_ns > 0);

export function DlprofPanels({ data, timed, diagnosis }: DlprofPanelsProps) {
  const { iterations } = useScope();
  const communicated = diagnosis !== null && communicates(diagnosis);
  const exposed = diagnosis === null ? 0 : exposedCommunication(diagnosis, data);
  const span = diagnosis === null ? "" : spanOf(diagnosis, data.performance.wall_clock_ns);
  const efficiency = `${data.matrix_unit} Kernel Efficiency`;
  const empty = emptyPanels(data);
  const has = (title: string): boolean => !empty.some(({ titles }) => titles.includes(title));
  const isUsed = has("GPU Utilization");
  const whyEmpty = empty.find(({ titles }) => titles.includes(efficiency))?.reason ?? "";
  return (
    <>
      {timed && (
        <>
          {iterations > 1 && (
            <p class="muted panels-note">DLProf's panels: times are {ofIterations("sums of", iterations)}.</p>
          )}
          {span !== "" && <p class="muted panels-note">{span}</p>}
          <div class="dlprof-panels">
            {(isUsed || has(efficiency)) && (
              <div class="panel-stack">
                {isUsed && (
                  <Utilization data={data} exposed={exposed} least={diagnosis !== null && isLowerBound(diagnosis)} />
                )}
                {has(efficiency) ? (
                  <TensorCoreEfficiency data={data} />
                ) : (
                  <Panel title={efficiency}>
                    <p class="muted">{whyEmpty.replace(/^./, (first) => first.toUpperCase())}</p>
                  </Panel>
                )}
              </div>
            )}
            {has("Resource Usage Breakdown") && (
              <ResourceBreakdown
                data={data}
                exposed={exposed}
                communicates={communicated}
                dividesIdle={diagnosis !== null && isUsed}
              />
            )}
            <div class="panel-stack">
              {has("Total Kernel GPU Time") && <KernelTimePanel data={data} communicates={communicated} />}
              <PerformanceSummary data={data} />
            </div>
          </div>
          {!isUsed && (
            <p class="muted panels-note">
              {empty.map(({ titles, reason }) => `${titles.join(", ")}: ${reason}`).join(" ")}
            </p>
          )}
          <PrecisionPanel data={data} />
        </>
      )}
      <details class="footer" open={!timed}>
        <summary>System, guidance, and what this recording holds</summary>
        <div class="footer-panels">
          <SystemConfiguration data={data} />
          {/* It is about kernels, of which a snapshot of memory has none. */}
          {timed && <Guidance data={data} />}
          <Coverage data={data} />
        </div>
      </details>
    </>
  );
}
