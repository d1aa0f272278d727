/** The part of the iterations that the chart shows: zoom, pan and places of the bars. Windows are half open: from `from` to before `to`. */
import { barWidth, type Bar } from "./iterations";

export interface Window {
  from: number;
  to: number;
}

/** The window within `whole`, never narrower than `least`, and moved back in where it leaves it. */
export function clamped(asked: Window, whole: Window, least = 4): Window {
  const span = Math.min(Math.max(asked.to - asked.from, Math.min(least, whole.to - whole.from)), whole.to - whole.from);
  const middle = (asked.from + asked.to) / 2;
  const from = Math.min(Math.max(middle - span / 2, whole.from), whole.to - span);
  return { from, to: from + span };
}

/** `factor` below 1 zooms in; the iteration at `fixed` stays where it is. */
export function zoomed(window: Window, whole: Window, factor: number, fixed: number): Window {
  const from = fixed - (fixed - window.from) * factor;
  const to = fixed + (window.to - fixed) * factor;
  return to - from >= whole.to - whole.from ? whole : clamped({ from, to }, whole);
}

export function panned(window: Window, whole: Window, by: number): Window {
  return clamped({ from: window.from + by, to: window.to + by }, whole, window.to - window.from);
}

/** A window around the iterations `start` to `stop` with a little room on both sides, so that their edges can be seen. */
export function around(start: number, stop: number, whole: Window): Window {
  const room = Math.max((stop - start + 1) * 0.05, 0.5);
  return clamped({ from: start - room, to: stop + 1 + room }, whole, 1);
}

/** What to request from the server: the window, half of it on each side to pan into, and as many bars as can be distinguished. */
export function toAsk(window: Window, whole: Window, plotWidth: number): { from: number; to: number; bins: number } {
  const half = (window.to - window.from) / 2;
  const from = Math.max(Math.floor(window.from - half), whole.from);
  const to = Math.min(Math.ceil(window.to + half), whole.to) - 1;
  const perIteration = plotWidth / 3 / Math.max(window.to - window.from, 1);
  return { from, to, bins: Math.min(Math.max(Math.ceil(perIteration * (to - from + 1)), 50), 2000) };
}

export interface PlacedBar {
  row: Bar;
  x: number;
  width: number;
}

/** The places of the bars in the window, on a plot that is `plotWidth` wide. */
export function placedBars(rows: readonly Bar[], window: Window, plotWidth: number): PlacedBar[] {
  const scale = plotWidth / Math.max(window.to - window.from, 1e-9);
  return rows
    .filter(({ iteration, stop_iteration: stop }) => stop + 1 > window.from && iteration < window.to)
    .map((row) => {
      const pitch = (row.stop_iteration + 1 - row.iteration) * scale;
      const width = barWidth(pitch);
      return { row, x: (row.iteration - window.from) * scale + (pitch - width) / 2, width };
    });
}

/** Iterations to label below the axis: round numbers, at least `room` pixels apart. */
export function axisLabels(window: Window, plotWidth: number, room = 56): number[] {
  const most = Math.max(plotWidth / room, 1);
  const span = window.to - window.from;
  const power = 10 ** Math.max(Math.floor(Math.log10(Math.max(span / most, 1))), 0);
  const step = power * ([1, 2, 5, 10].find((factor) => span / (factor * power) <= most) ?? 10);
  const labels: number[] = [];
  for (let at = Math.ceil(window.from / step) * step; at < window.to && labels.length < 200; at += step)
    labels.push(at);
  return labels;
}

/** What is wrong with a range, in words; empty where nothing is. */
export function rangeProblem(start: number | null, stop: number | null, first: number, last: number): string {
  for (const [name, value] of [
    ["start", start],
    ["stop", stop],
  ] as const)
    if (value !== null && (value < first || value > last)) return `The ${name} is outside of ${first} to ${last}.`;
  if (start !== null && stop !== null && start > stop) return "The start is after the stop.";
  return "";
}
