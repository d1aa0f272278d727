/** The recording with the window on it: what a GPU does, its idle time below, and where iterations begin. */
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { hatchBins, Strips } from "../../components/timeline/drawing";
import { useColours } from "../../components/timeline/use_colours";
import { useWindow } from "../../components/timeline/use_window";
import { useWidth } from "../../components/use_width";
import { formatCount } from "../../format/number";
import { useScope } from "../../frame/scope";
import { useLacking } from "../../frame/use_diagnosis";
import type { TimelineOverview } from "../../api/types";
import { within } from "../../model/timeline";
import { type View } from "../../model/timeline_link";

interface MinimapProps {
  overview: TimelineOverview;
  /** The GPU that it shows; null shows the ops of the host. */
  device: number | null;
  /** What that is called. */
  label: string;
  view: View;
  whole: View;
  /** Whether iterations are marked: otherwise the only one is all that is recorded, and has no number. */
  isMarked: boolean;
  onView: (view: View) => void;
}

const BUSY_HEIGHT = 24;
const IDLE_HEIGHT = 14;
/** Of the numbers of iterations. */
const NUMBERS_HEIGHT = 14;
const MOST_TICKS = 200;
const NO_TICKS: TimelineOverview["iterations"]["list"] = [];

export function Minimap({ overview, device, label, view, whole, isMarked, onView }: MinimapProps) {
  const { profile, round } = useScope();
  const palette = useColours(overview);
  const [measure, width] = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { list } = overview.iterations;
  const ticks = list.length >= (isMarked ? 1 : 2) && list.length <= MOST_TICKS ? list : NO_TICKS;
  const names = [
    [label, BUSY_HEIGHT],
    ...(device === null ? [] : [["idle by cause", IDLE_HEIGHT] as const]),
    ...(ticks.length > 0 ? [["iteration", NUMBERS_HEIGHT] as const] : []),
  ] as const;
  const height = names.reduce((sum, [, each]) => sum + each, 0);
  const strips = useRef(new Strips());
  const lacks = useLacking().has(device ?? -1);
  const queued = (overview.classes.device ?? []).indexOf("queued");
  const first =
    overview.tracks.find((track) => track.kind === "device" && track.device === device) ??
    overview.tracks.find(({ kind }) => kind === "op");
  const tracks = useMemo(() => (first === undefined ? [] : [first.id]), [first]);
  const { answer } = useWindow(profile, round, whole, whole, width, tracks);
  useEffect(() => {
    const timer = requestAnimationFrame(() => {
      const context = canvas.current?.getContext("2d");
      if (!context || canvas.current === null) return;
      const ratio = window.devicePixelRatio || 1;
      canvas.current.width = Math.round(width * ratio);
      canvas.current.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = palette.background;
      context.fillRect(0, 0, width, height);
      context.imageSmoothingEnabled = false;
      const scale = width / Math.max(whole.to - whole.from, 1);
      const track = answer?.tracks[0];
      if (answer !== null && track !== undefined && first !== undefined) {
        const left = (answer.from + (track.bins_from ?? 0) - whole.from) * scale;
        const wide = ((track.bins_to ?? 0) - (track.bins_from ?? 0)) * scale;
        if (track.bins !== undefined && track.bins.class !== "")
          context.drawImage(strips.current.of(track.bins, first.kind, palette), left, 1, wide, BUSY_HEIGHT - 2);
        if (track.idle_bins !== undefined && track.idle_bins.class !== "") {
          const strip = strips.current.of(track.idle_bins, first.kind, palette);
          const [y, high] = [BUSY_HEIGHT + 1, IDLE_HEIGHT - 2];
          context.drawImage(strip, left, y, wide, high);
          if (lacks) hatchBins(context, track.idle_bins, queued, { x: left, y, wide, high });
        }
        // Few ops are told one by one, without bins.
        const items = track.bins === undefined ? track.items : undefined;
        items?.start.forEach((start, number) => {
          context.fillStyle = palette.classes[first.kind]?.[items.class[number] ?? 0]?.css ?? palette.muted;
          const x = (answer.from + start - whole.from) * scale;
          context.fillRect(x, 1, Math.max((items.duration[number] ?? 0) * scale, 1), BUSY_HEIGHT - 2);
        });
      }
      context.font = `10px ${palette.font}`;
      context.textBaseline = "bottom";
      let free = 0;
      for (const { iteration, start, stop } of ticks) {
        const x = (start - whole.from) * scale;
        context.fillStyle = palette.line;
        context.fillRect(Math.round(x), 0, 1, height);
        const text = formatCount(iteration);
        const place = x + 5;
        if (place >= free && place + context.measureText(text).width < (stop - whole.from) * scale) {
          context.fillStyle = palette.muted;
          context.fillText(text, place, height - 2);
          free = place + context.measureText(text).width + 6;
        }
      }
    });
    return () => cancelAnimationFrame(timer);
  }, [answer, width, height, palette, whole, ticks, first, lacks, queued]);
  const brush = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const span = Math.max(whole.to - whole.from, 1);
    if (brush.current === null) return;
    brush.current.style.left = `${((view.from - whole.from) / span) * 100}%`;
    brush.current.style.width = `${((view.to - view.from) / span) * 100}%`;
  }, [view, whole]);
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const middle = whole.from + ((event.clientX - box.left) / Math.max(box.width, 1)) * (whole.to - whole.from);
    const half = (view.to - view.from) / 2;
    onView(within({ from: middle - half, to: middle + half }, whole));
  };
  return (
    <div class="timeline-tracks" aria-hidden="true">
      <div class="timeline-names">
        {names.map(([name, each]) => (
          <div key={name} style={{ height: `${each}px` }}>
            {name}
          </div>
        ))}
      </div>
      <div
        class="timeline-minimap"
        style={{ height: `${height}px` }}
        ref={measure}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          move(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
        }}
      >
        <canvas ref={canvas} />
        <div class="timeline-brush" ref={brush} />
      </div>
    </div>
  );
}
