import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { MissingWork } from "../../components/missing_work";
import { Sentence } from "../../components/sentence";
import { Info } from "../../components/tooltip";
import { formatShare } from "../../format/share";
import { useScope } from "../../frame/scope";
import { useDiagnosis } from "../../frame/use_diagnosis";
import {
  attainableAbout,
  efficiencySentence,
  isLowerBound,
  isMostlyUnknown,
  isUnknown,
  kernelsOfWall,
  workInWords,
} from "../../model/efficiency_sentence";
import { iterationGain } from "../../model/iteration_gain";
import { limitSegments, limitsSentence, precisionsSentence } from "../../model/limits";
import { gainsInFewerBits, precisionLabel } from "../../model/precisions";
import { devicesInUse } from "../../model/headline";
import { formatPerIteration } from "../../format/time";
import { kernelNs, kernelTimeName, withGraphsNs } from "../../model/kernel_time";

/** Of the time of the iterations: from here on the sum of the times of kernels is visibly more. */
const LEAST_OVERLAP = 1.005;

/** The utilisation in a sentence, and how far it can be trusted. */
export function EfficiencyBand({ data, rates }: { data: DashboardResponse; rates: EfficiencyResponse }) {
  const { measured_fraction: measured, gain_ns: gain } = rates;
  const kernels = kernelNs(data) ?? 0;
  const inGraphs = (data.kernel_time.graph.time_ns ?? 0) > kernels;
  const gpus = devicesInUse(data).length;
  const peak = attainableAbout(rates, gpus, data.matrix_unit);
  const iterations = data.performance.profiled_iterations ?? 0;
  const work = workInWords(rates, iterations);
  const diagnosis = useDiagnosis().data;
  const { busy } = useScope();
  // What is behind the numbers, on demand.
  const behind = [
    gain !== null && gain > 0 ? iterationGain(busy) : "",
    work === "" ? "" : `Counted are matrix multiplications, convolutions and attention: ${work}`,
    isLowerBound(rates) && !isMostlyUnknown(rates)
      ? `At least: shapes cover ${formatShare(measured)} of their time.`
      : "",
  ].filter(Boolean);
  const whole = withGraphsNs(data);
  const running = kernelsOfWall(data);
  const computed = efficiencySentence(rates, gpus, data.matrix_unit, running, iterations);
  // A rate of which no share is known is no answer.
  const instead =
    isUnknown(rates) || rates.mfu_fraction === null
      ? ([
          limitsSentence(limitSegments(rates, whole, data.matrix_unit), whole, data.matrix_unit, kernelTimeName(data)),
          precisionsSentence(rates.precisions, whole, data.has_matrix_units ? data.matrix_unit : ""),
        ].find((sentence) => sentence.length > 0) ?? [])
      : [];
  // Kernels on matrix units wait too: the bar does not tell.
  const latency = rates.dots.reduce((sum, { bound, kernel_ns: ns }) => sum + (bound === "latency" ? (ns ?? 0) : 0), 0);
  const fewerBits = [
    ...new Set(
      rates.dots.filter((dot) => gainsInFewerBits(dot) && (dot.gain_ns ?? 0) > 0).map(({ precision }) => precision),
    ),
  ].map(precisionLabel);
  return (
    <header class="headline span-all">
      <h2>
        {(instead.length > 0 ? instead : computed).map(({ text, strong }, i) =>
          strong === true ? <strong key={i}>{text}</strong> : text,
        )}
      </h2>
      <p class="model-line">
        <MissingWork diagnosis={diagnosis} />
        {instead.length > 0 && <span>{computed.map(({ text }) => text).join("")}</span>}
        {gain !== null && gain > 0 && kernels > 0 && !isMostlyUnknown(rates) && (
          <span>
            Ops whose work is known could gain at most{" "}
            <strong>{formatPerIteration(gain, { iterations, summed: iterations }, " of kernel time")}</strong>,{" "}
            <strong>{formatShare(gain / kernels)}</strong> of all
            {fewerBits.length > 0 && `, counting 16-bit rates for ${fewerBits.join(" and ")}`}
            {2 * latency > kernels && `; ${formatShare(latency / kernels)} of kernel time is bound by latency`}.
          </span>
        )}
        {work !== "" && (
          <>
            {peak !== "" && <span>{peak}</span>}
            {running !== null && running > LEAST_OVERLAP && (
              <span>
                Kernels overlap: {kernelTimeName(data)}, their sum, is{" "}
                {formatPerIteration(whole / Math.max(gpus, 1), { iterations, summed: iterations })}
                {gpus > 1 && " a GPU"}.
              </span>
            )}
          </>
        )}
        {behind.length > 0 && <Info term="how much was computed, and could be gained" text={behind.join("\n")} />}
        {inGraphs ? (
          <span>
            Most of the time is in CUDA graphs recorded as a whole. Record the kernels in them:{" "}
            <code>nsys profile --cuda-graph-trace=node</code>.
          </span>
        ) : (
          rates.hint !== "" && (
            <span>
              <Sentence text={rates.hint} />
            </span>
          )
        )}
      </p>
    </header>
  );
}
