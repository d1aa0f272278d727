/** Why the GPU waits, at the place and moment: the tracks of a window, what is selected in it, and its gaps as tables. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import {
  fetchMoment,
  fetchNextGap,
  fetchTable,
  fetchTimeline,
  fetchTimelineItem,
  fetchTimelineHits,
  fetchTimelineItemAt,
  fetchTimelineSearch,
  fetchTimelineWindow,
} from "../../api/client";
import { Choice } from "../../components/choice";
import { LeftOut } from "../../components/left_out";
import { ErrorBox, Loading, Message } from "../../components/message";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";
import { Tracks } from "../../components/timeline/tracks";
import { useWindow } from "../../components/timeline/use_window";
import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { navigate, useUrl, useUrlSet, writeSoon } from "../../frame/url";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useQuery } from "../../frame/use_query";
import type {
  Beside,
  DashboardResponse,
  IterationRow,
  IterationWindow,
  TimelineGap,
  TimelineItem,
  TimelineOverview,
} from "../../api/types";
import { gapInWords } from "../../model/gap";
import { whyNoKernels } from "../../model/headline";
import { mainDevice } from "../../model/parts";
import {
  anchorIn,
  around,
  iterationAround,
  iterationIn,
  panned,
  rowsOf,
  shownAtFirst,
  stepOf,
  threadNumbers,
  within,
  withoutEmptyHost,
  zoomed,
  type TrackRow,
} from "../../model/timeline";
import { readTimeline, selecting, type Selected, type View } from "../../model/timeline_link";
import { wholeNumber } from "../../model/url_state";
import { Details } from "./details";
import { GapTables } from "./gap_tables";
import { HandOver } from "./hand_over";
import { Headline, Legend } from "./headline";
import { Keys } from "./keys";
import { Launches } from "./launches";
import { Minimap } from "./minimap";
import { Selection } from "./selection";
import { WindowBar } from "./window_bar";

/** Threads whose calls are searched for one that blocks. */
const MOST_THREADS = 6;
/** Tracks whose items have names to search for, and how many of them the server takes. */
const SEARCHED = /^(?:stream|op|range)$/;
const MOST_SEARCHED = 64;

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
  aggregated: readonly Pick<IterationRow, "iteration" | "stop_iteration">[];
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
  const threads = useMemo(() => threadNumbers(overview.tracks), [overview]);
  const tracks = useMemo(() => [...new Set(rows.flatMap(({ track }) => (track > 0 ? [track] : [])))], [rows]);
  const named = useMemo(
    () => rows.flatMap(({ kind, track }) => (SEARCHED.test(kind) ? [track] : [])).slice(0, MOST_SEARCHED),
    [rows],
  );
  const { answer, error } = useWindow(profile, round, view, whole, width, tracks);
  // The rows of the host are many: where none of them has anything, one says so.
  const drawn = useMemo(() => withoutEmptyHost(rows, rest, answer), [rows, rest, answer]);
  const replaced = error !== null || (answer !== null && answer.state !== overview.state);
  useEffect(() => {
    if (replaced) onReplaced();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- told once
  }, [replaced]);

  const detail = useQuery<{ item: TimelineItem } | { gap: TimelineGap }>(
    selected === null ? null : `${profile} ${round} ${JSON.stringify(selected)}`,
    async (signal) =>
      selected !== null && "item" in selected
        ? { item: await fetchTimelineItem(profile, selected.item, signal) }
        : fetchMoment(profile, selected?.device ?? 0, selected?.at ?? 0, signal),
  );
  // Until the next one is known the last one stays, and the focus in it.
  const shown = selected === null || (detail.error !== null && !detail.loading) ? null : detail.data;
  const gap = shown !== null && "gap" in shown ? shown.gap : null;
  const item = shown !== null && "item" in shown ? shown.item : null;
  const extent = gap ?? item;
  const marked = useMemo(
    () => (extent === null ? [] : [{ from: extent.start, to: extent.start + extent.duration }]),
    [extent],
  );
  const lines = useMemo(() => linesOf(gap?.ended_by ?? item, drawn), [gap, item, drawn]);

  const devices = rows.flatMap(({ kind, device }) => (kind === "idle" && device !== undefined ? [device] : []));
  const device = main !== null && devices.includes(main) ? main : (devices[0] ?? null);
  const activity = overview.tracks.find((track) => track.kind === "device" && track.device === device);
  const range = useStable(
    dragged === null
      ? rest
      : { from: Math.floor(dragged.from), to: Math.max(Math.ceil(dragged.to), Math.floor(dragged.from) + 1) },
  );
  const sums = useQuery(
    activity === undefined ? null : `${profile} ${round} ${range.from} ${range.to} ${activity.id}`,
    (signal) => fetchTimelineWindow(profile, range, 1, [activity?.id ?? 0], signal),
  ).data;
  const known = sums?.parts[String(device)] ?? null;
  const parts = known ?? {};

  /** As the table of gaps has it; null where the window has none. */
  const longestGap = async (of: number, signal: AbortSignal): Promise<TimelineGap | null> => {
    const links = { from: String(view.from), to: String(view.to), device: String(of) };
    const asked = { table: "gaps", offset: 0, limit: 1, sort: "-duration_ns", search: "", where: {}, links };
    const { rows: found } = await fetchTable({ ...scope, profile, ...asked }, signal);
    const start = found[0]?.start_ns;
    if (typeof start !== "number") return null;
    const there = await fetchMoment(profile, of, start, signal);
    return "gap" in there ? there.gap : null;
  };
  const nextGap = (forwards: boolean): void => {
    const of = gap?.device ?? device;
    if (of === null) return;
    const at = gap === null ? (forwards ? view.from : view.to) : forwards ? gap.start + gap.duration : gap.start;
    const least = Math.round((view.to - view.from) / Math.max(width, 1));
    const { signal } = new AbortController();
    const ask = (longest: number): Promise<TimelineGap | null> =>
      fetchNextGap(profile, of, at, forwards, longest, signal);
    // The first one is the longest of this window, which is what the headline is about; then those that can be seen, then all.
    const begin = async (): Promise<TimelineGap | null> => {
      const first = gap === null ? await longestGap(of, signal) : null;
      return first ?? (await ask(least)) ?? ask(0);
    };
    begin().then(
      (next) => {
        if (next === null) {
          setSaid("No further gap.");
          return;
        }
        const stop = next.start + next.duration;
        // The first one may go on beyond the window, of which it is a part.
        const inside =
          gap === null ? next.start < view.to && stop > view.from : next.start >= view.from && stop <= view.to;
        const length = Math.max(view.to - view.from, next.duration * 1.2);
        const middle = next.start + next.duration / 2;
        select(
          { device: of, at: next.start },
          inside ? null : within({ from: middle - length / 2, to: middle + length / 2 }, whole),
        );
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
  /** The call of this name at a moment, of the threads that launch most. */
  const pickCall = (name: string, at: number): void => {
    const threads = overview.tracks
      .filter(({ kind }) => kind === "call")
      .sort((a, b) => b.launches - a.launches)
      .slice(0, MOST_THREADS);
    const { signal } = new AbortController();
    Promise.all(threads.map(({ id }) => fetchTimelineItemAt(profile, id, at, 0, signal))).then(
      (shown) => {
        const next = shown.find((each) => each?.name === name && each.start <= at && at < each.start + each.duration);
        if (next) reveal(next, { item: next.id });
        else setSaid(`${name} is not on the timeline.`);
      },
      () => setSaid(`${name} could not be found.`),
    );
  };
  const search = useRef<HTMLInputElement>(null);
  const [searched, setSearched] = useState("");
  const found = useQuery(
    searched === "" || width < 1 || named.length === 0
      ? null
      : `${profile} ${round} ${rest.from} ${rest.to} ${width} ${named.join(" ")} ${searched}`,
    (signal) => fetchTimelineHits(profile, searched, rest, Math.round(width), named, signal),
  );
  // Those of the last letters stay until the next are known.
  const hits = searched === "" || found.error !== null ? null : found.data;
  const listed = hits?.listed ?? [];
  const place = listed.findIndex(({ id }) => id === item?.id);
  /** To the next hit of the window, or the one before; behind its last one to the next of the whole recording. */
  const find = (text: string, by: 1 | -1): void => {
    if (text.trim() === "") return;
    setSaid("");
    setSearched(text.trim());
    const known = text.trim() === searched && !found.loading ? listed[place < 0 ? 0 : place + by] : undefined;
    if (known !== undefined) {
      select({ item: known.id });
      return;
    }
    if (by < 0) {
      setSaid("No earlier one in this window.");
      return;
    }
    const at = item === null ? view.from : item.start + 1;
    fetchTimelineSearch(profile, text, at, new AbortController().signal).then(
      (next) => {
        if (next === null) setSaid(`Nothing is called "${text}".`);
        else reveal(next, { item: next.id });
      },
      () => setSaid("The search failed."),
    );
  };
  /** What is too narrow to be listed; else, on a stream, the gap of its GPU, if nothing else runs then. */
  const pick = (row: TrackRow, at: number, slack: number): void => {
    setDragged(null);
    const { signal } = new AbortController();
    const moment = Math.round(at);
    fetchTimelineItemAt(profile, row.track, moment, slack, signal)
      .then(async (next): Promise<Selected | null> => {
        if (next !== null) return { item: next.id };
        if (row.kind !== "stream" || row.device === undefined) return null;
        return "gap" in (await fetchMoment(profile, row.device, moment, signal))
          ? { device: row.device, at: moment }
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
    select(null);
  };
  const pointed = useRef<number | null>(null);
  /** Where zooming by keys holds the window: at the pointer, else at what is selected, else in the middle. */
  const anchor = (): number => {
    const [from, to] =
      dragged !== null
        ? [dragged.from, dragged.to]
        : extent !== null
          ? [extent.start, extent.start + extent.duration]
          : [];
    return pointed.current ?? anchorIn(view, from === undefined || to === undefined ? null : { from, to });
  };
  const act = (key: string): boolean => {
    setSaid("");
    if (key === "w" || key === "W") show(zoomed(view, whole, 0.6, anchor()));
    else if (key === "s" || key === "S") show(zoomed(view, whole, 1 / 0.6, anchor()));
    else if (key === "a" || key === "A" || key === "ArrowLeft") show(panned(view, whole, -0.25));
    else if (key === "d" || key === "D" || key === "ArrowRight") show(panned(view, whole, 0.25));
    else if (key === "f" || key === "F") show(extent === null ? whole : around(extent.start, extent.duration, whole));
    else if (key === "[") step(-1);
    else if (key === "]") step(1);
    else if (key === "n" || key === "N") nextGap(true);
    else if (key === "p" || key === "P") nextGap(false);
    else if (key === ",") showBeside(extent?.before);
    else if (key === ".") showBeside(extent?.after);
    else if (key === "/") search.current?.focus();
    else if (key === "?") setHelping(true);
    else if (key === "Escape") clear();
    else return false;
    return true;
  };
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as Element;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (target.closest("input, textarea, select, dialog, [role=grid], [contenteditable]") !== null) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

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
  // As the headline: without marks from the first GPU work on, else without a warm-up that would take most of the width;
  // unless one looks at what is outside.
  const [first, last] = [aggregated[0]?.iteration ?? 0, aggregated.at(-1)?.stop_iteration ?? 0];
  const own = list.filter(({ iteration }) => iteration >= first && iteration <= last);
  const theirs = { from: own[0]?.start ?? whole.from, to: own.at(-1)?.stop ?? whole.to };
  const told = isMarked ? shownAtFirst(theirs, whole) : theirs;
  const mapped = useStable({ from: Math.min(told.from, view.from), to: Math.max(told.to, view.to) });
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
          parts={known}
          unit={matrixUnit}
          range={dragged === null ? rest : range}
          dragged={dragged !== null}
          of={placeOf(here, isMarked ? iterationAround(list, rest) : null, isMarked)}
          device={devices.length > 1 ? device : null}
          scope={{ ...scope, profile }}
        />
      )}
      <Panel
        title="Timeline"
        about="What the GPU, its streams and the host did, and why the GPU was idle. A click selects a kernel, a call or a gap, and tells what the GPU did before and after it; drag over the tracks to sum up a range of time."
        tools={
          devices.length > 1 && (
            <Choice
              label="GPU"
              shown
              options={devices.map((id) => [String(id), String(id)] as const)}
              value={String(device)}
              to={(id) => ({ "timeline.gpu": id === String(ofDashboard) ? null : id })}
            />
          )
        }
      >
        <Minimap
          overview={overview}
          device={device}
          label={device === null ? "ops" : devices.length > 1 ? `GPU ${device}` : "GPU"}
          view={view}
          whole={mapped}
          onView={show}
        />
        <LeftOut mapped={mapped} whole={whole} onWhole={() => show(whole)} />
        <WindowBar
          act={act}
          step={step}
          show={show}
          find={find}
          onSearch={setSearched}
          hits={hits === null || found.loading ? null : { count: hits.count, place }}
          searching={search}
          iterations={overview.iterations}
          here={isMarked ? here : null}
          inside={iterationAround(list, rest)}
          said={said}
          whole={whole}
          hasGaps={device !== null}
        >
          <HandOver profile={profile} view={rest} title={title} />
        </WindowBar>
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
          <Legend unit={matrixUnit} parts={parts} />
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
              {dragged === null && detail.error !== null && <ErrorBox error={detail.error} />}
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
          <GapTables links={links} device={devices.length > 1 ? device : null} isMarked={isMarked} />
          <Launches device={device} range={range} />
        </>
      )}
      {helping && <Keys onClose={() => setHelping(false)} />}
    </div>
  );
}

