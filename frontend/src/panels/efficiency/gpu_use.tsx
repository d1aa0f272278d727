/** How well the whole network used the GPU, or what is selected: matrix units, compute, memory, multiprocessors. */
import type { DashboardResponse, EfficiencyResponse, NetworkRates, Row } from "../../api/types";
import { useLayoutEffect, useRef } from "preact/hooks";

import { CauseNote } from "../../components/cause_note";
import { DetailsPane } from "../../components/details_pane";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { FittingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { useScope } from "../../frame/scope";
import { navigate } from "../../frame/url";
import { occupancyOf, useOpRates, type SelectedGroup } from "../../frame/use_op_rates";
import { numberOf, textOf, titleOf } from "../../frame/use_row";
import { formatCount, formatCounted, formatPart, formatScaled, significant, UNKNOWN } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatSize } from "../../format/size";
import { formatDuration, formatMean, formatPerIteration, readableAndExact } from "../../format/time";
import { isLowerBound, isPart, kernelsOfWall, timesOfRates, whileKernels } from "../../model/efficiency_sentence";
import { boundsOfRow } from "../../model/bounds";
import { COLLECTIVE } from "../../model/families";
import { devicesInUse } from "../../model/headline";
import { splitPath } from "../../model/kernel_name";
import { kernelTimeName, withGraphsNs } from "../../model/kernel_time";
import { gainsInFewerBits, precisionLabel } from "../../model/precisions";
import { showingOp } from "../../model/url_state";

interface GpuUseProps {
  data: DashboardResponse;
  rates: EfficiencyResponse;
  /** The ops of the selected dot; null for none. */
  group: SelectedGroup | null;
}

export function GpuUse({ data, rates, group }: GpuUseProps) {
  const { title, op, body } = useSelected(data, rates, group, "");
  return (
    <Panel
      title={group === null ? "Whole Network" : title}
      summed
      about="Compute throughput is that of the sentence above, over kernel time, or over the whole time where kernels overlap to more than that. The others are means, weighted by kernel time, over the ops, or kernels, for which each value is known. Select a dot of the roofline or a row of the table to see an op, or all that are alike; the marks on the bars are the means of the network."
      tools={
        group !== null && (
          <>
            {op !== "" && <KernelsLink op={op} />}
            <button
              type="button"
              class="icon-button"
              aria-label="Deselect"
              onClick={() => navigate({ "eff.dot": null })}
            >
              <Icon name="close" />
            </button>
          </>
        )
      }
    >
      {group === null ? <NetworkUse data={data} rates={rates} /> : body}
    </Panel>
  );
}

/** Beside the table: the op or the group whose row is selected. */
export function RowUse({ data, rates, group, op: own }: GpuUseProps & { op: string }) {
  const { title, op, body } = useSelected(data, rates, group, own);
  const around = useRef<HTMLDivElement>(null);
  // The table begins near the lower end of the window: its pane is told as a whole.
  useLayoutEffect(() => around.current?.closest("aside")?.scrollIntoView({ block: "nearest" }), [title]);
  return (
    <DetailsPane title={title} calm onClose={() => navigate({ "eff.row": null, "gains.row": null })}>
      <div ref={around}>
        {body}
        {op !== "" && <KernelsLink op={op} />}
      </div>
    </DetailsPane>
  );
}

const KernelsLink = ({ op }: { op: string }) => (
  <ViewLink class="more-button" to={showingOp("ops", op)}>
    Kernels <Icon name="right" />
  </ViewLink>
);

/** What is known of an op, or of a group of them: of one op, that of the op. */
function useSelected(data: DashboardResponse, rates: EfficiencyResponse, group: SelectedGroup | null, own: string) {
  const op = own !== "" ? own : group?.ops === 1 ? group.longest : "";
  const { row, loading } = useOpRates(op);
  // As the sentence and the panel of the network tell it: over all kernel time.
  const network = { ...comparable(rates.network), peak_fraction: whileKernels(rates, kernelsOfWall(data)).share };
  if (op === "")
    return group === null
      ? { title: "", op, body: null }
      : {
          title: `${group.title} ×${formatCount(group.ops)}`,
          op,
          body: <GroupRates group={group} network={network} />,
        };
  return row === undefined
    ? {
        title: op,
        op,
        body: <p class="muted">{loading ? "Loading…" : "Nothing is known about the efficiency of this op."}</p>,
      }
    : { title: titleOf(row), op, body: <OpRates row={row} network={network} /> };
}

