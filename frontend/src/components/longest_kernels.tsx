/** The kernels that take the most time of what a details pane is about: of an op, of a module, of a group of ops. */
import { fetchTable } from "../api/client";
import type { TableResponse } from "../api/types";
import { formatCount } from "../format/number";
import { unitOf } from "../format/time";
import { scopeKey, useScope } from "../frame/scope";
import { numberOf } from "../frame/use_row";
import { useQuery } from "../frame/use_query";
import { beginningsApart, shortKernelName, wordsApart } from "../model/kernel_name";
import { shortUnit } from "../model/resources";
import { PlainHead, atRight } from "./plain_head";
import { Calls, TimeIn, YesNo } from "./value";

interface LongestKernelsProps {
  /** The server's table of kernels by name, and what it is about. */
  table: string;
  links: Readonly<Record<string, string>>;
  most: number;
  /** Whether times and calls are of one iteration even where tables show sums. */
  perIteration?: boolean;
}

export function LongestKernels({ table, links, most, perIteration = false }: LongestKernelsProps) {
  const shown = useScope();
  const scope = perIteration ? { ...shown, per: "iteration" as const } : shown;
  const asked = { ...scope, table, offset: 0, limit: most, sort: "-gpu_time_ns", search: "", where: {}, links };
  const query = useQuery<TableResponse>(scopeKey(scope, table, links), (signal) => fetchTable(asked, signal));
  const { data } = query;
  if (query.error !== null)
    return (
      <p class="table-error" role="alert">
        These kernels could not be read.{" "}
        <button type="button" class="link-button" onClick={query.reload}>
          Try again
        </button>
      </p>
    );
  if (data === null || query.dataKey !== scopeKey(scope, table, links))
    return <p class="muted">Loading its kernels …</p>;
  if (data.total === 0) return <p class="muted">Its kernels were not recorded.</p>;
  const unit = unitOf(data.rows.map((row) => numberOf(row, "gpu_time_ns")));
  const names = data.rows.map((row) => String(row.name));
  const apart = beginningsApart(names.map(shortKernelName));
  const words = wordsApart(names);
  return (
    <>
      <h3>
        Kernels{" "}
        {data.total > data.rows.length && (
          <span class="muted">
            ({data.rows.length} of {formatCount(data.total)})
          </span>
        )}
      </h3>
      <table class="plain-table longest-kernels">
        <PlainHead
          titles={["Kernel", [shortUnit(scope.matrixUnit), "middle"], ...atRight("Calls", `GPU Time (${unit.name})`)]}
        />
        <tbody>
          {data.rows.map((row) => (
            <tr key={String(row.name)}>
              <td class="kernel-name" data-tip={String(row.name)}>
                {apart.get(shortKernelName(String(row.name)))} <span class="muted">{words.get(String(row.name))}</span>
              </td>
              <td class="middle">
                <YesNo value={row.using_tensor_cores === null ? null : Boolean(row.using_tensor_cores)} />
              </td>
              <td class="right number">
                <Calls value={numberOf(row, "calls")} />
              </td>
              <td class="right">
                <TimeIn ns={numberOf(row, "gpu_time_ns")} unit={unit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
