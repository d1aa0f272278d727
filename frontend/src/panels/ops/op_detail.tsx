/** The selected op: how well it uses the GPU, why not better, and its kernels. */
import { Icon } from "../../components/icon";
import { IterationGain } from "../../components/iteration_gain";
import { Meter } from "../../components/meter";
import { DataTable } from "../../components/table/data_table";
import { ViewLink } from "../../components/view_link";
import { useScope } from "../../frame/scope";
import { numberOf, textOf, useOpRates } from "../../frame/use_op_rates";
import { ofIterations } from "../../format/number";
import { formatSize } from "../../format/size";
import { formatDuration } from "../../format/time";
import { causeAbout, eligibilitySentence } from "../../model/causes";
import { showingOp } from "../../model/url_state";

export function OpDetail({ op }: { op: string }) {
  return (
    <>
      <OpReason op={op} />
      <DataTable
        key={op}
        table="kernels_of_op"
        name="kernels"
        title={`Kernels of ${op}`}
        noun="kernels"
        summed
        links={{ op }}
        pageSize={10}
        empty="This op launched no kernel; copies and memsets are not listed."
        selectable
      />
    </>
  );
}

/** Precisions whose matrix multiplications are compared with the rates of 16 bits. */
const WITH_MORE_BITS: ReadonlySet<string> = new Set(["fp32", "tf32"]);

/** How near the op is to three limits of the GPU, whether it could use matrix units and does, why not, and what it could gain. */
function OpReason({ op }: { op: string }) {
  const { matrixUnit, iterations } = useScope();
  const { row } = useOpRates(op);
  if (row === undefined) return null;
  const cause = textOf(row, "cause");
  const size = textOf(row, "size");
  const dimension = textOf(row, "dimension");
  const gain = numberOf(row, "gain_ns");
  const onUnits = row.matrix_unit === true;
  const limits = [
    {
      label: onUnits ? `Of the peak of ${matrixUnit}s` : "Of peak FLOP/s",
      share: numberOf(row, "peak_fraction"),
      tip: "Operations a second over the published rate for the precision in which the op computes",
    },
    {
      label: "Of peak bandwidth",
      share: numberOf(row, "memory_fraction"),
      tip: "Bytes that must be moved, a second, over the GPU's published memory bandwidth",
    },
    {
      label: "Occupancy",
      share: numberOf(row, "achieved_fraction") ?? numberOf(row, "occupancy_fraction"),
      tip: "Warps on a multiprocessor over the most it can hold, mean by time",
    },
  ];
  const isRated = limits.some(({ share }) => share !== null);
  return (
    <section class="panel op-reason" aria-label={`How well ${op} uses the GPU`}>
      {isRated && (
        <ul class="meters">
          {limits.map((limit) => (
            <Meter key={limit.label} {...limit} />
          ))}
        </ul>
      )}
      <p>
        <strong>{op}</strong> {size !== "" && <span class="muted">{formatSize(size)}</span>}{" "}
        {eligibilitySentence(textOf(row, "eligibility"), row.matrix_unit ?? null, matrixUnit)}{" "}
        {cause !== "" && (
          <>
            <strong>{cause}.</strong> {causeAbout(cause, matrixUnit)}{" "}
            {dimension !== "" && `Pad ${formatSize(dimension)}.`}{" "}
          </>
        )}
        {gain !== null && gain > 0 && (
          <>
            Could gain at most <strong>{formatDuration(gain)}</strong> of {formatDuration(numberOf(row, "kernel_ns"))}{" "}
            kernel time{ofIterations(" in", iterations)}, at the GPU's published rates
            {WITH_MORE_BITS.has(textOf(row, "precision")) && ", for matrix multiplications those of 16 bits"}.{" "}
            <IterationGain />{" "}
          </>
        )}
        {!isRated && "How near it comes to the GPU's limits is not known. "}
        <ViewLink class="more-button" to={showingOp("efficiency", op)}>
          Efficiency <Icon name="right" />
        </ViewLink>
      </p>
    </section>
  );
}
