/** Why the GPU waits, at the place and moment: the tracks of a window, what is selected in it, and its gaps as tables. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { fetchMoment, fetchTimeline, fetchTimelineItem, fetchTimelineItemAt } from "../../api/client";
import { Choice } from "../../components/choice";
import { LeftOut } from "../../components/left_out";
import { ErrorBox, Loading, Message } from "../../components/message";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";
import { linesOf } from "../../components/timeline/lines";
import { Tracks, type Place } from "../../components/timeline/tracks";
import { useWindow } from "../../components/timeline/use_window";

import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { navigate, useUrl, useUrlSet, writeSoon } from "../../frame/url";
import { useDiagnosis, useMainDevice } from "../../frame/use_diagnosis";
import { useQuery } from "../../frame/use_query";
import type { Beside, DashboardResponse, IterationRow, TimelineItem, TimelineOverview } from "../../api/types";
import { gapInWords } from "../../model/gap";
import { whyNoKernels } from "../../model/headline";
import { longOne } from "../../model/spread";
import {
  anchorIn,
  around,
  iterationAround,
  iterationIn,
  panned,
  rowsOf,
  stepOf,
  threadNames,
  toldOf,
  within,
  zoomed,
  type TrackRow,
} from "../../model/timeline";
import { readTimeline, selecting, type Selected, type View } from "../../model/timeline_link";
import { baseOf, walkTo, type Walk } from "../../model/timeline_walk";
import { wholeNumber } from "../../model/url_state";
import { Details } from "./details";
import { findCall, findGap } from "./finding";
import { GapTables } from "./gap_tables";
import { HandOver } from "./hand_over";
import { Headline, Legend } from "./headline";
import { Keys, useKeys } from "./keys";
import { Launches, useLaunches } from "./launches";
import { Minimap } from "./minimap";
import { Selection } from "./selection";
import { useLanes } from "./use_lanes";
import { useSearch } from "./use_search";
import { useSelected } from "./use_selected";
import { useSums } from "./use_sums";
import { WindowBar } from "./window_bar";

export function Timeline({ data }: { data: DashboardResponse }) {
  const { profile, round } = useScope();
  const query = useQuery(`${profile} ${round}`, (signal) => fetchTimeline(profile, signal));
  const diagnosis = useDiagnosis();
  // Of several GPUs the one that the Dashboard speaks of is shown: nothing is said of another one before that is known.
  const several = (query.data?.tracks ?? []).filter(({ kind }) => kind === "device").length > 1;
  if (query.data === null || (several && diagnosis.data === null && diagnosis.loading))
    return query.error === null ? (
      <Loading what="the timeline" />
    ) : (
      <ErrorBox error={query.error} retry={query.reload} />
    );
  if (query.data.tracks.length === 0)
    return (
      <Message icon="search" title="Nothing to show">
        <p>
          This recording holds neither GPU work nor ops with times. <Sentence text={whyNoKernels(data)} />
        </p>
      </Message>
    );
  return (
    <Page
      key={`${query.dataKey} ${query.data.state}`}
      overview={query.data}
      why={whyNoKernels(data)}
      isMarked={data.iterations.source.kind !== "whole_capture"}
      aggregated={data.iterations.rows.filter(({ profiled }) => profiled)}
      onReplaced={query.reload}
    />
  );
}

interface WindowProps {
  overview: TimelineOverview;
  /** Whether iterations are marked: otherwise the only one is all that is recorded. */
  isMarked: boolean;
  /** Why no GPU is shown, or how to record one. */
  why: string;
  /** The iterations that are aggregated, perhaps several in one. */
  aggregated: readonly IterationRow[];
  /** Called once the database has other tracks than these. */
  onReplaced: () => void;
}

