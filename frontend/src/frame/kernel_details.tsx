import type { DashboardResponse } from "../api/types";
import { PlainHead, atRight } from "../components/plain_head";
import { Duration } from "../components/value";
import { formatCount, formatCounted } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { readableAndExact } from "../format/time";
import { kernelClasses } from "../model/kernel_time";

/** Time and number of all kernels and of each class. */
export function KernelDetails({ data }: { data: DashboardResponse }) {
  const total = data.kernel_time.total.time_ns;
  const { unknown, graph } = data.kernel_time;
  return (
    <>
      <table class="plain-table kernel-details">
        <PlainHead titles={["Kernels", ...atRight("GPU Time", "Share", "Launches", "Names")]} />
        <tbody>
          {kernelClasses(data).map(({ key, label, colour, time }) => (
            <tr key={key}>
              <th scope="row">
                <span class="swatch" style={{ background: colour }} />
                {label}
              </th>
              <td class="right">
                <Duration ns={time.time_ns} />
              </td>
              <td class="right number" data-tip={`${readableAndExact(time.time_ns)} of ${readableAndExact(total)}`}>
                {formatShare(shareOf(time.time_ns, total))}
              </td>
              <td class="right number">{formatCount(time.launches)}</td>
              <td class="right number">{formatCount(time.names)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {(unknown.time_ns ?? 0) > 0 && (
        <p class="muted">The names of kernels that are not known do not tell whether they use {data.matrix_unit}s.</p>
      )}
      {(graph.time_ns ?? 0) > 0 && (
        <p class="muted">
          {formatCounted(graph.launches ?? 0, "CUDA graph")} recorded as a whole took {readableAndExact(graph.time_ns)}{" "}
          more; the kernels inside are not known.
        </p>
      )}
      <p class="muted">
        Times are sums of durations. Kernels that overlap count in full, so a sum can be more than the wall clock time.
        Memory means copies and memsets on the GPU.
      </p>
    </>
  );
}
