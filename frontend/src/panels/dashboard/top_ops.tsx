import type { DashboardResponse, TopOp } from "../../api/types";
import { Panel } from "../../components/panel";
import { OpPath, YesNo } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { formatCount, UNKNOWN } from "../../format/number";
import { formatShare } from "../../format/share";
import { columnUnit, inUnit, readableAndExact } from "../../format/time";
import { navigate, useUrl } from "../../frame/url";
import { ambiguousPaths } from "../../model/table_state";
import type { Changes, UrlState } from "../../model/url_state";

/** Ops and Kernels in its default order, where the ten are on the first page, with this op selected. */
function withOp(state: UrlState, op: TopOp): Changes {
  const own = Object.keys(state).filter((key) => /^(?:ops|kernels)\./.test(key));
  return { ...Object.fromEntries(own.map((key) => [key, null])), view: "ops", "ops.row": op.op_id };
}

export function TopOps({ data }: { data: DashboardResponse }) {
  const ops = data.top_ops;
  const url = useUrl();
  const unit = columnUnit(Math.max(...ops.map(({ gpu_time_ns: time }) => time), 0));
  const ambiguous = ambiguousPaths(
    ops.map(({ name, op_id }) => ({ name, op_id })),
    "name",
  );
  const directed = ops.some(({ direction }) => direction !== null && direction !== "");
  const core = data.matrix_unit === "Tensor Core" ? "TC" : "MC";
  return (
    <Panel
      title="Top 10 GPU Ops"
      about="The ops with the largest GPU time over all GPUs and all their calls. A row opens the op with its kernels."
    >
      {ops.length === 0 ? (
        <p class="nothing">No op of this recording has GPU time.</p>
      ) : (
        <div class="top-ops-scroll" tabIndex={0} role="region" aria-label="Top 10 GPU ops">
          <table class="plain-table top-ops">
            <thead>
              <tr>
                <th scope="col" class="time-column">
                  GPU Time ({unit.name})
                </th>
                <th scope="col">Op Name</th>
                {directed && (
                  <th scope="col" class="direction-column beside">
                    Direction
                  </th>
                )}
                <th scope="col" class="type-column beside">
                  Op Type
                </th>
                <th scope="col" class="right beside">
                  Calls
                </th>
                <th scope="col" class="middle" data-tip={`Eligible for ${data.matrix_unit}s`}>
                  {core} Eligible
                </th>
                <th scope="col" class="middle" data-tip={`At least one kernel of the op uses ${data.matrix_unit}s`}>
                  Using {core}
                </th>
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
                    style={{ "--bar": (op.gpu_time_fraction ?? 0) / (ops[0]?.gpu_time_fraction ?? 1) }}
                    data-tip={`${readableAndExact(op.gpu_time_ns)}\n${formatShare(op.gpu_time_fraction)} of the GPU time of all ops`}
                  >
                    <span class="bar-share">{formatShare(op.gpu_time_fraction)}</span>
                    <span class="number">{inUnit(op.gpu_time_ns, unit)}</span>
                  </td>
                  <td>
                    <ViewLink class="row-link" to={withOp(url, op)}>
                      <OpPath path={op.name} id={ambiguous.has(op.name) ? op.op_id : ""} />
                    </ViewLink>
                  </td>
                  {directed && <td class="beside">{op.direction ?? ""}</td>}
                  <td class="beside" data-tip={op.op_type}>
                    {op.op_type ?? UNKNOWN}
                  </td>
                  <td class="right number beside">{formatCount(op.calls)}</td>
                  <td class="middle">
                    <YesNo value={op.eligible} />
                  </td>
                  <td class="middle">
                    <YesNo value={op.using_tensor_cores} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
