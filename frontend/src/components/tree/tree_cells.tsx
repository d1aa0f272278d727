/** What stands in the cells of the tree. */
import { formatCount, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact, type TimeUnit } from "../../format/time";
import { inUnit } from "../../format/unit";
import { causesTip } from "../../model/causes";
import { type Change } from "../../model/comparison";
import { arrowOf, directionOf, isSmall, signedAmount, signedDuration, signedPercent } from "../../model/change";
import { splitNumber } from "../../model/folding";
import { knownForTip, PART } from "../../model/rated";
import { partTip, rowLabel, shownPath, type TreeRow } from "../../model/tree_row";
import {
  isShare,
  knownOf,
  limitedNs,
  mayBeMoreOps,
  mayBeMoreTime,
  mayGainMore,
  ratedShare,
  SHARES,
  tensorCoreShare,
  timeOf,
} from "../../model/tree_values";
import { boundOf, boundShares } from "../../model/shades";
import { Icon } from "../icon";
import { Calls, TimeIn } from "../value";
import type { TreeColumn } from "./tree_columns";

interface NameCellProps {
  row: TreeRow;
  open: boolean;
  onToggle: () => void;
  /** The rows below it that take least and are left out, and what shows them. */
  least: readonly TreeRow[];
  onShow: () => void;
}

export function NameCell({ row, open, onToggle, least, onShow }: NameCellProps) {
  const { expandable, members } = row;
  const { by, whole } = timeOf(least);
  return (
    <span class="tree-name" style={{ paddingLeft: `${(row.depth - 1) * 16}px` }}>
      {expandable ? (
        <button
          type="button"
          tabIndex={-1}
          class="tree-toggle"
          aria-label={open ? `Collapse ${row.name}` : `Expand ${row.name}`}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Icon name={open ? "down" : "right"} />
        </button>
      ) : (
        <span class="tree-toggle" aria-hidden="true" />
      )}
      <span class={row.isOp ? "tree-label tree-op" : "tree-label"} data-tip={shownPath(row) + partTip(row)}>
        <Label row={row} />
      </span>
      {row.gathers === null && members.length > 1 && (
        <span class="fold-count" data-tip={`${formatCount(members.length)} alike, added up`}>
          ×{formatCount(members.length)}
        </span>
      )}
      {least.length > 0 && (
        <button
          type="button"
          tabIndex={-1}
          class="fold-count"
          data-tip={`Below it, ${formatCounted(least.length, "group or op", "groups and ops")} more with little ${by === "gpu_time_ns" ? "GPU" : "CPU"} time: ${readableAndExact(whole)} together. A click shows them.`}
          onClick={(event) => {
            event.stopPropagation();
            onShow();
          }}
        >
          +{formatCount(least.length)} small
        </button>
      )}
      {row.missing > 0 && (
        <span
          class="fold-count"
          data-tip="Too many to show at once. Show this group alone, or see the table of its ops below."
        >
          {formatCount(row.missing)} more
        </span>
      )}
    </span>
  );
}

/** A name that is cut keeps its number; what an op is called in a module of its own stands back behind the module. */
function Label({ row: { name, within, part } }: { row: TreeRow }) {
  const { head, number } = splitNumber(within === "" ? rowLabel({ name, part: null }) : name.slice(within.length + 1));
  return (
    <>
      {within !== "" && <span class="tree-within">{within}/</span>}
      <span class="tree-head">{head}</span>
      {number}
      {part !== null && <span class="tree-part"> ({part})</span>}
    </>
  );
}

/** How much of its cell the bar of a share fills, from 0 to 1. */
export function barOf(row: TreeRow, column: TreeColumn["key"], whole: number): number {
  if (column === "share") return tensorCoreShare(row) ?? 0;
  return isShare(column) ? Math.min(shareOf(knownOf(row, SHARES[column]) ?? 0, whole) ?? 0, 1) : 0;
}

interface ValueCellProps {
  row: TreeRow;
  column: TreeColumn["key"];
  label: string;
  matrixUnit: string;
  unit: TimeUnit | undefined;
  total: number;
  /** Or why there is none; null while it is not known. */
  change: Change | string | null;
}