/** Ops that are alike, as one. */
function GroupRates({ group, network }: { group: SelectedGroup; network: NetworkRates }) {
  const scope = useScope();
  const { matrixUnit } = scope;
  const { row, key, longest, ops } = group;
  const gain = numberOf(row, "gain_ns");
  const onUnits = numberOf(row, "tensor_core_fraction");
  const bounds = boundsOfRow(row);
  return (
    <div class="op-rates">
      <p class="muted">
        {formatCounted(ops, "op")} alike.{" "}
        <ViewLink class="link-button" to={{ "eff.row": longest }}>
          Longest op
        </ViewLink>
        {key !== "" && (
          <>
            {" "}
            <ViewLink class="link-button" to={{ view: "ops", "ops.by": null, "paths.row": key }}>
              Show all
            </ViewLink>
          </>
        )}
      </p>
      {row.family !== COLLECTIVE && (
        <Meters
          rates={{
            peak_fraction: numberOf(row, "peak_fraction"),
            flops_per_second: numberOf(row, "flops_per_second"),
            peak_flops_per_second: null,
            memory_fraction: numberOf(row, "memory_fraction"),
            bytes_per_second: null,
            peak_bytes_per_second: null,
            occupancy_fraction: null,
            achieved_fraction: null,
          }}
          network={network}
          coverage={{}}
          compute="Compute throughput"
          withOccupancy={false}
        />
      )}
      {onUnits !== null && <Meter label={`On ${matrixUnit}s`} fraction={onUnits} value="" ofUnits />}
      <p>
        {formatPerIteration(numberOf(row, "kernel_time_ns"), scope, " of kernel time")}
        {gain !== null && gain > 0 && (
          <>
            , of which {formatMean(gain, scope)} could be gained{gainsInFewerBits(row) && " in 16 bits"}
          </>
        )}
        {bounds !== "" && <>; bound by {bounds}</>}.
      </p>
      <CauseNote row={row} />
    </div>
  );
}

function NetworkUse({ data, rates }: { data: DashboardResponse; rates: EfficiencyResponse }) {
  const onUnits = data.kernel_time.tensor_core;
  const untold = (data.kernel_time.unknown.time_ns ?? 0) + (data.kernel_time.graph.time_ns ?? 0);
  const all = withGraphsNs(data);
  const timed = kernelTimeName(data);
  const used = onUnits.time_ns;
  const kernels = kernelsOfWall(data);
  const running = whileKernels(rates, kernels);
  const { measured_fraction: measured } = rates;
  const network = whereKnown(comparable(rates.network), all);
  const { iterations, summed } = useScope();
  const [over, overKernels] = timesOfRates(rates, devicesInUse(data).length, kernels, iterations / summed);
  const shown = (ns: number): number => (ns * summed) / iterations;
  return (
    <div class="op-rates">
      {data.has_matrix_units && (
        <Meter
          label={`${data.matrix_unit} kernels, of ${timed}${used !== null && untold > 0 ? ", at least" : ""}`}
          ofUnits
          fraction={shareOf(used, all)}
          value={used === null || used === 0 ? "" : `${formatDuration(shown(used))} of ${formatDuration(shown(all))}`}
          tip={
            used === null
              ? undefined
              : `${readableAndExact(shown(used))} of ${readableAndExact(shown(all))} ${timed}, the sum over what was launched in ${summed === iterations ? "the iterations" : "an iteration, on average"}`
          }
        />
      )}
      <Meters
        rates={{
          ...network,
          peak_fraction: running.share,
          flops_per_second: running.rate,
          peak_flops_per_second: running.able,
        }}
        compute={`Compute throughput${isLowerBound(rates) && running.rate !== null ? ", at least" : ""}`}
        tip="Of what the published peaks allow for this mix of work: of each op that of its precision, on matrix units if it uses them."
        coverage={{
          ...coverageOf(rates.network, all, timed),
          compute:
            running.rate !== null
              ? kernels !== null && isPart(kernels)
                ? overKernels
                : over
              : measured === null || measured === 0
                ? ""
                : `shapes cover ${formatShare(measured)} of the time of matrix multiplications`,
        }}
      />
    </div>
  );
}

