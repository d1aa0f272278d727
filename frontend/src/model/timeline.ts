/** The timeline: where things are on the screen, and what a key or wheel does to the window. */
import type {
  Bins,
  IterationRow,
  IterationWindow,
  TimelineWindow,
  TrackData,
  TrackInfo,
  TrackItems,
  TrackKind,
} from "../api/types";
import { colourOf } from "./resources";
import type { View } from "./timeline_link";

/** A window of less than this cannot be told from its neighbours. */
const LEAST_NS = 10;

/** The window, not smaller than can be drawn and not outside of the capture. */
export function within(view: View, whole: View): View {
  const length = Math.min(Math.max(view.to - view.from, LEAST_NS), Math.max(whole.to - whole.from, LEAST_NS));
  const from = Math.min(Math.max(view.from, whole.from), Math.max(whole.to - length, whole.from));
  return { from: Math.round(from), to: Math.round(from + length) };
}

/** Zooms by a factor (less than 1: closer) around a place from 0 (left) to 1 (right). */
export function zoomed(view: View, whole: View, factor: number, place: number): View {
  const length = view.to - view.from;
  const next = Math.min(Math.max(length * factor, LEAST_NS), whole.to - whole.from);
  const middle = view.from + length * place;
  return within({ from: middle - next * place, to: middle - next * place + next }, whole);
}

/** The place in the window, from 0 (left) to 1 (right), that zooming holds: the middle of something, if it is in sight. */
export function anchorIn(view: View, of: View | null): number {
  const place = of === null ? 0.5 : ((of.from + of.to) / 2 - view.from) / (view.to - view.from);
  return place >= 0 && place <= 1 ? place : 0.5;
}

/** What is seen of a stretch of time: as the sums and tables of the window count it. */
export const seenOf = (start: number, duration: number, view: View): [number, number] => [
  Math.max(start, view.from),
  Math.min(start + duration, view.to),
];

/** What a picture of a recording begins with: all of it, or its typical part where the rest, a warm-up, would take most of the width. */
export const shownAtFirst = (typical: View, whole: View): View =>
  2 * (typical.to - typical.from) > whole.to - whole.from ? whole : typical;

/**
 * The part of a recording that sentences are about: without marks from the first GPU work on, else the aggregated iterations without a
 * warm-up that would take most of the width.
 */
export function toldOf(
  list: readonly IterationWindow[],
  aggregated: readonly Pick<IterationRow, "iteration" | "stop_iteration">[],
  isMarked: boolean,
  whole: View,
): View {
  const [first, last] = [aggregated[0]?.iteration ?? 0, aggregated.at(-1)?.stop_iteration ?? 0];
  const own = list.filter(({ iteration }) => iteration >= first && iteration <= last);
  const theirs = { from: own[0]?.start ?? whole.from, to: own.at(-1)?.stop ?? whole.to };
  return isMarked ? shownAtFirst(theirs, whole) : theirs;
}

/** Moves by a share of the window. */
export function panned(view: View, whole: View, share: number): View {
  const by = (view.to - view.from) * share;
  return within({ from: view.from + by, to: view.to + by }, whole);
}

/** The window around something, with some room on both sides. */
export function around(start: number, duration: number, whole: View, room = 0.4): View {
  const length = Math.max(duration, LEAST_NS);
  return within({ from: start - length * room, to: start + length * (1 + room) }, whole);
}

/** The neighbour of the iteration that holds the middle of the window. */
export function stepOf(list: readonly IterationWindow[], view: View, by: 1 | -1): IterationWindow | null {
  const middle = (view.from + view.to) / 2;
  const after = list.findIndex(({ start }) => start > middle);
  let at = (after < 0 ? list.length : after) - 1;
  if (at >= 0 && by < 0 && (list[at]?.stop ?? 0) < middle) at += 1;
  return list[at + by] ?? null;
}

/** The iteration that the window is, give or take a hundredth. */
export function iterationIn(list: readonly IterationWindow[], view: View): IterationWindow | null {
  const slack = (view.to - view.from) / 100;
  return (
    list.find(({ start, stop }) => Math.abs(start - view.from) <= slack && Math.abs(stop - view.to) <= slack) ?? null
  );
}

/** The iteration that the window lies in, give or take a hundredth of the window. */
export function iterationAround(list: readonly IterationWindow[], view: View): IterationWindow | null {
  const slack = (view.to - view.from) / 100;
  return list.find(({ start, stop }) => start <= view.from + slack && stop >= view.to - slack) ?? null;
}

export interface TrackRow {
  key: string;
  kind: TrackKind | "idle" | "more" | "group";
  label: string;
  /** 0 for rows without a track. */
  track: number;
  height: number;
  /** Toggles what is folded. */
  fold?: string;
  open?: boolean;
  device?: number;
  /** The id that the system gave it. */
  thread?: number;
  /** Whether it has nothing in the window. */
  empty?: boolean;
}

