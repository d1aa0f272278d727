import type { DashboardResponse } from "../../api/types";
import { Donut } from "../../components/donut";
import { Panel } from "../../components/panel";
import { UNKNOWN } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { colourOf } from "../../model/resources";

export function TensorCoreEfficiency({ data }: { data: DashboardResponse }) {
  const { fraction, tensor_core_ns: used, kernel_ns: all, unknown_ns: untold } = data.tensor_core_efficiency;
  const unit = data.matrix_unit;
  const unknown = shareOf(untold, all) ?? 0;
  const rest = all === null || used === null ? null : all - used - (untold ?? 0);
  const others = Math.max(1 - (fraction ?? 0) - unknown, 0);
  const whole = `of ${readableAndExact(all)} in all kernels of eligible ops`;
  return (
    <Panel
      title={`${unit} Kernel Efficiency`}
      about={`GPU time of kernels that use ${unit}s, over GPU time of all kernels, both in ops that are eligible for ${unit}s. 100 %: eligible ops run nothing but ${unit} kernels. Higher is better.`}
    >
      <Donut
        name="efficiency"
        label={`${unit} kernel efficiency ${formatShare(fraction)}`}
        centre={formatShare(fraction)}
        centreLabel={fraction !== null && unknown > 0 ? "at least" : "efficiency"}
        whole={`of ${formatDuration(all)} in kernels of eligible ops`}
        parts={[
          {
            key: "using",
            label: `Using ${unit}s${fraction !== null && unknown > 0 ? ", at\u00a0least" : ""}`,
            colour: colourOf("tensor_core"),
            size: fraction,
            value: fraction === null || used === null ? UNKNOWN : used,
            share: fraction === null ? "" : formatShare(fraction),
            tip:
              fraction === null
                ? `None of their kernels is known to use ${unit}s, but some may.`
                : `Using ${unit}s: ${formatShare(fraction)}\n${readableAndExact(used)} ${whole}`,
          },
          {
            key: "not_using",
            label: "Not using them",
            colour: colourOf("other_kernel"),
            size: others,
            value: rest ?? UNKNOWN,
            share: formatShare(others),
            tip: `Not using ${unit}s: ${formatShare(others)}\n${readableAndExact(rest)} ${whole}`,
          },
          ...(unknown > 0
            ? [
                {
                  key: "unknown",
                  label: "Not known",
                  colour: colourOf("unknown_kernel"),
                  size: unknown,
                  value: untold ?? UNKNOWN,
                  share: formatShare(unknown),
                  tip: `Not known: ${formatShare(unknown)}\n${readableAndExact(untold)} ${whole}`,
                },
              ]
            : []),
        ]}
      />
    </Panel>
  );
}
