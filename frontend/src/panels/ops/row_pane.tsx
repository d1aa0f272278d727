/** What is selected on Ops, beside the table: how well it uses the GPU, why not better, and what it could gain. */
import type { ComponentChildren } from "preact";

import type { Row } from "../../api/types";
import { CauseNote } from "../../components/cause_note";
import { DetailsPane } from "../../components/details_pane";
import { Icon } from "../../components/icon";
import { IterationGain } from "../../components/iteration_gain";
import { LongestKernels } from "../../components/longest_kernels";
import { Breakable } from "../../components/sentence";
import { FittingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { useScope } from "../../frame/scope";
import { occupancyOf, useOpRates } from "../../frame/use_op_rates";
import { numberOf, textOf, titleOf } from "../../frame/use_row";
import { countInAll, formatCounted } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatSize } from "../../format/size";
import { formatDuration, formatMean, formatPerIteration, type Iterations } from "../../format/time";
import { eligibilitySentence } from "../../model/causes";
import { shortKernelName, splitPath, UNASSOCIATED } from "../../model/kernel_name";
import { boundsOfRow } from "../../model/bounds";
import { COLLECTIVE, NO_KERNELS } from "../../model/families";
import { gainsInFewerBits } from "../../model/precisions";
import { PART, partlyRated } from "../../model/rated";
import { showingOp, type Changes } from "../../model/url_state";

const FEW_KERNELS = 5;

interface RowPaneProps {
  title: string;
  row: Row;
  /** The server's table of its kernels, and what its row is called there. */
  kernels: string;
  id: string;
  onClose: () => void;
}

const callsInWords = (calls: number, iterations: number): string =>
  countInAll(calls, iterations, "call") || formatCounted(calls, "call");

/** A group of ops, or a type of them. */
export function RowPane({ title, row, kernels, id, onClose }: RowPaneProps) {
  const scope = useScope();
  const { matrixUnit } = scope;
  return (
    <DetailsPane title={title} onClose={onClose} calm>
      <p class="muted">
        {formatCounted(numberOf(row, "ops") ?? 0, "op")} · {factsOf(row, row, scope)}
      </p>
      <Limits
        shares={[
          ["Of peak FLOP/s", row.peak_fraction, OF_COMPUTE],
          ["Of peak bandwidth", row.memory_fraction, OF_MEMORY],
          [`On ${matrixUnit}s`, row.tensor_core_fraction, `Share of the kernel time on ${matrixUnit}s`, "of-units"],
        ]}
      />
      {row.family !== NO_KERNELS && scope.onGpu && (
        <LongestKernels table={kernels} links={{ row: id }} most={FEW_KERNELS} perIteration />
      )}
      <Words row={row} />
    </DetailsPane>
  );
}

/** Always per iteration, unlike in tables. */
const ofGpuTime = (row: Row, of: Iterations): string =>
  formatPerIteration(numberOf(row, "gpu_time_ns"), of, " of GPU time");

const kernelNs = (row: Row): number | null => numberOf(row, "kernel_ns") ?? numberOf(row, "kernel_time_ns");

/** Where it is not the GPU time, as of ops that copy, too: the kernels that are listed add up to it. */
function inKernels(row: Row, of: Iterations): string {
  const kernels = formatMean(kernelNs(row), of);
  return kernelNs(row) === null || kernels === formatMean(numberOf(row, "gpu_time_ns"), of)
    ? ""
    : `, ${kernels} in kernels`;
}

/** What decides: time, its share, what could be gained, and what limits it. */
function factsOf(row: Row, rates: Row, of: Iterations): string {
  const gain = numberOf(rates, "gain_ns");
  const bounds = rates.family === COLLECTIVE ? "" : boundsOfRow(rates);
  return [
    ofGpuTime(row, of) + inKernels(row, of),
    ...(numberOf(row, "gpu_time_fraction") === null
      ? []
      : [`${formatShare(numberOf(row, "gpu_time_fraction"))} of all`]),
    ...(gain !== null && gain > 0
      ? [`could gain ${partlyRated(rates) === null ? "" : `${PART} `}${formatMean(gain, of)}`]
      : []),
    ...(bounds === "" ? [] : [`bound by ${bounds}`]),
  ].join(" · ");
}

const OF_COMPUTE = "Operations a second over the published rate for the precision in which it computes";
const OF_MEMORY = "Bytes that must be moved, a second, over the GPU's published memory bandwidth";

interface LimitsProps {
  shares: readonly (readonly [label: string, share: Row[string] | undefined, tip: string, units?: "of-units"])[];
}

interface KernelPaneProps {
  row: Row;
  /** The only op that launched it; empty where there are several. */
  op: string;
  onClose: () => void;
}

/** A kernel, by its name. */
export function KernelPane({ row, op, onClose }: KernelPaneProps) {
  const scope = useScope();
  const { matrixUnit } = scope;
  const name = textOf(row, "name");
  const using = row.using_tensor_cores;
  return (
    <DetailsPane title={shortKernelName(name)} onClose={onClose} calm>
      <p class="muted">
        Launched by{" "}
        {op === "" ? (
          formatCounted(numberOf(row, "ops") ?? 0, "op")
        ) : (
          <ViewLink to={{ "members.row": op }}>{op}</ViewLink>
        )}
        , {ofGpuTime(row, scope)}
      </p>
      <p>
        <strong>
          {row.family === COLLECTIVE
            ? "Communication"
            : using === true
              ? `On ${matrixUnit}s`
              : using === false
                ? `Not on ${matrixUnit}s`
                : `Use of ${matrixUnit}s not known`}
        </strong>
        {numberOf(row, "average_ns") !== null &&
          `; ${formatDuration(numberOf(row, "average_ns"))} a call, ${formatDuration(numberOf(row, "minimum_ns"))} to ${formatDuration(numberOf(row, "maximum_ns"))}`}
        .
      </p>
      {shortKernelName(name) !== name && (
        <p>
          <code class="wraps">
            <Breakable text={name} />
          </code>
        </p>
      )}
    </DetailsPane>
  );
}