const HEIGHTS = {
  range: 18,
  op: 18,
  call: 18,
  queue: 40,
  memory: 40,
  idle: 26,
  stream: 24,
  device: 14,
  more: 18,
  group: 14,
} as const;
const MOST_STREAMS = 12;
const MOST_THREADS = 2;
/** Between what a track holds and the name of its thread. */
const THREAD = " · ";

export const threadKey = ({ process, thread }: Pick<TrackInfo, "process" | "thread">): string => `${process}/${thread}`;

/** On Linux the first thread of a process has its number. */
const isMain = ({ process, thread }: TrackInfo): boolean => process === thread;

/** The tracks of each thread: first of the main one, then of what launches most. */
function threadsOf(tracks: readonly TrackInfo[]): [string, TrackInfo[]][] {
  const ofThread = new Map<string, TrackInfo[]>();
  for (const track of tracks)
    if (track.thread !== undefined) {
      const key = threadKey(track);
      ofThread.set(key, [...(ofThread.get(key) ?? []), track]);
    }
  const weight = (own: readonly TrackInfo[]): number =>
    own.reduce((sum, { launches, kind, items }) => sum + launches * 1000 + (kind === "op" ? items / 1e6 : 0), 0);
  const first = (own: readonly TrackInfo[]): number => Number(own.some(isMain));
  return [...ofThread.entries()].sort(([, a], [, b]) => first(b) - first(a) || weight(b) - weight(a));
}

/** What threads are called: by what they run where that is known, those of one name and all others by their place. */
export function threadNames(tracks: readonly TrackInfo[]): ReadonlyMap<string, string> {
  const runs = (own: readonly TrackInfo[]): string =>
    own.some(isMain) ? "main" : own.some(({ backward }) => backward === true) ? "backward" : "thread";
  const threads = threadsOf(tracks).map(([key, own]) => [key, runs(own)] as const);
  const isOne = (name: string): boolean =>
    name !== "thread" && threads.filter(([, each]) => each === name).length === 1;
  return new Map(threads.map(([key, name], place) => [key, isOne(name) ? name : `${name} ${place + 1}`]));
}

/**
 * The rows from top to bottom; `toggled` are the folds that the user opened or closed. Of several GPUs only `main` is open at
 * first, or the first one.
 */
export function rowsOf(
  tracks: readonly TrackInfo[],
  toggled: ReadonlySet<string>,
  main: number | null = null,
): TrackRow[] {
  const rows: TrackRow[] = [];
  const add = (kind: TrackRow["kind"], label: string, track: TrackInfo, device?: number): void => {
    const height = kind === "more" ? HEIGHTS.more : HEIGHTS[kind];
    rows.push({
      key: `${kind}${track.id}`,
      kind,
      label,
      track: track.id,
      height,
      ...(device === undefined ? {} : { device }),
      ...(track.thread === undefined ? {} : { thread: track.thread }),
    });
  };
  const fold = (key: string, label: string, open: boolean): void => {
    rows.push({ key: `fold:${key}`, kind: "more", label, track: 0, height: HEIGHTS.more, fold: key, open });
  };
  const threads = threadsOf(tracks);
  const names = threadNames(tracks);
  const order: TrackKind[] = ["range", "op", "call"];
  threads.forEach(([key, own], place) => {
    if (place === MOST_THREADS) {
      const more = threads.length - MOST_THREADS;
      fold(
        "threads",
        `${toggled.has("threads") ? "−" : "+"} ${more} ${more === 1 ? "thread" : "threads"}`,
        toggled.has("threads"),
      );
    }
    if (place >= MOST_THREADS && !toggled.has("threads")) return;
    const ordered = [...own].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || a.level - b.level);
    for (const track of ordered) {
      const which = threads.length > 1 ? `${THREAD}${names.get(key) ?? ""}` : "";
      const label =
        track.kind === "range" ? (track.level === 0 ? "modules" : "") : track.kind === "op" ? "ops" : "API calls";
      add(track.kind, label === "" ? "" : `${label}${which}`, track);
    }
  });
  const devices = [...new Set(tracks.flatMap(({ device }) => (device === undefined ? [] : [device])))].sort(
    (a, b) => a - b,
  );
  const first = main !== null && devices.includes(main) ? main : devices[0];
  devices.forEach((device) => {
    const own = tracks.filter((track) => track.device === device);
    const name = devices.length > 1 ? `GPU ${device} ` : "";
    const key = `gpu${device}`;
    const open = toggled.has(key) !== (device === first);
    if (devices.length > 1) fold(key, `${open ? "−" : "+"} GPU ${device}`, open);
    const activity = own.find(({ kind }) => kind === "device");
    const queue = own.find(({ kind }) => kind === "queue");
    if (open && queue !== undefined) add("queue", "queue length", queue, device);
    if (activity !== undefined) add("idle", `${name}idle by cause`, activity, device);
    if (!open) return;
    const streams = own.filter(({ kind }) => kind === "stream").sort((a, b) => b.sum_ns - a.sum_ns);
    const more = `streams${device}`;
    streams.forEach((track, at) => {
      if (at === MOST_STREAMS) {
        const rest = streams.length - MOST_STREAMS;
        fold(more, `${toggled.has(more) ? "−" : "+"} ${rest} ${rest === 1 ? "stream" : "streams"}`, toggled.has(more));
      }
      if (at < MOST_STREAMS || toggled.has(more)) add("stream", track.name, track, device);
    });
    const memory = own.find(({ kind }) => kind === "memory");
    if (memory !== undefined) add("memory", memory.name, memory, device);
  });
  return rows;
}

