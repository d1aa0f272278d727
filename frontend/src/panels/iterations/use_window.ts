/** The visible part of the iterations: moved at once while the user zooms or pans, written to the URL when that pauses. */
import { useEffect, useState } from "preact/hooks";

import { forgetPending, navigate, useUrl, writeSoon } from "../../frame/url";
import { clamped, type Window } from "../../model/iteration_window";
import type { UrlState } from "../../model/url_state";

const PAUSE_MS = 180;

const numberOf = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,9}(?:\.\d)?$/.test(text) ? Number(text) : null;

/** The part that the URL asks for; null where it does not say, or nothing that makes sense. */
export function askedWindow(url: UrlState): { from: number | null; to: number | null } {
  return { from: numberOf(url["iterations.from"]), to: numberOf(url["iterations.to"]) };
}

export interface Zoom {
  /** As drawn now. */
  window: Window;
  /** As the URL has it: what data is asked for. */
  settled: Window;
  show: (window: Window) => void;
}

export function useZoom(whole: Window): Zoom {
  const { from, to } = askedWindow(useUrl());
  const settled = from === null || to === null ? whole : clamped({ from, to }, whole, 1);
  const [moving, setMoving] = useState<Window | null>(null);
  useEffect(() => forgetPending, []);
  const show = (window: Window): void => {
    setMoving(window);
    writeSoon(() => {
      const all = window.from <= whole.from && window.to >= whole.to;
      const round = (value: number): string => String(Math.round(value * 10) / 10);
      navigate({ "iterations.from": all ? null : round(window.from), "iterations.to": all ? null : round(window.to) });
      setMoving(null);
    }, PAUSE_MS);
  };
  return { window: moving ?? settled, settled, show };
}