/** The GPU that the Dashboard speaks of; null until it is known. */
function useMainDevice(): number | null {
  const diagnosis = useDiagnosis().data;
  const [id] = (diagnosis === null ? null : mainDevice(diagnosis)) ?? [];
  return id === undefined ? null : Number(id);
}

/** Where the time of the sentence lies. */
function placeOf(here: IterationWindow | null, around: IterationWindow | null, isMarked: boolean): string | null {
  if (here !== null) return isMarked ? `of iteration ${here.iteration}` : "recorded";
  return around === null ? null : `of this window, in iteration ${around.iteration}`;
}

/** The same object while its times are the same. */
function useStable(view: View): View {
  const { from, to } = view;
  return useMemo(() => ({ from, to }), [from, to]);
}

/** From the op to the call, and from the call to the work. */
function linesOf(
  item: TimelineItem | null,
  rows: readonly { track: number; kind: string }[],
): { from: number; fromRow: number; to: number; toRow: number }[] {
  const call = item?.call ?? null;
  const row = (track: number | undefined): number => rows.findIndex((each) => each.track === track);
  if (item === null || call === null) return [];
  const op = item.op ?? null;
  return [
    { from: call.start, fromRow: row(call.track), to: item.start, toRow: row(item.track) },
    ...(op === null ? [] : [{ from: call.start, fromRow: row(op.track), to: call.start, toRow: row(call.track) }]),
  ].filter(({ fromRow, toRow }) => fromRow >= 0 && toRow >= 0);
}