/** So many streams of a GPU that communicate are shown beside those with the most work. */
const MOST_COMMUNICATING = 2;

/**
 * Of the streams of a GPU, busiest first, the `most` with the most work, and those that communicate in what was loaded: what is exposed
 * runs on none of the others. `number` is that of the class of communication.
 */
export function streamsShown(
  streams: readonly TrackRow[],
  most: number,
  loaded: ReadonlyMap<number, TrackData>,
  number: number,
): TrackRow[] {
  const communicates = ({ track }: TrackRow): boolean => {
    const { items, bins } = loaded.get(track) ?? {};
    return (
      items?.class.includes(number) === true || (number >= 0 && bins?.class.includes(LETTERS.charAt(number)) === true)
    );
  };
  const others = streams.slice(most).filter(communicates).slice(0, MOST_COMMUNICATING);
  return [...streams.slice(0, most), ...others];
}

/** Whether a track has anything in what was loaded; before that it may. */
export function mayShow({ track }: TrackRow, view: View, answer: TimelineWindow | null): boolean {
  const data = answer?.tracks.find(({ id }) => id === track);
  if (data === undefined || answer === null) return true;
  const { items, bins, bins_from: from = 0, bins_to: to = 0 } = data;
  const inView = (start: number, stop: number): boolean =>
    answer.from + start < view.to && answer.from + stop > view.from;
  const wide = bins === undefined ? 0 : (to - from) / Math.max(bins.class.length, 1);
  return (
    items?.start.some((start, at) => inView(start, start + (items.duration[at] ?? 0))) === true ||
    bins?.class
      .split("")
      .some((_, at) => binClass(bins, at) >= 0 && inView(from + at * wide, from + (at + 1) * wide)) === true
  );
}

/** Into how many lanes the items of a row were loaded that overlap, as work does whose stream is unknown. */
function lanesIn({ track }: TrackRow, answer: TimelineWindow | null): number {
  const data = answer?.tracks.find(({ id }) => id === track);
  return data?.items === undefined || data.bins !== undefined ? 1 : lanesOf(data.items).lanes;
}

const OF_HOST: ReadonlySet<TrackRow["kind"]> = new Set(["range", "op", "call"]);

/**
 * The rows without the levels of modules that have nothing in the window, with one in place of those of a thread of the host, where none
 * of these has anything, with low ones for streams that have nothing, and with one row's height for each lane of others. Those of `held`
 * stay, and as high: they are under the pointer.
 */
export function foldedRows(
  rows: readonly TrackRow[],
  view: View,
  answer: TimelineWindow | null,
  held: readonly TrackRow[] = [],
): readonly TrackRow[] {
  const ofHost = rows.filter(({ kind }) => OF_HOST.has(kind));
  if (ofHost.length === rows.length) return rows;
  const least = new Map(held.map(({ key, height }) => [key, height]));
  const shown = new Set(ofHost.filter((row) => mayShow(row, view, answer)));
  const busy = new Set(ofHost.flatMap((row) => (shown.has(row) || least.has(row.key) ? [row.thread] : [])));
  const told = new Set<number | undefined>();
  return rows.flatMap((row): TrackRow[] => {
    const { thread, label } = row;
    if (row.kind === "stream") {
      const height = mayShow(row, view, answer) ? HEIGHTS.stream * lanesIn(row, answer) : HEIGHTS.group;
      return [{ ...row, height: Math.max(height, least.get(row.key) ?? 0) }];
    }
    if (!OF_HOST.has(row.kind)) return [row];
    if (busy.has(thread)) {
      if (shown.has(row)) return [row];
      return label !== "" || least.has(row.key) ? [{ ...row, empty: true }] : [];
    }
    if (told.has(thread)) return [];
    told.add(thread);
    const none = label.split(THREAD)[1] ?? "no host work here";
    return [{ key: `none ${thread ?? ""}`, kind: "group", label: none, track: 0, height: HEIGHTS.group, empty: true }];
  });
}

