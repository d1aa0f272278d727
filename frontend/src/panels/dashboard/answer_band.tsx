/** The answer: one sentence, and the step as one bar of 100 %. */
import type { DashboardResponse, Diagnosis } from "../../api/types";
import { BarLegend, StackedBar } from "../../components/charts/stacked_bar";
import { CountedIterations } from "../../components/counted_iterations";
import { Icon } from "../../components/icon";
import { Headline, Sentence } from "../../components/sentence";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { formatCounted } from "../../format/number";
import { formatDuration } from "../../format/time";
import {
  hasGpuWork,
  matrixSentence,
  modelLine,
  utilizationSentence,
  whyNoKernels,
  type Phrase,
} from "../../model/headline";
import type { Step } from "../../model/step";
import { RankNote } from "./rank_note";

interface AnswerBandProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
  step: Step | null;
  /** What is said of a recording without GPU work. */
  withoutGpu: string;
}

export function AnswerBand({ data, diagnosis, step, withoutGpu }: AnswerBandProps) {
  const answer = diagnosis !== null && step !== null ? diagnosis.headline : hasGpuWork(data) ? "" : withoutGpu;
  const phrases: readonly Phrase[] = [...utilizationSentence(data), { text: " " }, ...matrixSentence(data)];
  const serious = data.coverage.notes.filter(({ severity }) => severity !== "info").length;
  const row = useOneStop<HTMLElement>();
  // That nothing was recorded, the sentence says.
  const tells = step?.segments.some(({ key }) => key !== "unrecorded") ?? false;
  return (
    <header class="headline" {...row}>
      <h2>
        {answer !== "" ? (
          <Headline text={answer} />
        ) : (
          phrases.map(({ text, strong }, i) => {
            const sentence = <Sentence key={i} text={text} />;
            return strong === true ? <strong key={i}>{sentence}</strong> : sentence;
          })
        )}
      </h2>
      <p class="model-line">
        {diagnosis === null || step === null ? (
          `${modelLine(data)}${hasGpuWork(data) ? "" : "."}`
        ) : (
          // The sentence may tell of the longest already.
          <CountedIterations {...{ data, diagnosis, step }} brief={diagnosis.headline.includes(" alone took ")} />
        )}{" "}
        {diagnosis?.findings.length === 0 && "No rule found time that could be gained. "}
        {!hasGpuWork(data) && data.memory !== null && (
          <ViewLink class="link-button" to={{ view: "memory" }}>
            What holds it
          </ViewLink>
        )}
        {!hasGpuWork(data) && data.memory === null && (
          <span>
            <Sentence text={whyNoKernels(data)} /> {tells && barOfHost(data, step)}
          </span>
        )}
        <RankNote profile={data.profile} /> {serious > 0 && <Limits count={serious} />}
      </p>
      {step !== null && tells && (
        <>
          <StackedBar
            segments={step.segments}
            whole_ns={step.wall_ns}
            label={`Where the ${formatDuration(step.wall_ns)} of a step go`}
          />
          <BarLegend segments={step.segments} whole_ns={step.wall_ns} />
        </>
      )}
    </header>
  );
}

/** What the bar is of, which a sentence about ops of all threads does not say. */
function barOfHost({ performance: { profiled_iterations: count } }: DashboardResponse, step: Step | null): string {
  if (step === null || step.segments.length === 0) return "";
  const mean = count !== null && count > 1 ? `, mean of ${formatCounted(count, "iteration")}` : "";
  return `Bar: ${formatDuration(step.wall_ns)}${mean}.`;
}

function Limits({ count }: { count: number }) {
  return (
    <button
      type="button"
      class="badge badge-warning"
      onClick={() => {
        const notes = document.getElementById("coverage");
        notes?.closest("details")?.setAttribute("open", "");
        notes?.scrollIntoView({ block: "center" });
        notes?.focus({ preventScroll: true });
      }}
    >
      <Icon name="warning" /> {formatCounted(count, "limit")} of this recording
    </button>
  );
}
