/** How long an iteration takes, and which are left out, in a sentence. */
import { useMemo } from "preact/hooks";

import type { DashboardResponse, Diagnosis } from "../../api/types";
import { CountedIterations } from "../../components/counted_iterations";
import { MarkSteps } from "../../components/mark_steps";
import { classLabel } from "../../components/iteration_parts";
import { MissingWork } from "../../components/missing_work";
import { Headline } from "../../components/sentence";
import { formatCount } from "../../format/number";
import { formatDuration, readableAndExact } from "../../format/time";
import { spentOn } from "../../model/answer";
import { fewMakeTheMean, isFarFrom, medianOf } from "../../model/iterations";
import { oddOne } from "../../model/spread";
import { splitRows, type Step } from "../../model/step";
import { overIn } from "./bars";

interface IterationsBandProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
  step: Step | null;
}

export function IterationsBand({ data, diagnosis, step }: IterationsBandProps) {
  const { average_iteration_ns: mean, wall_clock_ns: wall, profiled_iterations: count } = data.performance;
  const { rows, binned, source } = data.iterations;
  const odd = useMemo(() => oddOne(splitRows(rows, diagnosis, data) ?? rows), [rows, diagnosis, data]);
  const lengths = rows.filter(({ profiled }) => profiled).map(({ duration_ns: ns }) => ns);
  const median = medianOf(lengths);
  const isSkewed = mean !== null && isFarFrom(median, mean);
  const isOfFew = mean !== null && !binned && lengths.length > 1 && fewMakeTheMean(mean, median);
  const spent = diagnosis === null || step === null || count !== 1 ? "" : spentOn(diagnosis, mean ?? 0);
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
            <MarkSteps framework={data.framework} format={data.profile.format} />, or pick a key node that runs once in
            each.
          </span>
          <MissingWork diagnosis={diagnosis} />
        </p>
      </header>
    );
  return (
    <header class="headline">
      <h2>
        {isOfFew ? (
          <>
            Half of the iterations take up to{" "}
            <strong class="nowrap" data-tip={readableAndExact(median)}>
              {formatDuration(median)}
            </strong>
            ; all take {formatDuration(Math.min(...lengths))} to {formatDuration(Math.max(...lengths))},{" "}
            <span class="nowrap">{formatDuration(mean)}</span> on average
          </>
        ) : (
          <>
            {(count ?? 0) > 1 ? "An" : "The"} iteration takes {time}
            {(count ?? 0) > 1 && " on average"}
            {!binned && lengths.length > 1 && (
              <>
                , {isSkewed && `median ${formatDuration(median)}, `}from {formatDuration(Math.min(...lengths))} to{" "}
                {formatDuration(Math.max(...lengths))}
              </>
            )}
          </>
        )}
        . <Headline text={spent} />
      </h2>
      <p class="model-line">
        <span>
          {diagnosis !== null && step !== null && (
            <>
              <CountedIterations data={data} diagnosis={diagnosis} step={step} brief={isOfFew && odd !== null} />{" "}
            </>
          )}
          {odd !== null && (
            <>
              Iteration {formatCount(odd.iteration)} is {overIn(odd, classLabel(data))}.{" "}
            </>
          )}
          <MissingWork diagnosis={diagnosis} told={spent !== ""} />
        </span>
      </p>
    </header>
  );
}