function Page({ overview, isMarked, why, aggregated, onReplaced }: WindowProps) {
  const { profile, round, matrixUnit, title, ...scope } = useScope();
  const url = useUrl();
  const whole = useMemo(() => ({ from: overview.start, to: Math.max(overview.stop, overview.start + 1) }), [overview]);
  const { typical, list } = overview.iterations;
  const start: View = typical === null ? whole : within({ from: typical.start, to: typical.stop }, whole);
  const { view: asked, selected } = readTimeline(url);
  const settled = within(asked ?? start, whole);
  // What moves is drawn at once, and written into the URL when it rests.
  const [moving, setMoving] = useState<View | null>(null);
  const view = useStable(moving ?? settled);
  const [dragged, setDragged] = useState<View | null>(null);
  const [folds, toggleFold] = useUrlSet("timeline.folds");
  const [width, setWidth] = useState(0);
  const [helping, setHelping] = useState(false);
  const [said, setSaid] = useState("");
  const rest = useStable(settled);
  const inUrl = `${url["timeline.from"] ?? ""} ${url["timeline.to"] ?? ""}`;
  useEffect(() => setMoving(null), [inUrl]);

  const show = useCallback((next: View): void => {
    setMoving(next);
    writeSoon(() => navigate({ "timeline.from": String(next.from), "timeline.to": String(next.to) }), 250);
  }, []);
  const select = (next: Selected | null, next_view: View | null = null): void => {
    setMoving(null);
    navigate({
      ...(next_view === null ? {} : { "timeline.from": String(next_view.from), "timeline.to": String(next_view.to) }),
      ...selecting(next),
    });
  };

  const folded = [...folds].join();
  const ofDashboard = useMainDevice();
  const main = wholeNumber(url["timeline.gpu"]) ?? ofDashboard;
  const rows = useMemo(() => rowsOf(overview.tracks, new Set(folded.split(",")), main), [overview, folded, main]);
  const threads = useMemo(() => threadNames(overview.tracks), [overview]);
  const tracks = useMemo(() => [...new Set(rows.flatMap(({ track }) => (track > 0 ? [track] : [])))], [rows]);
  const { answer, error } = useWindow(profile, round, view, whole, width, tracks);
  const pointed = useRef<number | null>(null);
  const drawn = useLanes(rows, rest, view.from === rest.from && view.to === rest.to ? answer : null, pointed);
  const replaced = error !== null || (answer !== null && answer.state !== overview.state);
  useEffect(() => {
    if (replaced) onReplaced();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- told once
  }, [replaced]);

  const { gap, item, extent, marked, error: detailError } = useSelected(selected);
  const lines = useMemo(() => linesOf(gap?.ended_by ?? item, drawn), [gap, item, drawn]);

  const devices = rows.flatMap(({ kind, device }) => (kind === "idle" && device !== undefined ? [device] : []));
  const device = main !== null && devices.includes(main) ? main : (devices[0] ?? null);
  const activity = overview.tracks.find((track) => track.kind === "device" && track.device === device);
  const range = useStable(
    dragged === null
      ? rest
      : { from: Math.floor(dragged.from), to: Math.max(Math.ceil(dragged.to), Math.floor(dragged.from) + 1) },
  );
  const launches = useLaunches(device, rest, dragged === null ? null : range, view);
  const { sums, ofWindow } = useSums(device, activity?.id, rest, dragged === null ? null : range);

  const walk = useRef<Walk | null>(null);
  /** To a gap or a hit, as close as it takes to see it. */
  const go = (next: Pick<TimelineItem, "start" | "duration">, what: Selected, part: boolean): void => {
    walk.current = walkTo(next, { view, base: baseOf(walk.current, view), whole, width, part });
    select(what, walk.current.shown === view ? null : walk.current.shown);
  };
  const nextGap = (forwards: boolean): void => {
    const of = gap?.device ?? device;
    if (of === null) return;
    const base = baseOf(walk.current, view);
    findGap({ scope: { ...scope, profile }, device: of, view: base, width, gap, forwards }).then(
      (next) => {
        // The first one may go on beyond the window, of which it is a part.
        if (next !== null) go(next, { device: of, at: next.start }, gap === null);
        else setSaid("No further gap.");
      },
      () => setSaid("The next gap could not be found."),
    );
  };
  const reveal = (next: Pick<TimelineItem, "start" | "duration">, what: Selected): void =>
    select(
      what,
      next.start >= view.from && next.start + next.duration <= view.to
        ? null
        : around(next.start, Math.max(next.duration, (view.to - view.from) / 10), whole),
    );
  const showItem = (id: number): void => {
    fetchTimelineItem(profile, id, new AbortController().signal).then(
      (next) => reveal(next, { item: id }),
      () => setSaid("It could not be found."),
    );
  };
  const showBeside = (next: Beside | null | undefined): void => {
    if (next) reveal(next, next.id === null ? { device: extent?.device ?? 0, at: next.start } : { item: next.id });
  };
  const pickCall = (name: string, at: number): void => {
    findCall(profile, overview.tracks, name, at).then(
      (next) => {
        if (next) reveal(next, { item: next.id });
        else setSaid(`${name} is not on the timeline.`);
      },
      () => setSaid(`${name} could not be found.`),
    );
  };
  const searching = useRef<HTMLInputElement>(null);
  const { hits, counted, search, find } = useSearch({
    ...{ rows, rest, width, item },
    base: useStable(baseOf(walk.current, rest)),
    go: (next, what) => go(next, what, true),
    say: setSaid,
  });
  /** What is too narrow to be listed; else, on a stream, the gap of its GPU, if nothing else runs then. */
  const pick = (row: TrackRow, place: Place): void => {
    setDragged(null);
    const { signal } = new AbortController();
    fetchTimelineItemAt(profile, row.track, place, signal)
      .then(async (next): Promise<Selected | null> => {
        if (next !== null) return { item: next.id };
        if (row.kind !== "stream" || row.device === undefined) return null;
        return "gap" in (await fetchMoment(profile, row.device, place.at, signal))
          ? { device: row.device, at: place.at }
          : null;
      })
      .then(select, () => setSaid("What is there could not be found."));
  };
  const step = (by: 1 | -1): void => {
    const next = stepOf(list, view, by);
    if (next === null) setSaid("No further iteration.");
    else show(within({ from: next.start, to: next.stop }, whole));
  };
  const clear = (): void => {
    setDragged(null);
    walk.current = null;
    select(null);
  };
  const held = dragged ?? (extent === null ? null : { from: extent.start, to: extent.start + extent.duration });
  /** Where zooming by keys holds the window: at the pointer, else at what is selected, else in the middle. */
  const anchor = (): number => pointed.current ?? anchorIn(view, held);
  const act = (key: string): boolean => {
    setSaid("");
    if (key === "w" || key === "W") show(zoomed(view, whole, 0.6, anchor()));
    else if (key === "s" || key === "S") show(zoomed(view, whole, 1 / 0.6, anchor()));
    else if (key === "a" || key === "A" || key === "ArrowLeft") show(panned(view, whole, -0.25));
    else if (key === "d" || key === "D" || key === "ArrowRight") show(panned(view, whole, 0.25));
    else if (key === "f" || key === "F") show(extent === null ? whole : around(extent.start, extent.duration, whole));
    else if (key === "m" || key === "M") setDragged(held);
    else if (key === "[") step(-1);
    else if (key === "]") step(1);
    else if (key === "n" || key === "N") nextGap(true);
    else if (key === "p" || key === "P") nextGap(false);
    else if (key === ",") showBeside(extent?.before);
    else if (key === ".") showBeside(extent?.after);
    else if (key === "/") searching.current?.focus();
    else if (key === "?") setHelping(true);
    else if (key === "Escape") clear();
    else return false;
    return true;
  };
  useKeys(act);

  // A row of a table leads to its gap, which is told above.
  const tracksBox = useRef<HTMLDivElement>(null);
  const row = url["gaps.row"] ?? url["gap_groups.row"] ?? "";
  useEffect(() => {
    const wanted = /^(\d+):(-?\d+)$/.exec(row);
    if (wanted === null) return;
    const at = Number(wanted[2]);
    const inside = at >= rest.from && at < rest.to;
    const half = (rest.to - rest.from) / 2;
    tracksBox.current?.scrollIntoView({ block: "nearest" });
    const place = inside ? rest : within({ from: at - half, to: at + half }, whole);
    navigate({
      "gaps.row": null,
      "gap_groups.row": null,
      "timeline.from": String(place.from),
      "timeline.to": String(place.to),
      ...selecting({ device: Number(wanted[1]), at }),
    });
  }, [row, rest, whole]);
  const here = iterationIn(list, rest);
  const isTypical = isMarked && dragged === null && here !== null && here.iteration === typical?.iteration;
  const long = useMemo(() => longOne(aggregated), [aggregated]);
  const told = toldOf(list, aggregated, isMarked, whole);
  // Unless one looks at what is outside.
  const mapped = useStable({ from: Math.min(told.from, view.from), to: Math.max(told.to, view.to) });
  /** Where the time of the sentence lies. */
  const placeOf = (range: View): string => {
    const own = iterationIn(list, range);
    if (own !== null) return isMarked ? `of iteration ${own.iteration}` : "from first to last GPU work";
    const outer = isMarked ? iterationAround(list, range) : null;
    return outer === null ? "of this window" : `of this window, in iteration ${outer.iteration}`;
  };
  const announced =
    gap !== null
      ? gapInWords(gap, rest, matrixUnit)
      : item !== null
        ? `${item.name}, ${formatDuration(item.duration)}`
        : said;
  const links = useMemo(
    () => ({ from: String(range.from), to: String(range.to), ...(device === null ? {} : { device: String(device) }) }),
    [range, device],
  );
  return (
    <div class="stacked">
      {device === null && (
        <header class="headline">
          <h2>No GPU work was recorded: this is what the host did.</h2>
          <p class="model-line">
            <span>
              <Sentence text={why} />
            </span>
          </p>
        </header>
      )}
      {device !== null && (
        <Headline
          sums={sums}
          unit={matrixUnit}
          placeOf={placeOf}
          longest={isTypical ? list.find(({ iteration }) => iteration === long) : undefined}
          device={devices.length > 1 ? device : null}
          scope={{ ...scope, profile }}
        />
      )}
      <Panel
        title="Timeline"
        about="What the GPU, its streams and the host did, and why the GPU was idle. A click selects a kernel, a call or a gap, and tells what the GPU did before and after it; drag over the tracks to sum up a range of time."
        tools={
          <>
            <LeftOut mapped={mapped} whole={whole} onWhole={() => show(whole)} />
            {devices.length > 1 && (
              <Choice
                label="GPU"
                shown
                options={devices.map((id) => [String(id), String(id)] as const)}
                value={String(device)}
                to={(id) => ({ "timeline.gpu": id === String(ofDashboard) ? null : id })}
              />
            )}
            <HandOver profile={profile} view={rest} title={title} />
          </>
        }
      >
        <Minimap
          overview={overview}
          device={device}
          label={device === null ? "ops" : devices.length > 1 ? `GPU ${device}` : "GPU"}
          view={view}
          whole={mapped}
          isMarked={isMarked}
          onView={show}
        />
        <WindowBar
          act={act}
          step={step}
          show={show}
          find={find}
          onSearch={search}
          hits={counted}
          searching={searching}
          iterations={overview.iterations}
          here={isMarked ? here : null}
          inside={iterationAround(list, rest)}
          said={said}
          whole={whole}
          hasGaps={device !== null}
        />
        {error !== null && <ErrorBox error={error} />}
        <div ref={tracksBox} class="timeline-page">
          <Tracks
            overview={overview}
            answer={answer}
            failed={error !== null}
            rows={drawn}
            view={view}
            whole={whole}
            marked={marked}
            lines={lines}
            dragged={dragged}
            hits={hits}
            queue={launches.queue}
            label={`Tracks of ${formatDuration(view.to - view.from)}; the tables of gaps below tell the same`}
            onView={show}
            onWidth={setWidth}
            onSelect={(next) => {
              setDragged(null);
              select(next);
            }}
            onPick={pick}
            pointed={pointed}
            onDrag={setDragged}
            onFold={toggleFold}
          />
          {device !== null && <Legend unit={matrixUnit} device={device} parts={sums?.parts ?? {}} listed={ofWindow} />}
          {(selected !== null || dragged !== null) && (
            <aside aria-label="Details">
              {dragged !== null && (
                <Selection
                  device={device}
                  range={range}
                  onShow={() => {
                    setDragged(null);
                    show(within(range, whole));
                  }}
                />
              )}
              {dragged === null && detailError !== null && <ErrorBox error={detailError} />}
              {dragged === null && extent !== null && (
                <Details
                  of={extent}
                  view={rest}
                  window={isMarked && here !== null ? `iteration ${here.iteration}` : "this window"}
                  unit={matrixUnit}
                  threads={threads}
                  onNext={() => nextGap(true)}
                  onItem={showItem}
                  onBeside={showBeside}
                  onClear={clear}
                  onCall={pickCall}
                />
              )}
            </aside>
          )}
        </div>
        <p class="visually-hidden" role="status">
          {announced}
        </p>
      </Panel>
      {device !== null && (
        <>
          <GapTables
            links={links}
            device={devices.length > 1 ? device : null}
            isMarked={isMarked}
            gap={gap === null ? "" : `${gap.device}:${Math.max(gap.start, range.from)}`}
            group={selected !== null && "at" in selected ? `${selected.device}:${selected.at}` : ""}
          />
          <Launches query={launches.query} />
        </>
      )}
      {helping && <Keys onClose={() => setHelping(false)} />}
    </div>
  );
}

/** The same object while its times are the same. */
function useStable(view: View): View {
  const { from, to } = view;
  return useMemo(() => ({ from, to }), [from, to]);
}
