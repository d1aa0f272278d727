import type { DashboardResponse, Resource } from "../../api/types";
import { Donut, type DonutPart } from "../../components/donut";
import { Panel } from "../../components/panel";
import { UNKNOWN } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { unknownWork } from "../../model/kernel_time";
import { isRecorded, notRecordedTip } from "../../model/recorded";
import { colourOf, resourceLabel, resourceMeaning } from "../../model/resources";

interface ResourceBreakdownProps {
  data: DashboardResponse;
  /** How long communication ran while nothing was computed, ns. */
  exposed: number;
  /** Whether collectives ran: the bar of the step names them, DLProf's classes do not. */
  communicates: boolean;
  /** Whether the bar of the step divides idle time by its causes. */
  dividesIdle: boolean;
}

export function ResourceBreakdown({ data, exposed, communicates, dividesIdle }: ResourceBreakdownProps) {
  const wall = data.gpu_utilization.wall_ns ?? data.performance.wall_clock_ns;
  const labelOf = (resource: Resource): string => resourceLabel(resource, data.matrix_unit, unknownWork(data));
  const untold = data.resource_breakdown.some(({ resource, time_ns: time }) => resource === "unknown_kernel" && time);
  const leastOf = (resource: Resource, time: number | null): string =>
    resource === "tensor_core" && untold && time !== null
      ? `${labelOf(resource)}, at\u00a0least`
      : // The bar of the step divides the same idle time by its causes: the names say what DLProf's classes are.
        resource === "cpu"
        ? "CPU, ops and calls"
        : resource === "other"
          ? "Other, unrecorded"
          : resource === "other_kernel" && communicates && exposed === 0
            ? "Other kernels and collectives"
            : labelOf(resource);
  const entryOf = (resource: Resource, time: number | null, fraction: number | null): DonutPart => ({
    key: resource,
    label: leastOf(resource, time),
    colour: colourOf(resource),
    size: time,
    ...(!isRecorded(resource, data)
      ? { value: "not recorded", share: "" }
      : { value: time ?? UNKNOWN, share: time === null ? "" : formatShare(fraction) }),
    tip: !isRecorded(resource, data)
      ? notRecordedTip(resource)
      : time === null
        ? `No kernel is known to use ${data.matrix_unit}s, but some may.`
        : `${leastOf(resource, time)}: ${formatShare(fraction)}\n${readableAndExact(time)} of ${readableAndExact(wall)} wall clock time\n${resourceMeaning(resource, data.matrix_unit, unknownWork(data))}`,
  });
  const largest = [...data.resource_breakdown].sort((a, b) => (b.fraction ?? 0) - (a.fraction ?? 0))[0];
  return (
    <Panel
      title="Resource Usage Breakdown"
      about="Every moment of the wall clock time is counted once, for the first resource in this order that was busy, so the parts add up to the whole."
    >
      <Donut
        name="resources"
        label={
          largest === undefined
            ? "No resource usage"
            : `Largest part: ${leastOf(largest.resource, largest.time_ns)}, ${formatShare(largest.fraction)}`
        }
        centre={formatDuration(wall)}
        centreLabel="wall clock"
        parts={data.resource_breakdown
          .filter(
            ({ resource }) =>
              (resource !== "unknown_kernel" || untold) && (resource !== "tensor_core" || data.has_matrix_units),
          )
          .flatMap(({ resource, time_ns: time, fraction }) =>
            resource !== "other_kernel" || exposed === 0
              ? [entryOf(resource, time, fraction)]
              : [
                  entryOf(resource, (time ?? 0) - exposed, shareOf((time ?? 0) - exposed, wall)),
                  {
                    key: "communication",
                    label: "Exposed communication",
                    colour: colourOf("communication"),
                    size: exposed,
                    value: exposed,
                    share: formatShare(shareOf(exposed, wall)),
                    tip: `Exposed communication: ${formatShare(shareOf(exposed, wall))}\n${readableAndExact(exposed)} of ${readableAndExact(wall)} wall clock time\nCollectives were running, and no other kernel.`,
                  },
                ],
          )}
      />
      {dividesIdle && (
        <p class="muted note-below">
          Idle time is divided by what the host did meanwhile; the bar at the top divides it by what the GPU waited for.
        </p>
      )}
    </Panel>
  );
}
