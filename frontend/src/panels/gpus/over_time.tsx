/** The iteration of median length of all GPUs on one axis: when each worked, and why it waited. */
import type { DeviceUtilization, Diagnosis } from "../../api/types";
import { Panel } from "../../components/panel";
import { TimelineStrip } from "../../components/timeline/strip";
import { formatCount } from "../../format/number";
import { formatDuration } from "../../format/time";

/** More GPUs than these would be a wall. */
const MOST_GPUS = 8;

/** Of a GPU that is alone. */
const MOST_STREAMS = 4;

interface OverTimeProps {
  diagnosis: Diagnosis;
  devices: readonly DeviceUtilization[];
}

const typicalOf = ({ iterations }: Diagnosis): Diagnosis["iterations"] => iterations.filter((each) => each.typical);

/** The typical iteration of median length. */
export function medianOf(diagnosis: Diagnosis): Diagnosis["iterations"][number] | undefined {
  const typical = typicalOf(diagnosis).sort((a, b) => a.wall_ns - b.wall_ns);
  return typical[Math.floor((typical.length - 1) / 2)];
}

export function OverTime({ diagnosis, devices }: OverTimeProps) {
  const shown = medianOf(diagnosis);
  const ids = devices.flatMap(({ device_id: id }) => (id === null ? [] : [id]));
  if (shown === undefined || ids.length === 0) return null;
  const isOnly = typicalOf(diagnosis).length === 1;
  return (
    <Panel
      title={diagnosis.marked ? `The ${isOnly ? "" : "Median "}Iteration over Time` : "The Recording over Time"}
      walked
      class="over-time"
      tools={
        diagnosis.marked && (
          <span class="muted sum-note">
            {shown.label}, {formatDuration(shown.wall_ns)}
          </span>
        )
      }
      about={`${shown.label}${isOnly ? "" : ", the iteration of median length"}: of each GPU why it was idle, and below that ${ids.length === 1 ? "its streams with the most work" : "its stream with the most work and those that communicate, at most two"}. A click opens the moment in the Timeline.`}
    >
      <TimelineStrip
        from={shown.start_ns}
        to={shown.stop_ns}
        devices={ids.slice(0, MOST_GPUS)}
        host={false}
        most={ids.length === 1 ? MOST_STREAMS : 1}
      />
      {ids.length > MOST_GPUS && (
        <p class="muted">
          The first {formatCount(MOST_GPUS)} of {formatCount(ids.length)} GPUs.
        </p>
      )}
    </Panel>
  );
}
