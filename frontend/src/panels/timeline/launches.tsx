/** How launches reach the GPU in the window: how many wait at a time, how long, and which calls take longer than their work. */
import { useMemo } from "preact/hooks";

import { fetchLaunches } from "../../api/client";
import { PlainHead, atRight } from "../../components/plain_head";
import { Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import type { Scene } from "../../components/timeline/drawing";
import { Duration, TimeIn } from "../../components/value";
import { useOneStop } from "../../components/walking";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration, readableAndExact, unitOf } from "../../format/time";
import { useScope } from "../../frame/scope";
import { useQuery, type Query } from "../../frame/use_query";
import { countRange, durationRange, histogramOf, type Bar } from "../../model/launches";
import type { LaunchStatistics } from "../../api/types";
import type { View } from "../../model/timeline_link";
import { OpLink } from "./op_link";

const ABOUT =
  "Launches of kernels whose calls begin in this window; a call with all its work is one. Queue length: calls that have begun and whose work has not. Delay: from the end of a call to the begin of its work.";

interface LaunchesOf {
  /** Those of the tables: of what is dragged over, else of the window. */
  query: Query<LaunchStatistics>;
  /** The most that wait at once in the window as it is drawn; null while that is not known. */
  queue: Scene["queue"];
}

/** The launches of a GPU in the window at `rest`, and in what is dragged over; `view` is what is drawn. */
export function useLaunches(device: number | null, rest: View, dragged: View | null, view: View): LaunchesOf {
  const ofWindow = useLaunchesIn(device, rest);
  const ofDragged = useLaunchesIn(device, dragged);
  const { data } = ofWindow;
  const queue = useMemo(
    () => (data?.from === view.from && data.to === view.to ? { device: data.device, most: data.queue.most } : null),
    [data, view],
  );
  return { query: dragged === null ? ofWindow : ofDragged, queue };
}

function useLaunchesIn(device: number | null, range: View | null): Query<LaunchStatistics> {
  const { profile, round } = useScope();
  const key = device === null || range === null ? null : `${profile} ${round} ${device} ${range.from} ${range.to}`;
  return useQuery(key, (signal) => fetchLaunches(profile, device ?? 0, range ?? { from: 0, to: 1 }, signal));
}

export function Launches({ query }: { query: Query<LaunchStatistics> }) {
  const { data, error } = query;
  return (
    <Panel title="Launches" about={ABOUT}>
      {error !== null ? (
        <p class="nothing">{error.message}</p>
      ) : data === null ? (
        <Loading what="launches" />
      ) : (
        <Statistics statistics={data} wall={data.to - data.from} />
      )}
    </Panel>
  );
}

/** What of the window's work is launched, and not counted; empty where all is. */
function notCounted({ earlier, graphs, unrecorded }: LaunchStatistics): string {
  const told = [
    earlier > 0 && `${formatCounted(earlier, "launch", "launches")} called before the window`,
    graphs > 0 && `${formatCounted(graphs, "CUDA graph")} recorded as a whole`,
    unrecorded > 0 && `${formatCounted(unrecorded, "kernel")} whose launch was not recorded`,
  ].filter(Boolean);
  return told.length === 0 ? "" : ` Not counted: ${told.join(", ")}.`;
}

/** Of fewer, no twentieth can be left out. */
const FEW = 20;

function Statistics({ statistics, wall }: { statistics: LaunchStatistics; wall: number }) {
  const { launches, host_ahead_ns: ahead, delay, short, queue } = statistics;
  const lacking = notCounted(statistics);
  if (launches === 0)
    return (
      <p class="nothing">
        No launch of a kernel is recorded in this window.
        {lacking}
      </p>
    );
  const late = queue.bins.reduce((sum, { from, ns }) => sum + (from < 2 ? ns : 0), 0);
  return (
    <>
      <p class="timeline-launches-said">
        {formatCounted(launches, "launch", "launches")}: half of them wait up to <Duration ns={delay.median_ns} />
        {launches >= FEW && (
          <>
            , 95 % up to <Duration ns={delay.p95_ns} />
          </>
        )}
        . In <strong>{formatShare(late / Math.max(wall, 1))}</strong> of the window at most one launch waits.
        {ahead !== null && ahead > 0 && ` The GPU works on for ${formatDuration(ahead)} after the last launch.`}
        {delay.before_call > 0 &&
          ` ${formatCount(delay.before_call)} begin before their call: the clocks of host and GPU differ.`}
        {short.launches === 0 && " No launch takes longer than its work."}
        {lacking}
      </p>
      <div class="timeline-launches">
        <Histogram
          title="Queue Length"
          heads={["Launches waiting", "Share of the window"]}
          bars={histogramOf(
            queue.bins.map(({ from, ns }) => [from, ns]),
            countRange,
          )}
          whole={wall}
          tip={readableAndExact}
        />
        <Histogram
          title="Launch Delay"
          heads={["Delay", "Share of launches"]}
          bars={histogramOf(
            delay.bins.map(({ from_ns: from, launches: count }) => [from, count]),
            durationRange,
          )}
          whole={launches}
          tip={(count) => formatCounted(count, "launch", "launches")}
        />
        {short.launches > 0 && <ShortKernels short={short} launches={launches} />}
      </div>
    </>
  );
}

interface HistogramProps {
  title: string;
  heads: readonly [string, string];
  bars: readonly Bar[];
  whole: number;
  tip: (value: number) => string;
}

function Histogram({ title, heads, bars, whole, tip }: HistogramProps) {
  const most = Math.max(...bars.map(({ value }) => value), 1);
  return (
    <table class="plain-table timeline-histogram">
      <caption>{title}</caption>
      <PlainHead titles={heads} />
      <tbody>
        {bars.map(({ label, value }) => (
          <tr key={label} data-tip={tip(value)}>
            <th scope="row">{label}</th>
            <td>
              <span
                class="timeline-histogram-bar"
                style={{ width: `calc(${value / most} * (100% - 64px))` }}
                aria-hidden="true"
              />
              {formatShare(value / Math.max(whole, 1))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const SHOWN = 8;

function ShortKernels({ short, launches }: { short: LaunchStatistics["short"]; launches: number }) {
  const unit = unitOf([short.work_ns, short.call_ns]);
  const walked = useOneStop<HTMLTableSectionElement>();
  return (
    <table class="plain-table timeline-short">
      <caption data-tip="Their work takes less time than the call that launches it">
        Shorter than Their Launch: {formatCount(short.launches)} of {formatCounted(launches, "launch", "launches")} (
        {formatShare(short.launches / launches)})
      </caption>
      <PlainHead titles={["Op", ...atRight("Launches", `Work (${unit.name})`, `Calls (${unit.name})`)]} />
      <tbody {...walked}>
        {short.ops.slice(0, SHOWN).map(({ op, op_id: id, launches: count, work_ns: work, call_ns: call }) => (
          <tr key={`${id} ${op}`}>
            <td>
              <OpLink path={op} id={id} />
            </td>
            <td class="right number">{formatCount(count)}</td>
            <td class="right">
              <TimeIn ns={work} unit={unit} />
            </td>
            <td class="right">
              <TimeIn ns={call} unit={unit} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>All</td>
          <td class="right number">{formatCount(short.launches)}</td>
          <td class="right">
            <TimeIn ns={short.work_ns} unit={unit} />
          </td>
          <td class="right">
            <TimeIn ns={short.call_ns} unit={unit} />
          </td>
        </tr>
      </tfoot>
    </table>
  );
}