/** Bars of what is known, with their numbers. */
function Limits({ shares }: LimitsProps) {
  const known = shares.flatMap(([label, share, tip, units = ""]) =>
    typeof share === "number" ? [{ label, share, tip, units }] : [],
  );
  return known.length === 0 ? null : (
    <ul class="meters">
      {known.map(({ label, share, tip, units }) => (
        <li key={label} data-tip={tip}>
          <span>{label}</span>
          <span class={`rate-track ${units}`} aria-hidden="true">
            <span style={{ width: `${Math.min(share, 1) * 100}%` }} />
          </span>
          <span class="number">{formatShare(share)}</span>
        </li>
      ))}
    </ul>
  );
}

interface WordsProps {
  row: Row;
  children?: ComponentChildren;
}

/** What limits it, what keeps it off matrix units, and what it could gain. */
function Words({ row, children }: WordsProps) {
  const scope = useScope();
  const gain = numberOf(row, "gain_ns");
  const kernels = kernelNs(row);
  const rated = partlyRated(row);
  if (row.family === NO_KERNELS) return <p>It launched no kernel: its GPU time is that of copies and memsets.</p>;
  if (row.family === COLLECTIVE)
    return (
      <p>
        It waits for other GPUs and transfers.{" "}
        <ViewLink class="more-button" to={{ view: "gpus" }}>
          GPUs and Ranks <Icon name="right" />
        </ViewLink>
      </p>
    );
  return (
    <>
      {children}
      <CauseNote row={row} />
      {gain !== null && gain > 0 && (
        <p>
          {rated === null
            ? "Could gain at most "
            : `What ${formatShare(rated)} of its kernel time could gain is known: at most `}
          <strong>{formatPerIteration(gain, scope)}</strong>
          {kernels !== null && kernels > 0 && `, ${formatShare(gain / kernels)} of its kernel time`}, at the GPU's
          published rates{gainsInFewerBits(row) && ", of 16 bits where it multiplies matrices"}. <IterationGain />
        </p>
      )}
    </>
  );
}

/** Whether kernels on matrix units take a part of the time only. */
function isPartly(row: Row): boolean {
  const share = numberOf(row, "tensor_core_fraction");
  return share !== null && share > 0.01 && share < 0.99;
}

interface OpPaneProps {
  op: string;
  /** Its row in the table of ops, which has those without kernels too. */
  row: Row;
  /** Back to the group that it was opened from. */
  back?: { text: string; to: Changes } | undefined;
  onClose: () => void;
}

export function OpPane({ op, row, back, onClose }: OpPaneProps) {
  const scope = useScope();
  const { matrixUnit } = scope;
  const { row: rates } = useOpRates(op);
  const path = textOf(row, "name");
  const size = rates === undefined ? "" : textOf(rates, "size");
  const kernels = row.family !== NO_KERNELS && scope.onGpu && (
    <LongestKernels table="kernels_of_op" links={{ op }} most={FEW_KERNELS} perIteration />
  );
  return (
    // A kernel without an op is its own: DLProf's id would only repeat its name.
    <DetailsPane title={path.startsWith(UNASSOCIATED) ? titleOf(row) : `${titleOf(row)} ${op}`} onClose={onClose} calm>
      {back !== undefined && (
        <p>
          <ViewLink class="more-button" to={back.to}>
            <Icon name="left" /> {back.text}
          </ViewLink>
        </p>
      )}
      {splitPath(path).place !== "" && <FittingPath path={path} />}
      <p class="muted">
        {callsInWords((numberOf(row, "calls") ?? 0) / scope.summed, scope.iterations)} ·{" "}
        {factsOf(row, rates ?? row, scope)}
        {size !== "" && ` · ${formatSize(size)}`}
      </p>
      {rates === undefined && (
        <>
          {kernels}
          <Words row={row} />
        </>
      )}
      {rates !== undefined && (
        <>
          <Limits
            shares={[
              [
                rates.matrix_unit === true ? `Of the peak of ${matrixUnit}s` : "Of peak FLOP/s",
                rates.peak_fraction,
                OF_COMPUTE,
              ],
              ["Of peak bandwidth", rates.memory_fraction, OF_MEMORY],
              [
                `On ${matrixUnit}s`,
                rates.tensor_core_fraction,
                `Share of the kernel time on ${matrixUnit}s`,
                "of-units",
              ],
              [
                "Occupancy",
                occupancyOf(rates).achieved ?? occupancyOf(rates).could,
                "Warps on a multiprocessor over the most it can hold, mean by time",
              ],
            ]}
          />
          {kernels}
          <Words row={rates}>
            <p>
              {isPartly(rates)
                ? `Partly on ${matrixUnit}s.`
                : eligibilitySentence(textOf(rates, "eligibility"), rates.matrix_unit ?? null, matrixUnit)}
            </p>
          </Words>
          <p>
            <ViewLink class="more-button" to={showingOp("efficiency", op)}>
              Efficiency <Icon name="right" />
            </ViewLink>
          </p>
        </>
      )}
    </DetailsPane>
  );
}
