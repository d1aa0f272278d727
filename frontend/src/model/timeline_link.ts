/** A window of the timeline, and what is selected in it, in the URL. Apart from how it is drawn, since most pages link to it. */
import type { Changes, UrlState } from "./url_state";

export interface View {
  from: number;
  to: number;
}

/** What is selected: an item by its number, or the gap of a GPU around a moment. */
export type Selected = { item: number } | { device: number; at: number };

/** The window, and what is selected in it, as the URL says. */
export function readTimeline(url: UrlState): { view: View | null; selected: Selected | null } {
  const [from, to] = [Number(url["timeline.from"]), Number(url["timeline.to"])];
  const view = Number.isFinite(from) && Number.isFinite(to) && to > from ? { from, to } : null;
  const gap = /^(\d+):(-?\d+)$/.exec(url["timeline.gap"] ?? "");
  const item = /^\d+$/.exec(url["timeline.item"] ?? "");
  const selected =
    item !== null ? { item: Number(item[0]) } : gap !== null ? { device: Number(gap[1]), at: Number(gap[2]) } : null;
  return { view, selected };
}

/** What selecting changes of the URL. */
export const selecting = (selected: Selected | null): Changes => ({
  "timeline.item": selected !== null && "item" in selected ? String(selected.item) : null,
  "timeline.gap": selected !== null && "at" in selected ? `${selected.device}:${Math.round(selected.at)}` : null,
});

export interface TimelineTarget {
  /** The window, in ns since the start of the capture. */
  from: number;
  to: number;
  /** What to select: an item's number, or a moment in a gap of a GPU. */
  item?: number;
  gap?: { device: number; at: number };
}

/** A link to a window of the timeline, with what is meant selected; for `ViewLink` and `navigate`. */
export const timelineLink = ({ from, to, item, gap }: TimelineTarget): Changes => ({
  view: "timeline",
  "timeline.from": String(Math.round(from)),
  "timeline.to": String(Math.round(Math.max(to, from + 1))),
  ...selecting(item !== undefined ? { item } : (gap ?? null)),
});

/** A stretch of time with room on both sides. */
export function roomAround(from: number, to: number): View {
  const room = Math.max((to - from) * 0.5, 1000);
  return { from: Math.max(from - room, 0), to: to + room };
}

/** A link to a stretch of time with room on both sides, and what the GPU did in it selected: a gap, or its work. */
export const evidenceLink = (from: number, to: number, device: number | null): Changes => ({
  ...timelineLink({
    ...roomAround(from, to),
    ...(device === null ? {} : { gap: { device, at: Math.round((from + to) / 2) } }),
  }),
  "timeline.gpu": device === null ? null : String(device),
});
