/** The Dashboard: why a step takes as long as it does and what to change first; below, where GPU time goes, and DLProf's panels. */
import { useMemo } from "preact/hooks";

import type { DashboardResponse } from "../../api/types";
import { lazyView } from "../../components/lazy_view";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { hasGpuWork, hasOps } from "../../model/headline";
import { NOT_MARKED } from "../../model/findings";
import { stepOf, stepWithout } from "../../model/step";
import { AnswerBand } from "./answer_band";
import { FirstChanges } from "./first_changes";
import { StepsPanel } from "./steps_panel";
import { Tiles } from "./tiles";
import { WhereTimeGoes } from "./where_time_goes";

/** Below the fold: the answer must not wait for their code. */
const DlprofPanels = lazyView("DLProf's panels", async () => (await import("./dlprof_panels")).DlprofPanels);

const MemoryAtAGlance = lazyView("memory", async () => (await import("../memory/at_a_glance")).MemoryAtAGlance);

export function Dashboard({ data }: { data: DashboardResponse }) {
  const { data: answer, loading } = useDiagnosis();
  const diagnosis = answer === null || answer.devices.length === 0 ? null : answer;
  const step = useMemo(() => (diagnosis === null ? stepWithout(data) : stepOf(diagnosis, data)), [diagnosis, data]);
  // A snapshot tells of memory alone: pictures of time would be empty.
  const ofMemory = data.memory !== null && !hasGpuWork(data) && !hasOps(data);
  return (
    <div class="dashboard">
      {answer === null && loading ? (
        <AnswerToCome timed={!ofMemory} />
      ) : (
        <>
          <AnswerBand
            data={data}
            diagnosis={diagnosis}
            step={ofMemory ? null : step}
            withoutGpu={answer?.headline ?? ""}
          />
          {!ofMemory && (
            <>
              <Tiles data={data} diagnosis={diagnosis} step={step} />
              <div class="answer-row">
                <FirstChanges data={data} diagnosis={diagnosis} />
                <StepsPanel
                  data={data}
                  diagnosis={diagnosis}
                  step={step}
                  advised={diagnosis?.findings.some(({ rule }) => rule === NOT_MARKED) ?? false}
                />
              </div>
            </>
          )}
        </>
      )}
      {ofMemory ? (
        <MemoryAtAGlance />
      ) : (
        (hasGpuWork(data) || hasOps(data)) && <WhereTimeGoes data={data} diagnosis={diagnosis} />
      )}
      <DlprofPanels data={data} timed={!ofMemory} diagnosis={diagnosis} />
    </div>
  );
}

/** As high as the answer, so that nothing below it moves when it is there. */
function AnswerToCome({ timed }: { timed: boolean }) {
  return (
    <div role="status">
      <span class="visually-hidden">Working out where the time of an iteration goes</span>
      <div class={timed ? "skeleton answer-skeleton" : "skeleton memory-answer-skeleton"} />
      {timed && (
        <div class="answer-row">
          <div class="skeleton steps-skeleton" />
          <div class="skeleton steps-skeleton" />
        </div>
      )}
    </div>
  );
}
