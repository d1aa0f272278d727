import { fetchTable } from "../../api/client";
import type { DashboardResponse, Row, TopOp } from "../../api/types";
import { Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { OpPath, YesNo } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { formatCount, UNKNOWN } from "../../format/number";
import { formatShare } from "../../format/share";
import { columnUnit, inUnit, readableAndExact } from "../../format/time";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { hasGpuWork } from "../../model/headline";
import { splitPath } from "../../model/kernel_name";
import { shortUnit } from "../../model/resources";
import { ambiguousPaths } from "../../model/table_state";
import type { Changes, UrlState } from "../../model/url_state";

/** An op by the time that it is listed for. */
interface Listed extends Pick<TopOp, "op_id" | "name" | "op_type" | "direction" | "calls" | "eligible"> {
  time_ns: number;
  /** Of the time of all ops; null where it is not told. */
  fraction: number | null;
  /** Undefined where no GPU was recorded. */
  using_tensor_cores?: boolean | null;
}

/** Ops and Kernels in its default order, where the ten are on the first page, with this op selected. */
function withOp(state: UrlState, op: Listed): Changes {
  const own = Object.keys(state).filter((key) => /^(?:ops|kernels)\./.test(key));
  return { ...Object.fromEntries(own.map((key) => [key, null])), view: "ops", "ops.by": "none", "ops.row": op.op_id };
}

/** The ten longest ops by GPU time; of a recording without GPU work by CPU time, which is all that it tells. */
export function TopOps({ data }: { data: DashboardResponse }) {
  return hasGpuWork(data) ? <TopGpuOps data={data} /> : <TopCpuOps data={data} />;
}

function TopGpuOps({ data }: { data: DashboardResponse }) {
  const ops = data.top_ops.map((op) => ({ ...op, time_ns: op.gpu_time_ns, fraction: op.gpu_time_fraction }));
  return (
    <Panel
      title="Top 10 GPU Ops"
      about="The ops with the largest GPU time over all GPUs and all their calls. A row opens the op with its kernels."
    >
      {ops.length === 0 ? (
        <p class="nothing">No op of this recording has GPU time.</p>
      ) : (
        <TopTable ops={ops} time="GPU" matrixUnit={data.matrix_unit} />
      )}
    </Panel>
  );
}

const TEN_BY_CPU_TIME = { table: "ops", offset: 0, limit: 10, sort: "-cpu_time_ns", search: "", where: {}, links: {} };

const text = (row: Row, key: string): string | null => (typeof row[key] === "string" ? row[key] : null);

const byCpuTime = (row: Row): Listed => ({
  op_id: String(row.op_id),
  name: String(row.name),
  op_type: text(row, "op_type"),
  direction: text(row, "direction"),
  calls: typeof row.calls === "number" ? row.calls : null,
  eligible: typeof row.eligible === "boolean" ? row.eligible : null,
  time_ns: Number(row.cpu_time_ns ?? 0),
  fraction: null,
});

function TopCpuOps({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const query = useQuery(scopeKey(scope, "top ops"), (signal) => fetchTable({ ...scope, ...TEN_BY_CPU_TIME }, signal));
  const ops = query.data?.rows.map(byCpuTime) ?? [];
  return (
    <Panel
      title="Top 10 CPU Ops"
      about="The ops with the largest CPU time over all their calls, because no GPU work was recorded. A row opens the op."
    >
      {query.data === null && query.error === null ? (
        <Loading what="ops" />
      ) : ops.length === 0 ? (
        <p class="nothing">{query.error?.message ?? "No op was recorded."}</p>
      ) : (
        <TopTable ops={ops} time="CPU" matrixUnit={data.matrix_unit} />
      )}
    </Panel>
  );
}

function TopTable({ ops, time, matrixUnit }: { ops: readonly Listed[]; time: "GPU" | "CPU"; matrixUnit: string }) {
  const url = useUrl();
  const longest = Math.max(...ops.map(({ time_ns: ns }) => ns), 1);
  const unit = columnUnit(longest);
  const ambiguous = ambiguousPaths(
    ops.map(({ name, op_id }) => ({ name, op_id })),
    "name",
  );
  const directed = ops.some(({ direction }) => direction !== null && direction !== "");
  // The names need the room, and often end with the type.
  const typed = ops.some(({ name, op_type: type }) => type !== splitPath(name).name);
  const told = ops.some(({ using_tensor_cores: using }) => using !== undefined);
  // Whether it uses them tells more than whether it could.
  const lesser = told ? " lesser" : "";
  const core = shortUnit(matrixUnit);
  return (
    <div class="top-ops-scroll" tabIndex={0} role="region" aria-label={`Top 10 ${time} ops`}>
      <table class="plain-table top-ops">
        <thead>
          <tr>
            <th scope="col" class="time-column">
              {time} Time ({unit.name})
            </th>
            <th scope="col">Op Name</th>
            {directed && (
              <th scope="col" class="direction-column beside">
                Direction
              </th>
            )}
            {typed && (
              <th scope="col" class="type-column beside">
                Op Type
              </th>
            )}
            <th scope="col" class="calls-column right beside">
              Calls
            </th>
            <th scope="col" class={`core-column middle${lesser}`} data-tip={`Eligible for ${matrixUnit}s`}>
              {core} Eligible
            </th>
            {told && (
              <th scope="col" class="core-column middle" data-tip={`At least one kernel of the op uses ${matrixUnit}s`}>
                Using {core}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {ops.map((op) => (
            <tr
              key={op.op_id}
              onClick={(event) => {
                // The link in it has opened the op already, here or elsewhere.
                if (event.target instanceof Element && event.target.closest("a") !== null) return;
                navigate(withOp(url, op), true);
              }}
            >
              <td
                class="bar-cell"
                style={{ "--bar": op.time_ns / longest }}
                data-tip={
                  op.fraction === null
                    ? readableAndExact(op.time_ns)
                    : `${readableAndExact(op.time_ns)}\n${formatShare(op.fraction)} of the GPU time of all ops`
                }
              >
                {op.fraction !== null && <span class="bar-share">{formatShare(op.fraction)}</span>}
                <span class="number">{inUnit(op.time_ns, unit)}</span>
              </td>
              <td>
                <ViewLink class="row-link" to={withOp(url, op)}>
                  <OpPath path={op.name} id={ambiguous.has(op.name) ? op.op_id : ""} />
                </ViewLink>
              </td>
              {directed && <td class="beside">{op.direction ?? ""}</td>}
              {typed && (
                <td class="beside" data-tip={op.op_type}>
                  {op.op_type ?? UNKNOWN}
                </td>
              )}
              <td class="right number beside">{formatCount(op.calls)}</td>
              <td class={`middle${lesser}`}>
                <YesNo value={op.eligible} />
              </td>
              {op.using_tensor_cores !== undefined && (
                <td class="middle">
                  <YesNo value={op.using_tensor_cores} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
