import type { DashboardResponse } from "../../api/types";
import { Donut } from "../../components/donut";
import { Icon } from "../../components/icon";
import { MoreMenu } from "../../components/more_menu";
import { Panel } from "../../components/panel";
import { formatCounted, UNKNOWN } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { navigate } from "../../frame/url";
import { kernelClasses, kernelNs, wholeGraphs, withCollectives } from "../../model/kernel_time";

interface KernelTimePanelProps {
  data: DashboardResponse;
  /** Whether collectives ran: DLProf counts them among the other kernels. */
  communicates: boolean;
}

export function KernelTimePanel({ data, communicates }: KernelTimePanelProps) {
  const graphs = data.kernel_time.graph;
  const inGraphs = graphs.time_ns ?? 0;
  const total = (data.kernel_time.total.time_ns ?? 0) + inGraphs;
  const classes = withCollectives(kernelClasses(data), data, communicates).filter(
    ({ key }) => key !== "total" && (key !== "tensor_core" || data.has_matrix_units),
  );
  const held = [
    ...((kernelNs(data) ?? 0) > 0 ? ["kernels"] : []),
    ...((data.kernel_time.memory.time_ns ?? 0) > 0 ? ["copies"] : []),
    ...(inGraphs > 0 ? ["CUDA graphs"] : []),
  ];
  const used = shareOf(data.kernel_time.tensor_core.time_ns, total);
  return (
    <Panel
      title="Total Kernel GPU Time"
      about="Sum of durations. Overlapping kernels are each counted in full, so the sum can exceed the wall clock time. Memory: GPU copies and memsets."
      tools={
        <>
          <MoreMenu
            about="Total Kernel GPU Time"
            views={[
              { label: "Ops and Kernels", to: { view: "ops", "ops.by": "none" } },
              { label: "Kernels by Iteration", to: { view: "iterations", "iters.by": "kernel" } },
              { label: "Kernels by Op", to: { view: "iterations", "iters.by": "op" } },
            ]}
          />
          <button
            type="button"
            class="icon-button"
            aria-label="Kernel Details"
            data-tip="Kernel Details"
            onClick={() => navigate({ details: "kernels" })}
          >
            <Icon name="panel" />
          </button>
        </>
      }
    >
      <Donut
        name="kernel_time"
        label={`${data.matrix_unit} kernels: ${formatShare(used)} of the kernel GPU time`}
        centre={formatDuration(total)}
        centreLabel="GPU time"
        whole={`of ${formatDuration(total)} in ${held.join(" and ")}`}
        parts={[...classes, ...(inGraphs > 0 ? [wholeGraphs(data)] : [])].map(({ key, label, colour, time }) => ({
          key,
          label,
          colour,
          size: time.time_ns,
          value: time.time_ns ?? UNKNOWN,
          share: time.time_ns === null ? "" : formatShare(shareOf(time.time_ns, total)),
          tip:
            time.time_ns === null
              ? `No kernel is known to use ${data.matrix_unit}s, but some may.`
              : `${label}: ${formatShare(shareOf(time.time_ns, total))}\n${readableAndExact(time.time_ns)} of ${readableAndExact(total)} GPU time`,
        }))}
      />
      {inGraphs > 0 && (
        <p class="muted note-below">
          {formatCounted(graphs.launches ?? 0, "CUDA graph")} recorded as a whole: which kernels ran in them is not
          known.
        </p>
      )}
      {data.ran_late !== "" && <p class="muted note-below">{data.ran_late}</p>}
      {data.launched_outside !== "" && <p class="muted note-below">{data.launched_outside}</p>}
    </Panel>
  );
}
