/** The tracks of the timeline on a canvas, with their names beside it. Wheel, touch and mouse move the window; a click selects. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { useLacking } from "../../frame/use_diagnosis";
import { lengthIn } from "../../model/gap";
import { cutLabel } from "../../model/kernel_name";
import { partKinds } from "../../model/parts";
import type { TimelineHits, TimelineOverview, TimelineWindow } from "../../api/types";
import { classInWords, movedBy, panned, seenOf, topOf, zoomed, type TrackRow } from "../../model/timeline";
import { type Selected, type View } from "../../model/timeline_link";
import { useWidth } from "../use_width";
import { AXIS_HEIGHT, draw, itemName, Strips, type Scene } from "./drawing";
import { binInWords, itemDrawn, spanAt } from "./pointing";
import { useColours } from "./use_colours";
import { useItemAt } from "./use_item_at";
import { useOneStop } from "../walking";

interface TracksProps {
  overview: TimelineOverview;
  answer: TimelineWindow | null;
  /** Whether the answer did not come: nothing is under way. */
  failed: boolean;
  rows: readonly TrackRow[];
  view: View;
  whole: View;
  marked: readonly View[];
  lines: Scene["lines"];
  dragged: View | null;
  hits?: TimelineHits | null;
  /** Whether a gap is as long as the window shows of it, as tables below count it. */
  cut?: boolean;
  queue?: Scene["queue"];
  label: string;
  onView?: (view: View) => void;
  onWidth?: (width: number) => void;
  onSelect?: (selected: Selected | null) => void;
  /** What is too narrow to be listed: a moment on a track. */
  onPick?: (row: TrackRow, at: Place) => void;
  /** Where the pointer is over the tracks, from 0 (left) to 1 (right); null while it is elsewhere. */
  pointed?: { current: number | null };
  onDrag?: (view: View | null) => void;
  onFold?: (key: string) => void;
}

/** A press that moves less than this is a click. */
const CLICK_PIXELS = 4;
/** What is at most this far from the pointer is meant: narrow slices could not be hit otherwise. */
const SLACK_PIXELS = 3;

/** Where something too narrow to be listed is. */
export interface Place {
  at: number;
  /** How far from it. */
  slack: number;
  /** Of the stretch around it, of which the class that takes most is seen. */
  span: number;
}

interface Hover {
  x: number;
  y: number;
  /** How long and what, its name, and what else there is to say. */
  lines: readonly string[];
  /** Whether it is about a stretch of time, and not about one item. */
  isBin: boolean;
  /** Where what is too narrow for a name may be asked for: a track, and a moment. */
  unnamed: ({ track: number } & Place) | null;
}

/** Names are cut in their middle, so that what tells them apart stays. */
const NAME_LETTERS = 60;

const itemLines = (name: string, kind: string, duration: number, label: string): string[] => [
  `${formatDuration(duration)} · ${label}`,
  ...(name === "" ? [] : [cutLabel(itemName(name, kind), NAME_LETTERS)]),
];

/** The tracks whose items have names. */
const NAMED = /^(?:range|op|call|stream)$/;

