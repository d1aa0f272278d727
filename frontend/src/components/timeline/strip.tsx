/**
 * The timeline, one window high, for other pages: inside of Iterations, and beside a finding whose evidence is a time.
 *
 * `from` and `to` are nanoseconds since the start of the capture; `devices` are the GPUs whose work is shown (by default the first,
 * below the host's ops); `marked` are stretches that get dashed lines. A click opens the Timeline
 * on this window, with what was clicked selected.
 */
import { useMemo, useState } from "preact/hooks";

import { fetchTimeline } from "../../api/client";
import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { navigate } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { mayShow, rowsOf, streamsShown } from "../../model/timeline";
import { timelineLink, type View } from "../../model/timeline_link";
import { useHeight } from "../use_width";
import { ViewLink } from "../view_link";
import { AXIS_HEIGHT } from "./drawing";
import { Tracks } from "./tracks";
import { useWindow } from "./use_window";

export interface TimelineStripProps {
  from: number;
  to: number;
  devices?: readonly number[];
  /** Whether the ops of the host stand above. */
  host?: boolean;
  marked?: readonly View[];
  /** Most streams, beside those that communicate. */
  most?: number;
  /** Whether rows are higher than on the Timeline where their surroundings leave room. */
  fill?: boolean;
  /** Whether a link below leads to the window itself. */
  link?: boolean;
}

const MOST_THREADS = 2;
/** Higher rows are walls of colour. */
const MOST_TIMES = 4;
const NO_MARKS: readonly View[] = [];

/** As high as most strips, so that what stands below moves little when it is there. */
export function StripToCome() {
  return <div class="timeline-strip strip-to-come" aria-busy="true" />;
}

export function TimelineStrip(props: TimelineStripProps) {
  const { from, to, devices: asked = [], host = true, marked = NO_MARKS, most = 4, link = true } = props;
  const { fill = false } = props;
  const [measureHeight, height] = useHeight(0);
  const { profile, round } = useScope();
  const overview = useQuery(`${profile} ${round}`, (signal) => fetchTimeline(profile, signal)).data;
  const [width, setWidth] = useState(0);
  // As text, which is the same as long as they are.
  const wanted = asked.join(" ");
  const view = useMemo(
    () => ({ from: Math.floor(from), to: Math.max(Math.ceil(to), Math.floor(from) + 1) }),
    [from, to],
  );
  // Which streams communicate is known once they are loaded.
  const asking = useMemo(() => {
    if (overview === null) return [];
    const devices = overview.tracks.flatMap((track) => (track.device === undefined ? [] : [track.device]));
    const first = Math.min(...devices);
    const shown = wanted === "" ? [first] : wanted.split(" ").map(Number);
    // The first GPU is unfolded already.
    const all = rowsOf(overview.tracks, new Set(shown.filter((id) => id > first).map((id) => `gpu${id}`)));
    return [
      ...(host ? all.filter(({ kind }) => kind === "op").slice(0, MOST_THREADS) : []),
      ...shown.flatMap((id) => {
        const own = all.filter((row) => row.device === id && row.fold === undefined);
        return [...own.filter(({ kind }) => kind === "idle"), ...own.filter(({ kind }) => kind === "stream")];
      }),
    ];
  }, [overview, wanted, host]);
  const tracks = useMemo(() => [...new Set(asking.map(({ track }) => track))], [asking]);
  // What begins before it or ends after it is told as long as it is.
  const whole = overview === null ? view : { from: overview.start, to: overview.stop };
  const { answer, error } = useWindow(profile, round, view, whole, width, tracks);
  const rows = useMemo(() => {
    const loaded = new Map((answer?.tracks ?? []).map((track) => [track.id, track]));
    const communication = overview?.classes.stream?.indexOf("communication") ?? -1;
    const devices = [...new Set(asking.map(({ device }) => device))];
    const shown = new Set(
      devices.flatMap((id) => {
        const streams = asking.filter(({ kind, device }) => kind === "stream" && device === id);
        return streamsShown(streams, most, loaded, communication);
      }),
    );
    // A lane in which nothing happens tells nothing.
    return asking.filter((row) => (row.kind !== "stream" || shown.has(row)) && mayShow(row, view, answer));
  }, [asking, answer, overview, most, view]);
  const least = rows.reduce((sum, row) => sum + row.height, 0);
  const times = Math.max(1, Math.min(MOST_TIMES, (height - AXIS_HEIGHT) / least));
  const drawn = useMemo(
    () => (fill ? rows.map((row) => ({ ...row, height: Math.floor(row.height * times) })) : rows),
    [fill, rows, times],
  );
  if (overview === null) return <StripToCome />;
  if (rows.length === 0) return null;
  return (
    <div class={fill ? "timeline-strip strip-fill" : "timeline-strip"}>
      <div ref={fill ? measureHeight : null} style={fill ? { minHeight: `${AXIS_HEIGHT + least}px` } : {}}>
        <Tracks
          overview={overview}
          answer={answer}
          failed={error !== null}
          rows={drawn}
          view={view}
          whole={view}
          marked={marked}
          lines={[]}
          dragged={null}
          cut={false}
          label={`Timeline of ${formatDuration(view.to - view.from)}`}
          onWidth={setWidth}
          onSelect={(selected) =>
            navigate(
              timelineLink({
                ...view,
                ...(selected === null ? {} : "item" in selected ? { item: selected.item } : { gap: selected }),
              }),
              true,
            )
          }
        />
      </div>
      {link && (
        <p class="muted timeline-open">
          <ViewLink to={timelineLink(view)}>Open in the Timeline</ViewLink>
        </p>
      )}
    </div>
  );
}
