import type { DashboardResponse, EfficiencyResponse } from "../../api/types";
import { Linked } from "../../components/external_link";
import { formatCount, formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";
import { devicesInUse } from "../../model/headline";

/** The utilisation in a sentence, and how far it can be trusted. */
export function EfficiencyBand({ data, rates }: { data: DashboardResponse; rates: EfficiencyResponse }) {
  const { mfu_fraction: mfu, flops_per_second: rate, product_flops: flops, measured_fraction: measured } = rates;
  const iterations = data.performance.profiled_iterations ?? 0;
  const bound = measured !== null && measured < 0.995;
  const gpus = devicesInUse(data).length > 1 ? "GPUs" : "GPU";
  return (
    <header class="headline span-all">
      <h1>
        {mfu !== null ? (
          <>
            The model used {bound && "at least "}
            <strong>{formatShare(mfu)}</strong> of what the {gpus} could compute
            {rate !== null && (
              <>
                : {formatScaled(rate, "FLOP/s")}
                {mfu > 0 && ` of ${formatScaled(rate / mfu, "FLOP/s")}`}
              </>
            )}
            .
          </>
        ) : rate !== null && flops !== null && flops > 0 ? (
          <>
            The model computed {bound && "at least "}
            <strong>{formatScaled(rate, "FLOP/s")}</strong>;{" "}
            {rates.peaks.length === 0
              ? `what the ${gpus} could do is not known.`
              : `in which precision, or whether on ${data.matrix_unit}s, cannot be told of all of it.`}
          </>
        ) : (
          "How much was computed is not known."
        )}
      </h1>
      <p class="model-line">
        {flops !== null && flops > 0 && (
          <span>
            {formatScaled(flops, "FLOPs")} in matrix products, convolutions and attention
            {iterations > 1 && ` of ${formatCount(iterations)} iterations`}.
          </span>
        )}
        {flops !== null && flops > 0 && bound && (
          <span>A lower bound: shapes are known for {formatShare(measured)} of the time of such kernels.</span>
        )}
        {rates.hint !== "" && (
          <span>
            <Linked text={rates.hint} />
          </span>
        )}
      </p>
    </header>
  );
}
