/** How long an iteration takes, and which are left out, in a sentence. */
import { useMemo } from "preact/hooks";

import type { DashboardResponse, Diagnosis } from "../../api/types";
import { MarkSteps } from "../../components/framework_advice";
import { classLabel } from "../../components/iteration_parts";
import { formatCount, withinSentence } from "../../format/number";
import { formatDuration, readableAndExact } from "../../format/time";
import { leavesOut, saidOf } from "../../model/answer";
import { withParts } from "../../model/iterations";
import { spreadOf } from "../../model/spread";
import { partsByIteration, type Step } from "../../model/step";

interface IterationsBandProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
  step: Step | null;
}

export function IterationsBand({ data, diagnosis, step }: IterationsBandProps) {
  const { average_iteration_ns: mean, wall_clock_ns: wall, profiled_iterations: count } = data.performance;
  const { rows, binned, source } = data.iterations;
  const apart = useMemo(() => {
    const split = diagnosis === null ? null : partsByIteration(diagnosis, data);
    return spreadOf((split === null ? null : withParts(rows, split)) ?? rows);
  }, [rows, diagnosis, data]);
  const lengths = rows.filter(({ profiled }) => profiled).map(({ duration_ns: ns }) => ns);
  const time = (
    <strong class="nowrap" data-tip={readableAndExact(mean ?? wall)}>
      {formatDuration(mean ?? wall)}
    </strong>
  );
  if (source.kind === "whole_capture")
    return (
      <header class="headline">
        <h2>No iteration is marked: the whole recording counts as one, of {time}.</h2>
        <p class="model-line">
          <span>
            <MarkSteps framework={data.framework} />, or pick a key node that runs once in each.
          </span>
        </p>
      </header>
    );
  return (
    <header class="headline">
      <h2>
        {(count ?? 0) > 1 ? "An" : "The"} iteration takes {time}
        {(count ?? 0) > 1 && " on average"}
        {!binned && lengths.length > 1 && (
          <>
            , from {formatDuration(Math.min(...lengths))} to {formatDuration(Math.max(...lengths))}
          </>
        )}
        .
      </h2>
      {diagnosis !== null && step !== null && (
        <p class="model-line">
          <span>
            {apart?.part && (
              <>
                Most of what the longest, iteration {formatCount(apart.longest)}, takes more than the shortest is{" "}
                {withinSentence(classLabel(data)(apart.part.key))}: {formatDuration(apart.part.ns)} of{" "}
                {formatDuration(apart.over_ns)}.{" "}
              </>
            )}
            {saidOf(diagnosis, step)}
            {leavesOut(diagnosis) && " To include what was left out, move the boundaries and press Reaggregate."}
          </span>
        </p>
      )}
    </header>
  );
}
