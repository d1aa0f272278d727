/** How well the whole network used the GPU, or the selected op beside it: matrix units, compute, memory, multiprocessors. */
import type { DashboardResponse, NetworkRates, Row } from "../../api/types";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { FittingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { numberOf, textOf, useOpRates } from "../../frame/use_op_rates";
import { formatScaled, significant } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatSize } from "../../format/size";
import { formatDuration, readableAndExact } from "../../format/time";
import { causeAbout } from "../../model/causes";
import { kernelNs } from "../../model/kernel_time";
import { precisionLabel } from "../../model/precisions";
import { showingOp } from "../../model/url_state";

export function GpuUse({ data, network }: { data: DashboardResponse; network: NetworkRates }) {
  const op = useUrl()["eff.row"] ?? "";
  const { row, loading } = useOpRates(op);
  return (
    <Panel
      title={op === "" ? "Whole Network" : op}
      summed="means"
      about="Means, weighted by kernel time, over the ops, or kernels, for which each value is known; an op that did less work than counted from its shapes is at most at 100 %. Select a dot of the roofline or a row of the table to see an op; the marks on its bars are the means of the network."
      tools={
        op !== "" && (
          <>
            <ViewLink class="more-button" to={showingOp("ops", op)}>
              Kernels <Icon name="right" />
            </ViewLink>
            <button
              type="button"
              class="icon-button"
              aria-label="Deselect"
              onClick={() => navigate({ "eff.row": null })}
            >
              <Icon name="close" />
            </button>
          </>
        )
      }
    >
      {op === "" ? (
        <NetworkUse data={data} network={network} />
      ) : row === undefined ? (
        <p class="muted">{loading ? "Loading…" : "Nothing is known about the efficiency of this op."}</p>
      ) : (
        <OpRates row={row} network={network} />
      )}
    </Panel>
  );
}

export function NetworkUse({ data, network }: { data: DashboardResponse; network: NetworkRates }) {
  const onUnits = data.kernel_time.tensor_core;
  const untold = (data.kernel_time.unknown.time_ns ?? 0) + (data.kernel_time.graph.time_ns ?? 0);
  const all = (kernelNs(data) ?? 0) + (data.kernel_time.graph.time_ns ?? 0);
  const used = onUnits.time_ns;
  return (
    <div class="op-rates">
      <Meter
        label={`${data.matrix_unit} kernels, of kernel time${used !== null && untold > 0 ? ", at least" : ""}`}
        fraction={shareOf(used, all)}
        value={used === null ? "" : formatDuration(used)}
        tip={used === null ? undefined : `${readableAndExact(used)} of ${readableAndExact(all)} kernel time`}
      />
      <Meters rates={network} compute="Compute, while ops of known FLOPs ran" coverage={coverageOf(network)} />
    </div>
  );
}

function OpRates({ row, network }: { row: Row; network: NetworkRates }) {
  const { matrixUnit } = useScope();
  const cause = textOf(row, "cause");
  const gain = numberOf(row, "gain_ns");
  const precision = textOf(row, "precision");
  const dimension = textOf(row, "dimension");
  const size = textOf(row, "size");
  const waves = numberOf(row, "waves");
  const tail = numberOf(row, "tail_fraction");
  const rates: Rates = {
    peak_fraction: numberOf(row, "peak_fraction"),
    flops_per_second: numberOf(row, "flops_per_second"),
    memory_fraction: numberOf(row, "memory_fraction"),
    bytes_per_second: numberOf(row, "bytes_per_second"),
    occupancy_fraction: numberOf(row, "occupancy_fraction"),
    achieved_fraction: numberOf(row, "achieved_fraction"),
  };
  const on = row.matrix_unit ?? null;
  const unit = on === null ? "not known whether on" : on === true ? "on" : "not on";
  return (
    <div class="op-rates">
      <FittingPath path={textOf(row, "name")} />
      {size !== "" && <p class="muted">{formatSize(size)}</p>}
      <Meters
        rates={rates}
        network={network}
        coverage={isAbove(rates.achieved_fraction, rates.occupancy_fraction) ? "each of the kernels where known" : ""}
        compute={`Compute, ${precision === "" ? "precision unknown" : precisionLabel(precision)}, ${unit} ${matrixUnit}s`}
      />
      <p>
        {formatDuration(numberOf(row, "kernel_ns"))} kernel time
        {gain !== null && gain > 0 && <>, of which {formatDuration(gain)} could be gained</>}
        {textOf(row, "bound") !== "" && <>; bound by {textOf(row, "bound")}</>}
        {waves !== null && (
          <>
            ; {significant(waves)} {waves === 1 ? "wave" : "waves"} of blocks a launch
            {tail !== null && <>, {formatShare(tail)} of their places empty</>}
          </>
        )}
        .
      </p>
      {cause !== "" && (
        <p>
          <strong>{cause}.</strong> {causeAbout(cause, matrixUnit)}{" "}
          {dimension !== "" && `Pad ${formatSize(dimension)}.`}
        </p>
      )}
    </div>
  );
}

/** Whether more is achieved than could be, and not only by rounding to whole percent, as PyTorch does. */
const isAbove = (achieved: number | null, could: number | null): boolean =>
  achieved !== null && could !== null && achieved > could + 0.005;

/** For which kernels the achieved occupancy is known, and what the theoretical one of the same kernels is. */
function coverageOf(network: NetworkRates): string {
  const known = network.achieved_known_fraction;
  if (known === null || known > 0.99) return "";
  const could = network.occupancy_of_achieved_fraction;
  const of = `known of ${formatShare(known)} of kernel time`;
  return could === null ? of : `${of}, where theoretical is ${formatShare(could)}`;
}

type Rates = Omit<NetworkRates, "achieved_known_fraction" | "occupancy_of_achieved_fraction">;

interface MetersProps {
  rates: Rates;
  compute: string;
  /** Of which kernels the achieved occupancy is. */
  coverage: string;
  /** Marked on the bars. */
  network?: NetworkRates;
}

function Meters({ rates, compute, coverage, network }: MetersProps) {
  const { flops_per_second: flops, bytes_per_second: bytes } = rates;
  return (
    <>
      <Meter
        label={compute}
        fraction={rates.peak_fraction}
        value={flops === null ? "" : formatScaled(flops, "FLOP/s")}
        mark={network?.peak_fraction}
      />
      <Meter
        label="Memory throughput"
        fraction={rates.memory_fraction}
        value={bytes === null ? "" : formatScaled(bytes, "B/s")}
        mark={network?.memory_fraction}
      />
      <Meter
        label="Occupancy, theoretical"
        fraction={rates.occupancy_fraction}
        value=""
        mark={network?.occupancy_fraction}
      />
      <Meter
        label="Occupancy, achieved"
        fraction={rates.achieved_fraction}
        value={coverage}
        mark={network?.achieved_fraction}
      />
    </>
  );
}

interface MeterProps {
  label: string;
  fraction: number | null;
  value: string;
  mark?: number | null | undefined;
  tip?: string | undefined;
}

export function Meter({ label, fraction, value, mark, tip }: MeterProps) {
  const known = typeof mark === "number";
  return (
    <div class="rate-meter" data-tip={known ? `Whole network: ${formatShare(mark)}` : tip}>
      <span>{label}</span>
      <span class="muted number">{value}</span>
      <span class={fraction === null ? "unknown" : "number"}>{formatShare(fraction)}</span>
      <span class="rate-track">
        <span style={{ width: `${Math.min(fraction ?? 0, 1) * 100}%` }} />
        {known && <i style={{ left: `${Math.min(mark, 1) * 100}%` }} />}
      </span>
    </div>
  );
}