function OpRates({ row, network }: { row: Row; network: NetworkRates }) {
  const scope = useScope();
  const { matrixUnit } = scope;
  const gain = numberOf(row, "gain_ns");
  const precision = textOf(row, "precision");
  const size = textOf(row, "size");
  const waves = numberOf(row, "waves");
  const tail = numberOf(row, "tail_fraction");
  const { could, achieved } = occupancyOf(row);
  const rates: Rates = {
    peak_fraction: numberOf(row, "peak_fraction"),
    flops_per_second: numberOf(row, "flops_per_second"),
    peak_flops_per_second: null,
    memory_fraction: numberOf(row, "memory_fraction"),
    bytes_per_second: numberOf(row, "bytes_per_second"),
    peak_bytes_per_second: null,
    occupancy_fraction: could,
    achieved_fraction: achieved,
  };
  const on = row.matrix_unit ?? null;
  const unit = on === null ? "not known whether on" : on === true ? "on" : "not on";
  return (
    <div class="op-rates">
      {splitPath(textOf(row, "name")).place !== "" && <FittingPath path={textOf(row, "name")} />}
      <p class="muted">
        {textOf(row, "op_id")}
        {size !== "" && `, ${formatSize(size)}`}
      </p>
      <Meters
        rates={rates}
        network={network}
        coverage={{}}
        compute={`Compute, ${precision === "" ? "precision unknown" : precisionLabel(precision)}, ${unit} ${matrixUnit}s`}
      />
      <p>
        {formatPerIteration(numberOf(row, "kernel_ns"), scope, " of kernel time")}
        {gain !== null && gain > 0 && (
          <>
            , of which {formatMean(gain, scope)} could be gained{gainsInFewerBits(row) && " in 16 bits"}
          </>
        )}
        {textOf(row, "bound") !== "" && <>; bound by {textOf(row, "bound")}</>}
        {waves !== null && (
          <>
            ; {significant(waves)} {waves === 1 ? "wave" : "waves"} of blocks a launch
            {tail !== null && <>, {formatShare(tail)} of their block slots empty</>}
          </>
        )}
        .
      </p>
      <CauseNote row={row} />
    </div>
  );
}

/** With the theoretical occupancy of the kernels whose achieved one is known, so that the two can be compared. */
const comparable = (network: NetworkRates): NetworkRates => ({
  ...network,
  occupancy_fraction: network.occupancy_of_achieved_fraction ?? network.occupancy_fraction,
});

/** A mean over ops of less than half of the kernel time says nothing of the network. */
const LEAST_KNOWN = 0.5;

/** The network's rates without those that are known for too little. */
function whereKnown(network: NetworkRates, all: number): NetworkRates {
  const isKnown = (ns: number | null): boolean => ns !== null && ns >= LEAST_KNOWN * all;
  return {
    ...network,
    ...(isKnown(network.memory_known_ns) ? {} : { memory_fraction: null, bytes_per_second: null }),
    ...(isKnown(network.achieved_known_ns) ? {} : { achieved_fraction: null }),
    ...(isKnown(network.occupancy_known_ns) ? {} : { occupancy_fraction: null }),
  };
}

/** Of which part of all kernel time the values are, where that is not all of it. */
function coverageOf(network: NetworkRates, all: number, timed: string): Coverage {
  const of = (known: number | null): string =>
    known === null || known > 0.995 * all
      ? ""
      : known < LEAST_KNOWN * all
        ? `known for only ${formatShare(known / all)} of ${timed}: not shown`
        : `known for ${formatShare(known / all)} of ${timed}`;
  const achieved = of(network.achieved_known_ns);
  return {
    memory: of(network.memory_known_ns),
    theoretical: network.achieved_fraction === null ? of(network.occupancy_known_ns) : "",
    // Both are shown of the same kernels.
    achieved: achieved === "" ? "" : `both ${achieved}`,
    ofAll:
      achieved === ""
        ? ""
        : `Over all kernels${of(network.occupancy_known_ns) === "" ? "" : " with a known one"}, the theoretical occupancy is ${formatShare(network.occupancy_fraction)}.`,
  };
}

