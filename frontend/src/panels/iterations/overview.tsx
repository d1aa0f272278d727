import { useRef } from "preact/hooks";

import { panned, type Window } from "../../model/iteration_window";
import type { Zoom } from "./use_window";

interface OverviewProps {
  whole: Window;
  zoom: Zoom;
  start: number | null;
  stop: number | null;
}

/** A strip of all iterations with the visible part on it, which can be dragged. The keyboard pans in the chart itself. */
export function Overview({ whole, zoom, start, stop }: OverviewProps) {
  const strip = useRef<HTMLDivElement>(null);
  const grabbed = useRef<{ x: number; window: Window } | null>(null);
  const span = whole.to - whole.from;
  const share = (value: number): string => `${((value - whole.from) / span) * 100}%`;
  const { window } = zoom;
  return (
    <div class="overview" ref={strip} aria-hidden="true">
      {start !== null && stop !== null && (
        <div class="overview-profiled" style={{ left: share(start), right: `calc(100% - ${share(stop + 1)})` }} />
      )}
      <div
        class="overview-window"
        style={{ left: share(window.from), right: `calc(100% - ${share(window.to)})` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          grabbed.current = { x: event.clientX, window };
        }}
        onPointerMove={(event) => {
          const width = strip.current?.clientWidth ?? 1;
          if (grabbed.current !== null)
            zoom.show(panned(grabbed.current.window, whole, ((event.clientX - grabbed.current.x) / width) * span));
        }}
        onLostPointerCapture={() => {
          grabbed.current = null;
        }}
      />
    </div>
  );
}