export function Tracks(props: TracksProps) {
  const { overview, answer, rows, view, whole, marked, lines, dragged, hits = null, cut = true, queue = null } = props;
  const { matrixUnit } = useScope();
  const [measure, width] = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const strips = useRef(new Strips());
  const [hover, setHover] = useState<Hover | null>(null);
  const [ratio, setRatio] = useState(() => window.devicePixelRatio || 1);
  const height = AXIS_HEIGHT + rows.reduce((sum, row) => sum + row.height, 0);
  const { onWidth } = props;
  useLayoutEffect(() => onWidth?.(width), [width, onWidth]);
  useEffect(() => {
    const onResize = (): void => setRatio(window.devicePixelRatio || 1);
    window.addEventListener("resize", onResize);
    return () => window.removeEventListener("resize", onResize);
  }, []);
  const palette = useColours(overview);
  const queued = (overview.classes.device ?? []).indexOf("queued");
  const lacking = useLacking();
  const causes = useMemo(() => {
    const labels = new Map(partKinds(matrixUnit).map(({ key, label }) => [key as string, label]));
    return (overview.classes.device ?? []).map((name) => labels.get(name) ?? name);
  }, [overview, matrixUnit]);
  const scene = {
    view,
    answer,
    rows,
    palette,
    width,
    marked,
    lines,
    dragged,
    hits,
    causes,
    cut,
    queue,
    lacking,
    queued,
  };
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (element === null || !context) return undefined;
    const frame = requestAnimationFrame(() => {
      const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== wide || element.height !== high) {
        element.width = wide;
        element.height = high;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw(context, scene, strips.current);
    });
    return () => cancelAnimationFrame(frame);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- all that is drawn is named once
  }, [...Object.values<unknown>(scene), height, ratio]);

  // Rows that appear above the pointer push its row down: the page scrolls on, so that the same row stays under it.
  const pointerY = useRef<number | null>(null);
  const before = useRef(rows);
  useLayoutEffect(() => {
    const y = pointerY.current;
    const by = y === null ? 0 : movedBy(before.current, rows, y - AXIS_HEIGHT);
    before.current = rows;
    if (by !== 0) canvas.current?.closest(".frame-main")?.scrollBy(0, by);
  }, [rows]);

  const timeAt = (x: number): number => view.from + (x / Math.max(width, 1)) * (view.to - view.from);
  const rowAt = (y: number): number => {
    let top = AXIS_HEIGHT;
    return rows.findIndex((row) => {
      top += row.height;
      return y < top && y >= AXIS_HEIGHT;
    });
  };
  const pixel = (view.to - view.from) / Math.max(width, 1);
  const slack = SLACK_PIXELS * pixel;
  const hit = (x: number, y: number): { row: TrackRow; item: number; time: number } | null => {
    const row = rows[rowAt(y)];
    const track = answer?.tracks.find(({ id }) => id === row?.track);
    if (row === undefined || answer === null || track === undefined) return null;
    const time = timeAt(x);
    return {
      row,
      item: itemDrawn(track, row, {
        time: time - answer.from,
        y: y - AXIS_HEIGHT - topOf(rows, rows.indexOf(row)),
        pixel,
        slack,
      }),
      time,
    };
  };
  /** What a click there asks for. */
  const placeOf = ({ row, time }: { row: TrackRow; time: number }): Place => {
    const track = answer?.tracks.find(({ id }) => id === row.track);
    const from = answer?.from ?? 0;
    const bin = track === undefined ? null : spanAt(track, time - from, row.kind === "idle");
    return bin === null
      ? { at: Math.round(time), slack, span: 0 }
      : { at: Math.round(from + bin.middle), slack, span: Math.max(Math.floor(bin.length), 1) };
  };
  const description = (x: number, y: number): string[] => {
    const target = hit(x, y);
    const track = answer?.tracks.find(({ id }) => id === target?.row.track);
    if (target === null || track === undefined || answer === null) return [];
    const kind = target.row.kind === "idle" ? "device" : target.row.kind;
    const wordOf = (number: number): string => {
      const word = kind === "more" || kind === "group" ? "" : (overview.classes[kind]?.[number] ?? "");
      return kind === "device"
        ? (partKinds(matrixUnit).find(({ key }) => key === word)?.label ?? word)
        : classInWords(target.row.kind === "stream" ? "stream" : "call", word, matrixUnit);
    };
    const { items } = track;
    if (items === undefined || target.item < 0) {
      const words = binInWords(track, target.time - answer.from, target.row.kind === "idle", wordOf);
      return words === "" ? [] : [words];
    }
    const label = wordOf(items.class[target.item] ?? 0);
    const seen = (start = 0, duration = 0): string => {
      const from = answer.from + start;
      const [first, last] = seenOf(from, duration, view);
      return cut ? formatDuration(last - first) : lengthIn({ from, to: from + duration }, answer);
    };
    if (kind === "device") {
      const part = seen(items.start[target.item], items.duration[target.item]);
      const gap = seen(items.gap_start?.[target.item], items.gap_duration?.[target.item]);
      return [`${part} · ${label}`, ...(gap === part ? [] : [`in a gap of ${gap}`])];
    }
    return itemLines(
      track.names?.[items.name?.[target.item] ?? -1] ?? "",
      kind,
      items.duration[target.item] ?? 0,
      label,
    );
  };

  /** Whether it is wide enough for its name to be here already. */
  const wide = ({ row, item }: { row: TrackRow; item: number }): boolean =>
    (answer?.tracks.find(({ id }) => id === row.track)?.items?.name?.[item] ?? -1) >= 0;
  const itemThere = useItemAt(hover?.unnamed ?? null);
  const told =
    hover === null || itemThere === null
      ? (hover?.lines ?? [])
      : [
          ...itemLines(
            itemThere.name,
            itemThere.kind,
            itemThere.duration,
            classInWords(itemThere.kind, itemThere.class, matrixUnit),
          ),
          ...(hover.isBin ? hover.lines : []),
        ];
  // What was under the pointer is elsewhere in another window, and lies over what is told of a selection, until it moves again.
  useEffect(() => setHover(null), [view, marked]);

  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const press = useRef<{ x: number; y: number; view: View; pans: boolean; moved: boolean } | null>(null);
  const pinch = useRef<{ apart: number; view: View; place: number } | null>(null);
  const place = (event: PointerEvent | WheelEvent | MouseEvent): { x: number; y: number } => {
    const box = canvas.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const at = place(event);
    pointers.current.set(event.pointerId, at);
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const [one, other] = [...pointers.current.values()];
    if (one !== undefined && other !== undefined) {
      pinch.current = { apart: Math.max(Math.abs(one.x - other.x), 8), view, place: (one.x + other.x) / 2 / width };
      press.current = null;
    } else press.current = { ...at, view, pans: event.pointerType === "touch" || event.shiftKey, moved: false };
  };
  const onPointerMove = (event: PointerEvent): void => {
    const at = place(event);
    if (props.pointed) props.pointed.current = at.x / Math.max(width, 1);
    pointerY.current = at.y;
    if (pointers.current.has(event.pointerId)) pointers.current.set(event.pointerId, at);
    const [one, other] = [...pointers.current.values()];
    if (pinch.current !== null && one !== undefined && other !== undefined) {
      const apart = Math.max(Math.abs(one.x - other.x), 8);
      props.onView?.(zoomed(pinch.current.view, whole, pinch.current.apart / apart, pinch.current.place));
      return;
    }
    const pressed = press.current;
    if (pressed === null) {
      const found = description(at.x, at.y);
      const target = hit(at.x, at.y);
      const isNamed = target === null || !NAMED.test(target.row.kind) || wide(target);
      // As a click finds it: what is drawn here is meant, not its neighbour.
      const drawn = answer?.tracks.find(({ id }) => id === target?.row.track)?.items?.start[target?.item ?? -1];
      const there = drawn === undefined ? null : { at: Math.round((answer?.from ?? 0) + drawn), slack, span: 0 };
      const unnamed = isNamed ? null : { track: target.row.track, ...(there ?? placeOf(target)) };
      setHover(found.length === 0 ? null : { ...at, lines: found, isBin: (target?.item ?? -1) < 0, unnamed });
      return;
    }
    if (!pressed.moved && Math.abs(at.x - pressed.x) < CLICK_PIXELS) return;
    pressed.moved = true;
    setHover(null);
    if (pressed.pans) props.onView?.(panned(pressed.view, whole, (pressed.x - at.x) / width));
    else props.onDrag?.({ from: timeAt(Math.min(pressed.x, at.x)), to: timeAt(Math.max(pressed.x, at.x)) });
  };
  const onPointerCancel = (event: PointerEvent): void => {
    pointers.current.delete(event.pointerId);
    if (pointers.current.size < 2) pinch.current = null;
    press.current = null;
  };
  const onPointerUp = (event: PointerEvent): void => {
    const pressed = press.current;
    onPointerCancel(event);
    if (pressed === null || pressed.moved) return;
    setHover(null);
    const { x, y } = place(event);
    const target = hit(x, y);
    const items = answer?.tracks.find(({ id }) => id === target?.row.track)?.items;
    if (target === null) props.onSelect?.(null);
    else if (target.row.kind === "idle")
      props.onSelect?.({
        device: target.row.device ?? 0,
        at:
          target.item >= 0 && items !== undefined && answer !== null
            ? answer.from + (items.start[target.item] ?? 0)
            : Math.round(target.time),
      });
    else {
      const number = items?.id?.[target.item];
      if (number !== undefined) props.onSelect?.({ item: number });
      else if (/^(?:queue|device|memory)$/.test(target.row.kind)) props.onSelect?.(null);
      else props.onPick?.(target.row, placeOf(target));
    }
  };
  // Of the canvas itself: a listener of Preact's cannot keep the page from scrolling.
  const latest = useRef({ view, whole, width, onView: props.onView });
  latest.current = { view, whole, width, onView: props.onView };
  useEffect(() => {
    const element = canvas.current;
    const onWheel = (event: WheelEvent): void => {
      const now = latest.current;
      if (now.onView === undefined) return;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const x = event.clientX - (element?.getBoundingClientRect().left ?? 0);
        now.onView(zoomed(now.view, now.whole, Math.exp(event.deltaY / 300), x / Math.max(now.width, 1)));
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault();
        now.onView(panned(now.view, now.whole, sideways / Math.max(now.width, 1)));
      }
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, []);

  const names = useOneStop<HTMLDivElement>();
  return (
    <div class="timeline-tracks">
      <div class="timeline-names" style={{ paddingTop: `${AXIS_HEIGHT}px` }} {...names}>
        {rows.map((row) =>
          row.fold === undefined ? (
            <div
              key={row.key}
              class={row.empty === true ? "timeline-empty" : ""}
              style={{ height: `${row.height}px` }}
              title={row.thread === undefined ? row.label : `${row.label}, thread id ${row.thread}`}
            >
              {row.label}
            </div>
          ) : (
            <button
              key={row.key}
              type="button"
              class="timeline-fold"
              style={{ height: `${row.height}px` }}
              aria-expanded={row.open}
              onClick={() => props.onFold?.(row.fold ?? "")}
            >
              {row.label}
            </button>
          ),
        )}
      </div>
      <div class="timeline-canvas" ref={measure} style={{ height: `${height}px` }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={props.label}
          style={{ width: `${width}px`, height: `${height}px` }}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={onPointerCancel}
          onPointerLeave={() => {
            setHover(null);
            if (props.pointed) props.pointed.current = null;
            pointerY.current = null;
          }}
        />
        {/* Empty rows would say that nothing ran. */}
        {answer === null && !props.failed && (
          <div class="skeleton tracks-to-come" style={{ top: `${AXIS_HEIGHT}px` }} />
        )}
        {hover !== null && (
          <div
            class="timeline-hover"
            aria-hidden="true"
            style={
              hover.x > width / 2
                ? { right: `${width - hover.x + 10}px`, top: `${hover.y + 12}px` }
                : { left: `${hover.x + 12}px`, top: `${hover.y + 12}px` }
            }
          >
            {told.map((line, number) => (
              <div key={number}>{line}</div>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}