export function ValueCell({ row, column, label, matrixUnit, unit, total, change }: ValueCellProps) {
  if (column === "limited") return <CauseCell row={row} matrixUnit={matrixUnit} unit={unit} />;
  if (column === "share") {
    const share = tensorCoreShare(row);
    // Of work of which some may use the units, and none is known to, nothing is known.
    if (share === null || (share === 0 && mayBeMoreTime(row))) return <span class="dash">–</span>;
    const of = `${mayBeMoreTime(row) ? "At least " : ""}${readableAndExact(row.values.tensor_core_time_ns)} of ${readableAndExact(row.values.kernel_time_ns)} kernel time`;
    return (
      <span class="number" data-tip={of}>
        {mayBeMoreTime(row) && share < 1 && "≥ "}
        {formatShare(share)}
      </span>
    );
  }
  if (isShare(column)) {
    const time = row.values[SHARES[column]];
    return (
      <span class="number" data-tip={`${readableAndExact(time)} of ${readableAndExact(total)}`}>
        {formatShare(shareOf(time, total))}
      </span>
    );
  }
  if (column === "a" || column === "b" || column === "change_share") {
    if (change === null || typeof change === "string") return <span class="dash">–</span>;
    const { a_ns: a, b_ns: b } = change;
    // Columns of times always have a unit.
    if (column !== "change_share")
      return unit === undefined ? null : <TimeIn ns={column === "a" ? a : b} unit={unit} />;
    if (a <= 0) return <span class="dash">–</span>;
    return <span class={isSmall(a, b - a) ? "number muted" : "number"}>{signedPercent(b / a - 1) || "0 %"}</span>;
  }
  if (column === "change") return <ChangeCell change={change} unit={unit} />;
  if (column === "bound") {
    const bound = boundOf(row);
    if (bound === "") return <span class="dash">–</span>;
    return <span data-tip={boundTip(row)}>{bound}</span>;
  }
  if (column === "name") return null;
  if (row.unknown.has(column)) return <span class="dash">–</span>;
  const value = row.values[column];
  if (unit === undefined)
    return (
      <span class={value === 0 ? "number muted" : "number"}>
        {column === "using_ops" && mayBeMoreOps(row) && "≥ "}
        {column === "calls" ? <Calls value={value} /> : formatCount(value)}
      </span>
    );
  const ofAll = shareOf(value, total);
  const parent = row.parent?.values[column];
  const ofParent = parent === undefined ? null : shareOf(value, parent);
  const isPart = column === "gain_ns" && mayGainMore(row);
  return (
    <span
      class="number"
      data-tip={`${label}: ${readableAndExact(value)}\n${formatShare(ofAll)} of the whole${ofParent === null ? "" : `, ${formatShare(ofParent)} of the level above`}${isPart ? `\n${knownForTip(ratedShare(row))}` : ""}`}
    >
      {isPart && <span class="muted">{PART} </span>}
      {inUnit(value, unit)}
    </span>
  );
}

/** How much of the kernel time each limits; what is left is bound by latency, or not known. */
function boundTip(row: TreeRow): string {
  const { kernel_time_ns: all } = row.values;
  return boundShares(row)
    .map(({ by, ns }) => `${by}: ${readableAndExact(ns)}, ${formatShare(shareOf(ns, all))} of the kernel time`)
    .join("\n");
}

/** The change from the baseline, in words too. */
function ChangeCell({ change, unit }: { change: Change | string | null; unit: TimeUnit | undefined }) {
  if (change === null) return <span class="dash">–</span>;
  if (typeof change === "string")
    return (
      <span class="dash" data-tip={change}>
        –
      </span>
    );
  const ns = change.b_ns - change.a_ns;
  return (
    <span
      class={isSmall(change.a_ns, ns) ? "number muted" : `number change-${directionOf(ns)}`}
      data-tip={`${formatDuration(change.a_ns)} → ${formatDuration(change.b_ns)}`}
    >
      {`${arrowOf(ns)} `}
      {unit === undefined ? signedDuration(ns) : signedAmount(ns, inUnit(ns, unit))}
    </span>
  );
}

/** The main cause and its time; all causes on hover. */
function CauseCell({ row, matrixUnit, unit }: { row: TreeRow; matrixUnit: string; unit: TimeUnit | undefined }) {
  const [main] = row.causes;
  if (main === undefined) return <span class="dash">–</span>;
  return (
    <span class="cause-cell" data-tip={causesTip(row.causes, limitedNs(row), matrixUnit)}>
      <span class="cause-label">{main.label}</span>
      {row.causes.length > 1 && <span class="fold-count">+{row.causes.length - 1}</span>}
      <span class="number">{unit === undefined ? formatDuration(main.kernelNs) : inUnit(main.kernelNs, unit)}</span>
    </span>
  );
}
