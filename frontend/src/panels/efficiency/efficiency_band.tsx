import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { IterationGain } from "../../components/iteration_gain";
import { Sentence } from "../../components/sentence";
import { formatScaled, ofIterations } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { attainableAbout, efficiencySentence, isLowerBound, isMostlyUnknown } from "../../model/efficiency_sentence";
import { devicesInUse } from "../../model/headline";
import { formatDuration } from "../../format/time";
import { kernelNs } from "../../model/kernel_time";

/** The utilisation in a sentence, and how far it can be trusted. */
export function EfficiencyBand({ data, rates }: { data: DashboardResponse; rates: EfficiencyResponse }) {
  const { product_flops: flops, measured_fraction: measured, gain_ns: gain } = rates;
  const kernels = kernelNs(data) ?? 0;
  const graphs = data.kernel_time.graph.time_ns ?? 0;
  const inGraphs = graphs > kernels;
  const gpus = devicesInUse(data).length;
  const ofWall = shareOf(kernels + graphs, (data.gpu_utilization.wall_ns ?? 0) * gpus);
  const peak = attainableAbout(rates, gpus, data.matrix_unit);
  const iterations = data.performance.profiled_iterations ?? 0;
  return (
    <header class="headline span-all">
      <h2>
        {efficiencySentence(rates, gpus, data.matrix_unit, ofWall).map(({ text, strong }, i) =>
          strong === true ? <strong key={i}>{text}</strong> : text,
        )}
      </h2>
      {gain !== null && gain > 0 && kernels > 0 && !isMostlyUnknown(rates) && (
        <p>
          The ops whose work is known could gain at most <strong>{formatDuration(gain)}</strong>,{" "}
          <strong>{formatShare(gain / kernels)}</strong> of the kernel time{ofIterations(" of", iterations)}.{" "}
          <IterationGain />
        </p>
      )}
      <p class="model-line">
        {flops !== null && flops > 0 && (
          <>
            <span>
              {formatScaled(flops, "FLOP")} in{" "}
              {isMostlyUnknown(rates)
                ? `those whose shapes are known${ofIterations(", of", iterations)}`
                : `matrix multiplications, convolutions and attention${ofIterations(" of", iterations)}`}
              .
            </span>
            {peak !== "" && <span>{peak}</span>}
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
