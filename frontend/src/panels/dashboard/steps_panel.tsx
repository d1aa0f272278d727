/** The iterations beside the answer: as bars of the parts of a step where they are few, else as DLProf's chart of means. */
import type { DashboardResponse, Diagnosis } from "../../api/types";
import { StepChart } from "../../components/charts/step_chart";
import { IterationChart } from "../../components/iteration_chart";
import { classLabel } from "../../components/iteration_parts";
import { lazyView } from "../../components/lazy_view";
import { MarkSteps } from "../../components/mark_steps";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { ViewLink } from "../../components/view_link";
import { formatCount } from "../../format/number";
import { formatDuration } from "../../format/time";
import { NOT_MARKED } from "../../model/findings";
import { splitRows, type Step } from "../../model/step";

// On demand: the Dashboard must not wait for the timeline.
const Strip = lazyView(
  "the timeline",
  async () => (await import("../../components/timeline/iteration_strip")).IterationStrip,
);

/** More bars are too thin to be told apart here. */
const MOST_BARS = 64;

interface StepsPanelProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
  step: Step | null;
  /** Whether a finding says how iterations are to be marked. */
  advised: boolean;
}

export function StepsPanel({ data, diagnosis, step, advised }: StepsPanelProps) {
  const marked = data.iterations.source.kind !== "whole_capture";
  const { total_iterations: total, profiled_iterations: profiled } = data.performance;
  const { rows, unit } = data.iterations;
  const [only, ...others] = step?.iterations ?? [];
  return (
    <Panel
      title="Iteration Summary"
      walked
      about="Each bar is one iteration, split like the bar above; pale ones are left out of the means. A click opens the iteration."
      picture
      tools={
        <>
          <ul class="badges">
            <li class="badge">Total {formatCount(total)}</li>
            <li class="badge">Profiled {formatCount(profiled)}</li>
          </ul>
          <ViewLink class="more-button" to={{ view: "iterations" }}>
            Iterations <Icon name="right" />
          </ViewLink>
        </>
      }
    >
      {only === undefined ? (
        <p class="nothing">
          No iteration was found. <MarkSteps framework={data.framework} format={data.profile.format} />.
        </p>
      ) : others.length === 0 ? (
        <div class="only-step">
          <p class="muted">
            {marked
              ? `One iteration of ${formatDuration(only.wall_ns)}. `
              : "No iteration is marked: the whole recording counts as one. "}
            {!advised ? (
              data.iterations.source.kind === "profiler_step" ? (
                // It is called already: the schedule stopped after one.
                <>
                  Only one was recorded; record more (<code>active=5</code> in the schedule), to see whether they are
                  alike.
                </>
              ) : (
                <>
                  <MarkSteps framework={data.framework} format={data.profile.format} />, to see whether they are alike.
                </>
              )
            ) : (
              <ViewLink class="link-button" to={{ view: "recommendations", "findings.open": NOT_MARKED }}>
                How to mark them
              </ViewLink>
            )}
          </p>
          <Strip iteration={String(only.number)} fill />
        </div>
      ) : others.length < MOST_BARS ? (
        <StepChart
          iterations={[only, ...others]}
          to={({ number }) => ({ view: "iterations", "iters.row": String(number) })}
        />
      ) : (
        <IterationChart rows={splitRows(rows, diagnosis, data) ?? rows} label={classLabel(data)} unit={unit} />
      )}
    </Panel>
  );
}
