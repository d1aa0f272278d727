import type { DashboardResponse, Resource } from "../../api/types";
import { Donut } from "../../components/donut";
import { Panel } from "../../components/panel";
import { formatShare } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { hasGraphs } from "../../model/kernel_time";
import { isRecorded, notRecordedTip } from "../../model/recorded";
import { colourOf, resourceLabel, resourceMeaning } from "../../model/resources";

export function ResourceBreakdown({ data }: { data: DashboardResponse }) {
  const wall = data.gpu_utilization.wall_ns ?? data.performance.wall_clock_ns;
  const labelOf = (resource: Resource): string => resourceLabel(resource, data.matrix_unit, hasGraphs(data));
  const largest = [...data.resource_breakdown].sort((a, b) => (b.fraction ?? 0) - (a.fraction ?? 0))[0];
  return (
    <Panel
      title="Resource Usage Breakdown"
      about="Every moment of the wall clock time, counted once, for the first in this order that was busy: so the parts add up to the whole."
      class="span-wide"
    >
      <Donut
        name="resources"
        label={
          largest === undefined
            ? "No resource usage"
            : `Largest part: ${labelOf(largest.resource)}, ${formatShare(largest.fraction)}`
        }
        centre={formatDuration(wall)}
        centreLabel="wall clock"
        parts={data.resource_breakdown.map(({ resource, time_ns: time, fraction }) => ({
          key: resource,
          label: labelOf(resource),
          colour: colourOf(resource),
          size: time,
          ...(isRecorded(resource, data)
            ? { value: formatDuration(time), share: formatShare(fraction) }
            : { value: "not recorded", share: "" }),
          tip: !isRecorded(resource, data)
            ? notRecordedTip(resource)
            : `${labelOf(resource)}: ${formatShare(fraction)}\n${readableAndExact(time)} of ${readableAndExact(wall)} wall clock time\n${resourceMeaning(resource, data.matrix_unit, hasGraphs(data))}`,
        }))}
      />
    </Panel>
  );
}