type Rates = Omit<NetworkRates, `${string}_known_ns` | "occupancy_of_achieved_fraction">;

/** What is said of which part of the work the values are. */
type Coverage = Partial<Record<"compute" | "memory" | "theoretical" | "achieved" | "ofAll", string>>;

interface MetersProps {
  rates: Rates;
  compute: string;
  coverage: Coverage;
  /** What the shares of compute and memory are of. */
  tip?: string;
  /** Marked on the bars. */
  network?: NetworkRates;
  /** Whether there is an occupancy: of groups none is counted. */
  withOccupancy?: boolean;
}

/** `182 of 989 TFLOP/s` below the share; the rate in its place where no share is known. */
function rateOrShare(
  share: number | null,
  rate: number | null,
  peak: number | null,
  unit: string,
  coverage: string | undefined,
): Pick<MeterProps, "instead" | "value"> {
  const known =
    rate === null ? "" : share !== null && peak !== null ? formatPart(rate, peak, unit) : formatScaled(rate, unit);
  const [instead, below] = share === null ? [known, ""] : ["", known];
  return {
    instead,
    value: [below, coverage].filter(Boolean).join(", "),
  };
}

/** What is not known is one line without a bar. */
function Meters({ rates, compute, coverage, tip, network, withOccupancy = true }: MetersProps) {
  const meters: MeterProps[] = [
    {
      label: compute,
      fraction: rates.peak_fraction,
      ...rateOrShare(
        rates.peak_fraction,
        rates.flops_per_second,
        rates.peak_flops_per_second,
        "FLOP/s",
        coverage.compute,
      ),
      mark: network?.peak_fraction,
      tip,
    },
    {
      label: "Memory throughput",
      fraction: rates.memory_fraction,
      ...rateOrShare(
        rates.memory_fraction,
        rates.bytes_per_second,
        rates.peak_bytes_per_second,
        "B/s",
        coverage.memory,
      ),
      mark: network?.memory_fraction,
      tip,
    },
    ...(withOccupancy
      ? [
          {
            label: "Occupancy, theoretical",
            fraction: rates.occupancy_fraction,
            value: coverage.theoretical ?? "",
            tip: coverage.ofAll,
            mark: network?.occupancy_fraction,
          },
          {
            label: "Occupancy, achieved",
            fraction: rates.achieved_fraction,
            value: coverage.achieved ?? "",
            mark: network?.achieved_fraction,
          },
        ]
      : []),
  ];
  const untold = meters.filter(
    ({ fraction, value, instead }) => fraction === null && value === "" && (instead ?? "") === "",
  );
  return (
    <>
      {meters
        .filter((meter) => !untold.includes(meter))
        .map((meter) => (
          <Meter key={meter.label} {...meter} />
        ))}
      {untold.length > 0 && (
        <div class="rate-meter">
          <span class="muted">{untold.map(({ label }) => label).join(" · ")}</span>
          <span class="unknown">{UNKNOWN}</span>
        </div>
      )}
    </>
  );
}

interface MeterProps {
  label: string;
  fraction: number | null;
  /** Of what the share is. */
  value: string;
  /** In place of a share that is not known. */
  instead?: string;
  mark?: number | null | undefined;
  tip?: string | undefined;
  /** Whether it is the share of matrix units, which have a colour of their own. */
  ofUnits?: boolean;
}

function Meter({ label, fraction, value, instead = "", mark, tip, ofUnits = false }: MeterProps) {
  const known = typeof mark === "number";
  return (
    <div class="rate-meter" data-tip={tip}>
      <span>{label}</span>
      <span class={fraction === null && instead === "" ? "unknown" : "number"}>{instead || formatShare(fraction)}</span>
      {(fraction !== null || known) && (
        <span class={ofUnits ? "rate-track of-units" : "rate-track"}>
          <span style={{ width: `${Math.min(fraction ?? 0, 1) * 100}%` }} />
          {known && <i style={{ left: `${Math.min(mark, 1) * 100}%` }} />}
        </span>
      )}
      {(value !== "" || known) && (
        <span class="rate-detail muted number">
          {[value, known ? `whole network ${formatShare(mark)}` : ""].filter(Boolean).join(" · ")}
        </span>
      )}
    </div>
  );
}
