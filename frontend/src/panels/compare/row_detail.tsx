/** Both sides of the selected row: its ops with their shapes, and its kernels. */
import { fetchCompareRow, fetchTable, type Baseline } from "../../api/client";
import type { CompareRowResponse, CompareRowSide, TableResponse } from "../../api/types";
import { ErrorBox, Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { Duration, TimeIn } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { formatCounted, formatNumber, formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";
import { unitOf, type TimeUnit } from "../../format/time";
import { scopeKey, useScope } from "../../frame/scope";
import { currentUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { signedDuration, signedShare } from "../../model/change";
import { shortKernelName } from "../../model/kernel_name";
import { showingOp, type Changes } from "../../model/url_state";

export function RowDetail({ baseline, row }: { baseline: Baseline; row: string }) {
  const scope = useScope();
  const query = useQuery<CompareRowResponse>(
    scopeKey(scope, "compare_row", baseline.base, baseline.aggregation, row),
    (signal) => fetchCompareRow(scope, baseline, row, signal),
  );
  const detail = query.data;
  if (detail === null)
    return query.error === null ? <Loading what="the row" /> : <ErrorBox error={query.error} retry={query.reload} />;
  const unit = unitOf([...detail.a.kernels, ...detail.b.kernels].map(({ time_ns: ns }) => ns));
  return (
    <Panel title={[detail.name, detail.direction].filter(Boolean).join(" ")}>
      <p>
        {signedDuration(detail.change_ns)}
        {detail.work_ns !== null &&
          detail.work_ns !== 0 &&
          detail.speed_ns !== null &&
          `: ${signedDuration(detail.work_ns)} from the number of calls, ${signedDuration(detail.speed_ns)} from the time per call`}
        {detail.interval !== null &&
          ` (95 % interval: ${signedShare(detail.interval[0] - 1) || "0 %"} to ${signedShare(detail.interval[1] - 1) || "0 %"}, ${detail.is_changed ? "more than noise" : "may be noise"})`}
        .{detail.matched_by !== null && <span class="muted"> Matched by {detail.matched_by}.</span>}
      </p>
      <div class="row-sides">
        <Side
          letter="A"
          ns={detail.a_ns}
          calls={detail.a_calls}
          side={detail.a}
          unit={unit}
          profile={{
            profile: baseline.base,
            aggregation: baseline.aggregation === "" ? null : Number(baseline.aggregation),
          }}
          to={(op) => onBaseline(baseline, op)}
        />
        <Side
          letter="B"
          ns={detail.b_ns}
          calls={detail.b_calls}
          side={detail.b}
          unit={unit}
          profile={{ profile: scope.profile, aggregation: scope.aggregation }}
          to={(op) => showingOp("ops", op)}
        />
      </div>
    </Panel>
  );
}

/** The op in the profile of the baseline. */
const onBaseline = ({ base, aggregation }: Baseline, op: string): Changes => ({
  ...showingOp("ops", op),
  profile: base,
  aggregation,
  run: null,
  capture: null,
  base: currentUrl().profile ?? null,
  base_aggregation: null,
});

interface SideProps {
  letter: string;
  ns: number;
  calls: number | null;
  side: CompareRowSide;
  /** Of the times of the kernels of both sides. */
  unit: TimeUnit;
  profile: { profile: string; aggregation: number | null };
  to: (op: string) => Changes;
}

function Side({ letter, ns, calls, side, unit, profile, to }: SideProps) {
  const [op] = side.ops;
  const { matrixUnit } = useScope();
  return (
    <div>
      <h3>
        {letter}: <Duration ns={ns} />
        {calls !== null && <span class="muted"> in {calls === 1 ? "1 call" : `${formatNumber(calls)} calls`}</span>}
      </h3>
      {op === undefined ? (
        <p class="muted">Not on this side, or without ops.</p>
      ) : (
        <ul>
          {side.ops.slice(0, 5).map(({ op_id: id, shapes }) => (
            <li key={id}>
              <ViewLink class="link-button" to={to(id)}>
                {id}
              </ViewLink>{" "}
              {shapes !== null && <code class="row-shapes">{shapes}</code>}
            </li>
          ))}
          {side.total_ops > 5 && <li class="muted">and {formatCounted(side.total_ops - 5, "more op", "more ops")}</li>}
        </ul>
      )}
      {op !== undefined && side.total_ops === 1 && <Rates key={op.op_id} {...profile} op={op.op_id} />}
      {side.kernels.length > 0 && (
        <table class="plain-table">
          <thead>
            <tr>
              <th>Kernel</th>
              <th class="right">Time ({unit.name})</th>
              <th class="right">Launches</th>
              <th>Grid, block</th>
              <th>Precision</th>
            </tr>
          </thead>
          <tbody>
            {side.kernels.slice(0, 12).map((kernel) => (
              <tr key={kernel.name}>
                <td data-tip={kernel.name}>
                  {shortKernelName(kernel.name)}
                  {kernel.tensor_core === true && <span class="chip"> {matrixUnit}s</span>}
                </td>
                <td class="right">
                  <TimeIn ns={kernel.time_ns} unit={unit} />
                </td>
                <td class="right number">{formatNumber(kernel.launches)}</td>
                <td class="number">
                  {kernel.sizes.length === 0 && "–"}
                  {kernel.sizes.map(({ grid, block }) => (
                    <div key={[...grid, ...block].join()}>
                      {dimensions(grid)}, {dimensions(block)}
                    </div>
                  ))}
                </td>
                <td>{kernel.precision ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** `16 × 8 × 3`; without the ones at the end. */
const dimensions = (lengths: readonly number[]): string => lengths.join(" × ").replace(/(?: × 1)+$/, "");

interface RatesProps {
  profile: string;
  aggregation: number | null;
  op: string;
}

/** Where the op stands below the roof of its device, and how its kernels fill it; nothing where that is not known. */
function Rates({ profile, aggregation, op }: RatesProps) {
  const asked = { ...ONE_ROW, profile, aggregation, where: { op_id: `=${op}` } };
  const { data } = useQuery<TableResponse>(JSON.stringify(asked), (signal) => fetchTable(asked, signal));
  const row = data?.rows[0];
  if (row === undefined) return null;
  const number = (key: string): number | null => (typeof row[key] === "number" ? row[key] : null);
  const facts = [
    row.bound === null ? "" : `bound by ${String(row.bound)}`,
    ofPeak(number("flops_per_second"), "FLOP/s", number("peak_fraction"), "peak"),
    ofPeak(number("bytes_per_second"), "B/s", number("memory_fraction"), "memory bandwidth"),
    number("occupancy_fraction") === null ? "" : `occupancy ${formatShare(number("occupancy_fraction"))}`,
    number("waves") === null ? "" : `${formatScaled(number("waves"))} waves`,
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? null : <p class="muted">{facts.join(" · ")}</p>;
}

const ONE_ROW = { table: "efficiency", domain: null, offset: 0, limit: 1, sort: "", search: "", links: {} };

const ofPeak = (rate: number | null, unit: string, fraction: number | null, of: string): string =>
  rate === null
    ? ""
    : `${formatScaled(rate, unit)}${fraction === null ? "" : `, ${formatShare(fraction)} of the ${of}`}`;
