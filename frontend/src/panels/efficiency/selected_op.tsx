/** How well the selected op used the GPU: of its compute, its memory, its multiprocessors. */
import { fetchTable } from "../../api/client";
import type { Row, TableResponse } from "../../api/types";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { OpPath } from "../../components/value";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import { causeAbout } from "../../model/causes";
import { precisionLabel } from "../../model/precisions";

const numberOf = (row: Row, key: string): number | null => {
  const value = row[key];
  return typeof value === "number" ? value : null;
};
const textOf = (row: Row, key: string): string => {
  const value = row[key];
  return typeof value === "string" ? value : "";
};

export function SelectedOp() {
  const scope = useScope();
  const op = useUrl()["eff.row"] ?? "";
  const { profile, aggregation, domain } = scope;
  const asked = { profile, aggregation, domain, table: "efficiency", offset: 0, limit: 100, sort: "", search: op };
  const query = useQuery<TableResponse>(op === "" ? null : scopeKey(scope, op), (signal) =>
    fetchTable({ ...asked, where: {}, links: {} }, signal),
  );
  const row = query.data?.rows.find(({ op_id: id }) => id === op);
  return (
    <Panel
      title={op === "" ? "Selected Op" : op}
      tools={
        op !== "" && (
          <>
            <button
              type="button"
              class="more-button"
              onClick={() => navigate({ view: "ops", "ops.row": op, "ops.search": op }, true)}
            >
              Kernels <Icon name="right" />
            </button>
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
        <p class="muted">Select a dot of the roofline or a row of the table to see how well that op used the GPU.</p>
      ) : row === undefined ? (
        <p class="muted">{query.loading ? "Loading…" : "Nothing is known of the efficiency of this op."}</p>
      ) : (
        <OpRates row={row} />
      )}
    </Panel>
  );
}

function OpRates({ row }: { row: Row }) {
  const cause = textOf(row, "cause");
  const gain = numberOf(row, "gain_ns");
  const rate = numberOf(row, "flops_per_second");
  const bytes = numberOf(row, "bytes_per_second");
  const precision = textOf(row, "precision");
  const dimension = textOf(row, "dimension");
  return (
    <div class="op-rates">
      <OpPath path={textOf(row, "name")} />
      <Meter
        label={`Compute, ${precision === "" ? "precision not named" : precisionLabel(precision)}`}
        fraction={numberOf(row, "peak_fraction")}
        value={rate === null ? "" : formatScaled(rate, "FLOP/s")}
      />
      <Meter
        label="Memory throughput"
        fraction={numberOf(row, "memory_fraction")}
        value={bytes === null ? "" : formatScaled(bytes, "B/s")}
      />
      <Meter label="Occupancy, theoretical" fraction={numberOf(row, "occupancy_fraction")} value="" />
      <p>
        {formatDuration(numberOf(row, "kernel_ns"))} kernel time
        {gain !== null && gain > 0 && <>, of which {formatDuration(gain)} could be gained</>}
        {textOf(row, "bound") !== "" && <>; bound by {textOf(row, "bound")}</>}.
      </p>
      {cause !== "" && (
        <p>
          <strong>{cause}.</strong> {causeAbout(cause)} {dimension !== "" && `${dimension.replace("->", "→")}.`}
        </p>
      )}
    </div>
  );
}

function Meter({ label, fraction, value }: { label: string; fraction: number | null; value: string }) {
  return (
    <div class="rate-meter">
      <span>{label}</span>
      <span class="muted number">{value}</span>
      <span class={fraction === null ? "unknown" : "number"}>{formatShare(fraction)}</span>
      <span class="rate-track">
        <span style={{ width: `${(fraction ?? 0) * 100}%` }} />
      </span>
    </div>
  );
}
