import type { DashboardResponse } from "../../api/types";
import { Donut } from "../../components/donut";
import { MoreMenu } from "../../components/more_menu";
import { Panel } from "../../components/panel";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { devicesInUse } from "../../model/headline";
import { colourOf } from "../../model/resources";

interface UtilizationProps {
  data: DashboardResponse;
  /** How long communication ran while nothing was computed, ns. */
  exposed: number;
  /** Whether GPU work is missing, so that the GPU may have been in use for longer. */
  least: boolean;
}

export function Utilization({ data, exposed, least }: UtilizationProps) {
  const { fraction, wall_ns: wall } = data.gpu_utilization;
  const devices = devicesInUse(data);
  // The bar above counts it as no idle time, either.
  const copies = data.resource_breakdown.find(({ resource }) => resource === "memory")?.fraction ?? 0;
  // As in the bar above: DLProf counts collectives as use.
  const communication = shareOf(exposed, wall) ?? 0;
  const isSplit = communication > 0;
  const idle = Math.max(1 - (fraction ?? 0) - copies, 0);
  const nsOf = (share: number): number | null =>
    wall === null || devices.length > 1 ? null : Math.round(share * wall);
  const whole = `of ${readableAndExact(wall)} wall clock time`;
  const mean = devices.length > 1 ? `\nMean over the ${devices.length} GPUs in use.` : "";
  const about =
    "Using: at least one kernel was running, overlapping kernels counted once; communicating: only collectives were. Only copying: copies or memsets, but no kernel. Idle: none of them. " +
    "All over the wall clock time of the aggregated iterations" +
    (devices.length > 1 ? ", as the mean over the GPUs in use." : ".");
  return (
    <Panel
      title="GPU Utilization"
      about={about}
      tools={
        devices.length > 1 && <MoreMenu about="GPU Utilization" views={[{ label: "GPUs", to: { view: "gpus" } }]} />
      }
    >
      <Donut
        name="utilization"
        label={`GPU utilization ${least ? "at least " : ""}${formatShare(fraction)}`}
        centre={formatShare(fraction)}
        centreLabel={least ? "at least" : "in use"}
        whole={`of ${formatDuration(wall)} wall clock${devices.length > 1 ? `, mean of ${devices.length} GPUs` : ""}`}
        parts={(
          [
            ["using", isSplit ? "In use, computing" : "Using GPU", "other_kernel", (fraction ?? 0) - communication],
            ["communicating", "In use, communicating", "communication", communication],
            ["copying", "Only copying", "memory", copies],
            ["idle", least ? "Idle or not recorded" : "Idle GPU", "outside", idle],
          ] as const
        )
          .filter(([key, , , share]) => key === "using" || key === "idle" || share > 0)
          .map(([key, label, colour, share]) => ({
            key,
            label,
            colour: colourOf(colour),
            size: share,
            value: nsOf(share) ?? "",
            share: formatShare(share),
            tip: `${label}: ${formatShare(share)}\n${nsOf(share) === null ? "" : `${readableAndExact(nsOf(share))} `}${whole}${mean}`,
          }))}
      />
      {devices.length > 1 && (
        <details class="twin">
          <summary>Each GPU</summary>
          <ul class="device-list">
            {devices.map((device) => (
              <li key={device.device_id} data-tip={`${readableAndExact(device.busy_ns)} ${whole}`}>
                <span>
                  {device.device_id}: {device.name}
                </span>
                <span class="number">{formatShare(device.fraction)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}
