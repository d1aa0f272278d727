/** The GPUs of the recording: how much each was used, and what it is. */
import type { DashboardResponse } from "../../api/types";
import { ErrorBox } from "../../components/message";
import { Panel } from "../../components/panel";
import { DataTable } from "../../components/table/data_table";
import { formatRanges } from "../../format/number";
import { formatShare } from "../../format/share";
import { readableAndExact } from "../../format/time";
import { useRankJob } from "../../frame/use_rank_job";
import { devicesInUse } from "../../model/headline";
import { rankLabel } from "../../model/ranks";
import { Ranks } from "../ranks/ranks";

export function Gpus({ data }: { data: DashboardResponse }) {
  const { devices: all, wall_ns: wall } = data.gpu_utilization;
  const devices = devicesInUse(data);
  const query = useRankJob();
  const job = query.data;
  const idle = all.flatMap(({ in_use: used, device_id: id }) => (used || id === null ? [] : [id]));
  return (
    <div class="stacked">
      {query.error !== null && !query.loading && <ErrorBox error={query.error} retry={query.reload} />}
      {job !== null && <Ranks job={job} />}
      {devices.length > 1 && (
        <Panel
          title="GPU Utilization"
          about="Share of the wall clock time of the aggregated iterations in which at least one kernel was running on the GPU. Higher is better."
        >
          <ul class="gpu-bars">
            {devices.map(({ device_id: id, name, fraction, busy_ns: busy }) => (
              <li key={id}>
                <span class="gpu-name">
                  <strong>GPU {id}</strong> <span class="muted">{name}</span>
                </span>
                <span
                  class="gpu-track"
                  data-tip={`${[`GPU ${id}`, name].filter(Boolean).join(", ")}: ${formatShare(fraction)}\n${readableAndExact(busy)} of ${readableAndExact(wall)} wall clock time`}
                >
                  <span class="gpu-bar" style={{ width: `${Math.min(fraction ?? 0, 1) * 100}%` }} />
                </span>
                <span class="gpu-share number">{formatShare(fraction)}</span>
              </li>
            ))}
            <li aria-hidden="true">
              <span class="gpu-axis">
                {[0, 25, 50, 75, 100].map((mark) => (
                  <span key={mark} style={{ left: `${mark}%` }}>
                    {mark} %
                  </span>
                ))}
              </span>
            </li>
          </ul>
          {idle.length > 0 && (
            <p class="muted note-below">
              {`${idle.length === 1 ? "GPU" : "GPUs"} ${formatRanges(idle)} did no work in this recording.`}
            </p>
          )}
        </Panel>
      )}
      <DataTable
        table="gpus"
        name="gpus"
        title={job === null ? "GPUs" : `GPUs of ${rankLabel(job, job.rank).toLowerCase()}`}
        noun="GPUs"
        empty="The recording names no GPU. Nsight Systems and the PyTorch profiler write the GPUs' properties when they record CUDA activities."
        selectable
      />
    </div>
  );
}
