/** The Dashboard: why a step takes as long as it does and what to change first; below, where GPU time goes, and DLProf's panels. */
import { useMemo } from "preact/hooks";

import type { DashboardResponse } from "../../api/types";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { stepOf, stepWithout } from "../../model/step";
import { AnswerBand } from "./answer_band";
import { Coverage } from "./coverage";
import { FirstChanges } from "./first_changes";
import { Guidance } from "./guidance";
import { KernelTimePanel } from "./kernel_time_panel";
import { PerformanceSummary } from "./performance_summary";
import { PrecisionPanel } from "./precision_panel";
import { RankNote } from "./rank_note";
import { ResourceBreakdown } from "./resource_breakdown";
import { StepsPanel } from "./steps_panel";
import { SystemConfiguration } from "./system_configuration";
import { TensorCoreEfficiency } from "./tensor_core_efficiency";
import { Tiles } from "./tiles";
import { Utilization } from "./utilization";
import { WhereTimeGoes } from "./where_time_goes";

export function Dashboard({ data }: { data: DashboardResponse }) {
  const { data: found, loading } = useDiagnosis();
  const diagnosis = found === null || found.devices.length === 0 ? null : found;
  const step = useMemo(() => (diagnosis === null ? stepWithout(data) : stepOf(diagnosis, data)), [diagnosis, data]);
  const open = data.coverage.notes.some(({ severity }) => severity === "error");
  return (
    <div class="dashboard">
      {found === null && loading ? (
        <AnswerToCome />
      ) : (
        <>
          <AnswerBand data={data} diagnosis={diagnosis} step={step} />
          <Tiles data={data} diagnosis={diagnosis} step={step} />
          <RankNote />
          <div class="answer-row">
            <FirstChanges data={data} diagnosis={diagnosis} />
            <StepsPanel data={data} step={step} />
          </div>
        </>
      )}
      <WhereTimeGoes data={data} />
      <div class="panel-row">
        <Utilization data={data} />
        <ResourceBreakdown data={data} />
        <KernelTimePanel data={data} />
        <TensorCoreEfficiency data={data} />
      </div>
      <PerformanceSummary data={data} />
      <PrecisionPanel data={data} />
      <details class="footer" open={open}>
        <summary>System, guidance, and what this recording holds</summary>
        <div class="panel-row">
          <SystemConfiguration data={data} />
          <Guidance data={data} />
          <Coverage data={data} />
        </div>
      </details>
    </div>
  );
}

/** As high as the answer, so that nothing below it moves when it is there. */
function AnswerToCome() {
  return (
    <div role="status">
      <span class="visually-hidden">Working out where the time of a step goes</span>
      <div class="skeleton answer-skeleton" />
      <div class="answer-row">
        <div class="skeleton steps-skeleton" />
        <div class="skeleton steps-skeleton" />
      </div>
    </div>
  );
}
