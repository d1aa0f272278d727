/** The whole capture with the window on it: what the first GPU does, its idle time below, and where iterations begin. */
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { Strips } from "../../components/timeline/drawing";
import { useColours } from "../../components/timeline/use_colours";
import { useWindow } from "../../components/timeline/use_window";
import { useWidth } from "../../components/use_width";
import { useScope } from "../../frame/scope";
import type { TimelineOverview } from "../../api/types";
import { within } from "../../model/timeline";
import { type View } from "../../model/timeline_link";

interface MinimapProps {
  overview: TimelineOverview;
  view: View;
  whole: View;
  onView: (view: View) => void;
}

const HEIGHT = 50;
const MOST_TICKS = 200;

export function Minimap({ overview, view, whole, onView }: MinimapProps) {
  const { profile, round } = useScope();
  const palette = useColours(overview);
  const [measure, width] = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const strips = useRef(new Strips());
  const first =
    overview.tracks.find(({ kind }) => kind === "device") ?? overview.tracks.find(({ kind }) => kind === "op");
  const tracks = useMemo(() => (first === undefined ? [] : [first.id]), [first]);
  const { answer } = useWindow(profile, round, whole, whole, width, tracks);
  useEffect(() => {
    const timer = requestAnimationFrame(() => {
      const context = canvas.current?.getContext("2d");
      if (!context || canvas.current === null) return;
      const ratio = window.devicePixelRatio || 1;
      canvas.current.width = Math.round(width * ratio);
      canvas.current.height = Math.round(HEIGHT * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = palette.background;
      context.fillRect(0, 0, width, HEIGHT);
      context.imageSmoothingEnabled = false;
      const scale = width / Math.max(whole.to - whole.from, 1);
      const track = answer?.tracks[0];
      if (answer !== null && track !== undefined && first !== undefined) {
        const left = (answer.from + (track.bins_from ?? 0) - whole.from) * scale;
        const wide = ((track.bins_to ?? 0) - (track.bins_from ?? 0)) * scale;
        if (track.bins !== undefined && track.bins.class !== "")
          context.drawImage(strips.current.of(track.bins, first.kind, palette), left, 2, wide, 22);
        if (track.idle_bins !== undefined && track.idle_bins.class !== "")
          context.drawImage(strips.current.of(track.idle_bins, first.kind, palette), left, 25, wide, 10);
      }
      const { list } = overview.iterations;
      if (list.length <= MOST_TICKS) {
        context.fillStyle = palette.muted;
        context.font = "10px system-ui, sans-serif";
        let free = 0;
        for (const { iteration, start, stop } of list) {
          const x = (start - whole.from) * scale;
          context.fillRect(x, 37, 1, 4);
          const text = String(iteration);
          const place = x + 3;
          if (place >= free && place + context.measureText(text).width < (stop - whole.from) * scale) {
            context.fillText(text, place, 46);
            free = place + context.measureText(text).width + 6;
          }
        }
      }
    });
    return () => cancelAnimationFrame(timer);
  }, [answer, width, palette, whole, overview, first]);
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
    <div
      class="timeline-minimap"
      ref={measure}
      aria-hidden="true"
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
  );
}