/** Where a row begins, below the first of them. */
export const topOf = (rows: readonly TrackRow[], row: number): number =>
  rows.slice(0, row).reduce((sum, { height }) => sum + height, 0);

/** By how much a row at a height of the tracks lies lower among other rows. */
export function movedBy(before: readonly TrackRow[], after: readonly TrackRow[], y: number): number {
  const at = before.findIndex((row, number) => y < topOf(before, number) + row.height);
  const then = after.findIndex(({ key }) => key === before[at]?.key);
  return at < 0 || then < 0 ? 0 : topOf(after, then) - topOf(before, at);
}

const WORK: Readonly<Record<string, string>> = {
  tensor_core: colourOf("tensor_core"),
  other_kernel: colourOf("other_kernel"),
  unknown_kernel: colourOf("unknown_kernel"),
  graph: colourOf("unknown_kernel"),
  communication: colourOf("communication"),
  copy: colourOf("memory"),
  set: colourOf("memory"),
};

/** None has the colour of a part of wall time: a call that copies may only wait, while the copy itself lasts no time at all. */
const HOST: Readonly<Record<string, string>> = {
  launch: "var(--timeline-call)",
  copy: "var(--timeline-sync)",
  sync: "var(--timeline-sync)",
  allocation: "var(--timeline-other)",
  other: "var(--timeline-other)",
  op: "var(--timeline-op)",
  range: "var(--timeline-range)",
};

/** The colour of a class of a track, as CSS; `parts` are the colours of the GPU's parts. */
export const classColour = (kind: TrackKind, name: string, parts: ReadonlyMap<string, string>): string =>
  (kind === "device" ? parts.get(name) : kind === "stream" ? WORK[name] : HOST[name]) ?? "var(--timeline-other)";

/** What a class of GPU work or of calls is called; `unit` is `Tensor Core` or `Matrix Core`. */
export function classInWords(kind: TrackKind, name: string, unit: string): string {
  const words: Readonly<Record<string, string>> =
    kind === "stream"
      ? {
          tensor_core: `${unit} kernel`,
          other_kernel: "other kernel",
          unknown_kernel: "unknown kernel",
          graph: "CUDA graph",
          set: "memset",
        }
      : { sync: "synchronization", other: "other call" };
  return words[name] ?? name.replaceAll("_", " ");
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const SHARES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CODES = new Uint8Array(128);
for (let at = 0; at < SHARES.length; at += 1) CODES[SHARES.charCodeAt(at)] = at;

/** The class of a bin, -1 where there is nothing. */
export const binClass = (bins: Bins, at: number): number => LETTERS.indexOf(bins.class.charAt(at));

/** How much of a bin is covered, 0 to 1. */
export const binShare = (bins: Bins, at: number): number => (CODES[bins.share.charCodeAt(at)] ?? 0) / 63;

/** The last item that starts at or before a time; -1 where there is none. */
function lastBefore(starts: readonly number[], time: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * The item of a track that is drawn at a time: the last of those that cover it, each at least a pixel wide, which is drawn above the
 * others; else the nearest within `slack`. -1 where there is none; `skipped` are not looked at.
 */
export function itemAt(
  items: TrackItems,
  time: number,
  { pixel, slack, skipped }: { pixel: number; slack: number; skipped?: (item: number) => boolean },
): number {
  let best = -1;
  let near = slack;
  for (let at = lastBefore(items.start, time + slack), seen = 0; at >= 0 && seen < MOST_SEEN; at -= 1, seen += 1) {
    if (skipped?.(at) === true) continue;
    const start = items.start[at] ?? 0;
    const stop = start + Math.max(items.duration[at] ?? 0, pixel);
    if (start <= time && time < stop) return at;
    const away = start > time ? start - time : time - stop;
    if (best < 0 ? away <= near : away < near) [best, near] = [at, away];
  }
  return best;
}

/** Items before a time that may reach to it. */
const MOST_SEEN = 256;

/** Items that overlap are drawn below each other: the lane of each, and how many lanes there are, at most four. */
export function lanesOf(items: TrackItems): { lane: Uint8Array; lanes: number } {
  const lane = new Uint8Array(items.start.length);
  const ends: number[] = [];
  items.start.forEach((start, at) => {
    const free = ends.findIndex((end) => end <= start);
    const own = free >= 0 ? free : Math.min(ends.length, 3);
    lane[at] = own;
    ends[own] = Math.max(ends[own] ?? 0, start + (items.duration[at] ?? 0));
  });
  return { lane, lanes: Math.max(ends.length, 1) };
}
