import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { IterationGain } from "../../components/iteration_gain";
import { Sentence } from "../../components/sentence";
import { formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";
import {
  attainableAbout,
  efficiencySentence,
  isLowerBound,
  isMostlyUnknown,
  isUnknown,
  kernelsOfWall,
} from "../../model/efficiency_sentence";
import { limitSegments, limitsSentence, precisionsSentence } from "../../model/limits";
import { gainsInFewerBits, precisionLabel } from "../../model/precisions";
import { devicesInUse } from "../../model/headline";
import { formatPerIteration } from "../../format/time";
import { kernelNs, withGraphsNs } from "../../model/kernel_time";

/** Of the time of the iterations: from here on the sum of the times of kernels is visibly more. */
const LEAST_OVERLAP = 1.005;

/** The utilisation in a sentence, and how far it can be trusted. */
export function EfficiencyBand({ data, rates }: { data: DashboardResponse; rates: EfficiencyResponse }) {
  const { product_flops: flops, measured_fraction: measured, gain_ns: gain } = rates;
  const kernels = kernelNs(data) ?? 0;
  const inGraphs = (data.kernel_time.graph.time_ns ?? 0) > kernels;
  const gpus = devicesInUse(data).length;
  const peak = attainableAbout(rates, gpus, data.matrix_unit);
  const iterations = data.performance.profiled_iterations ?? 0;
  const whole = withGraphsNs(data);
  const running = kernelsOfWall(data);
  const computed = efficiencySentence(rates, gpus, data.matrix_unit, running, iterations);
  // A rate of which no share is known is no answer.
  const instead =
    isUnknown(rates) || rates.mfu_fraction === null
      ? ([
          limitsSentence(limitSegments(rates, whole, data.matrix_unit), whole, data.matrix_unit),
          precisionsSentence(rates.precisions, whole, data.has_matrix_units ? data.matrix_unit : ""),
        ].find((sentence) => sentence.length > 0) ?? [])
      : [];
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
      {instead.length > 0 && <p>{computed.map(({ text }) => text).join("")}</p>}
      {gain !== null && gain > 0 && kernels > 0 && !isMostlyUnknown(rates) && (
        <p>
          The ops whose work is known could gain at most{" "}
          <strong>{formatPerIteration(gain, { iterations, summed: iterations }, " of kernel time")}</strong>,{" "}
          <strong>{formatShare(gain / kernels)}</strong> of all
          {fewerBits.length > 0 &&
            `, counting the 16-bit rates for what is multiplied in ${fewerBits.join(" and ")}`}. <IterationGain />
        </p>
      )}
      <p class="model-line">
        {flops !== null && flops > 0 && (
          <>
            <span>
              {formatScaled(flops / Math.max(iterations, 1), "FLOP")}
              {iterations > 1 && " an iteration"} in{" "}
              {isMostlyUnknown(rates)
                ? "those whose shapes are known"
                : "matrix multiplications, convolutions and attention"}
              .
            </span>
            {peak !== "" && <span>{peak}</span>}
            {running !== null && running > LEAST_OVERLAP && (
              <span>
                Kernels overlap: kernel time, their sum, is{" "}
                {formatPerIteration(whole / Math.max(gpus, 1), { iterations, summed: iterations })}
                {gpus > 1 && " a GPU"}.
              </span>
            )}
            {isLowerBound(rates) && !isMostlyUnknown(rates) && (
              <span>A lower bound: shapes are known for {formatShare(measured)} of the time of such kernels.</span>
            )}
          </>
        )}
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
