/**
 * Draws tracks on a canvas. What is narrower than a pixel comes as a strip of one pixel to a bin, which is drawn stretched at once;
 * rectangles, outlines and labels only for what is wide enough to be seen. The colours are those of the page's style sheet.
 */
import { formatBytes } from "../../format/bytes";
import { formatCount } from "../../format/number";
import { formatTimestamp } from "../../format/time";
import type { Bins, TimelineHits, TimelineOverview, TimelineWindow, TrackData, TrackKind } from "../../api/types";
import { shortKernelName, plainName } from "../../model/kernel_name";
import { contrast } from "../../model/shades";
import { blockLabel, NEAR_NS } from "../../model/gap";
import { binClass, binShare, classColour, lanesOf, topOf, type TrackRow } from "../../model/timeline";
import { type View } from "../../model/timeline_link";
import { drawCurve, drawOverOthers } from "./curve";
import { crosses, endIn, type Line } from "./lines";

export interface Palette {
  background: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  memory: string;
  font: string;
  /** By kind of track, then number of the class. */
  classes: Partial<Record<TrackKind, Colour[]>>;
}

interface Colour {
  css: string;
  rgb: [number, number, number];
  onIt: string;
}

/** A colour as the browser understands it, in parts. */
function parsed(css: string, probe: CanvasRenderingContext2D): Colour {
  probe.fillStyle = "#888";
  probe.fillStyle = css;
  probe.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = probe.getImageData(0, 0, 1, 1).data;
  const hex = `#${[red, green, blue].map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
  const onIt = contrast(hex, "#111111") > contrast(hex, "#ffffff") ? "#111" : "#fff";
  return { css, rgb: [red, green, blue], onIt };
}

/** The colours as they are now; asked for again when the theme changes. */
export function paletteOf(overview: TimelineOverview, parts: ReadonlyMap<string, string>, root: Element): Palette {
  const style = getComputedStyle(root);
  const resolve = (css: string): string =>
    css.replace(/var\((--[\w-]+)\)/, (_, name: string) => style.getPropertyValue(name).trim());
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const classes = {} as Palette["classes"];
  for (const [kind, names] of Object.entries(overview.classes) as [TrackKind, string[]][])
    classes[kind] = names.map((name) => {
      const css = resolve(classColour(kind, name, parts)) || "#888";
      return probe === null ? { css, rgb: [128, 128, 128], onIt: "#fff" } : parsed(css, probe);
    });
  const plain = (name: string): string => style.getPropertyValue(name).trim() || "#888";
  return {
    background: plain("--panel"),
    text: plain("--text"),
    muted: plain("--muted"),
    line: plain("--line"),
    accent: plain("--accent"),
    memory: plain("--timeline-memory"),
    font: style.fontFamily,
    classes,
  };
}

/** The strips of an answer, made once for each palette. */
export class Strips {
  private readonly made = new WeakMap<Bins, { palette: Palette; image: HTMLCanvasElement }>();

  /** A picture of one pixel to a bin and one high. */
  of(bins: Bins, kind: TrackKind, palette: Palette): HTMLCanvasElement {
    const known = this.made.get(bins);
    if (known?.palette === palette) return known.image;
    const image = document.createElement("canvas");
    image.width = Math.max(bins.class.length, 1);
    image.height = 1;
    const context = image.getContext("2d");
    if (context !== null) {
      const data = context.createImageData(image.width, 1);
      const pixels = new Uint32Array(data.data.buffer);
      const colours = palette.classes[kind] ?? [];
      for (let at = 0; at < bins.class.length; at += 1) {
        const number = binClass(bins, at);
        const colour = colours[number];
        if (number < 0 || colour === undefined) continue;
        const [red, green, blue] = colour.rgb;
        const alpha = Math.round(255 * Math.max(binShare(bins, at), 0.12));
        pixels[at] = ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
      }
      context.putImageData(data, 0, 0);
    }
    this.made.set(bins, { palette, image });
    return image;
  }
}

/** Pixels between the marks of an axis: as a rule, and at least where there would be fewer than three of them. */
const STEP_PIXELS = 110;
const LEAST_STEP_PIXELS = 56;

/** The steps of an axis: round, and so many pixels apart that labels have room, but at least three of them in the window. */
export function axisStep(span: number, width: number): number {
  const ns = span / Math.max(width, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(ns * STEP_PIXELS, 1)));
  const round = [0.1, 0.2, 0.5, 1, 2, 5, 10].map((factor) => Math.max(factor * power, 1));
  const usual = round.find((step) => step >= ns * STEP_PIXELS) ?? 10 * power;
  if (3 * usual <= span) return usual;
  return [...round].reverse().find((step) => 3 * step <= span && step >= ns * LEAST_STEP_PIXELS) ?? usual;
}

export interface Scene {
  view: View;
  answer: TimelineWindow | null;
  rows: readonly TrackRow[];
  palette: Palette;
  width: number;
  /** Vertical lines of the selection, and its extent. */
  marked: readonly View[];
  lines: readonly Line[];
  dragged: View | null;
  /** Where what is searched for was found: all else of these tracks is pale. */
  hits: TimelineHits | null;
  /** The words for idle time, by class. */
  causes: readonly string[];
  /** Whether a gap is as long as the window shows of it, as tables below the window count. */
  cut: boolean;
  /** The most launches that wait on a GPU at once in exactly this window; null where that is not known. */
  queue: { device: number; most: number } | null;
  /** GPUs whose queued time is mostly work that is missing from the recording: it is hatched, as on the Dashboard. */
  lacking: ReadonlySet<number>;
  /** The class of queued time. */
  queued: number;
}

export const AXIS_HEIGHT = 18;
const LABEL_PIXELS = 28;
const FEWEST_LETTERS = 4;
const VEIL = 0.75;

/** Draws all of it; `context` is scaled to CSS pixels. */
export function draw(context: CanvasRenderingContext2D, scene: Scene, strips: Strips): void {
  const { view, answer, rows, palette, width } = scene;
  const height = AXIS_HEIGHT + topOf(rows, rows.length);
  const scale = width / (view.to - view.from);
  const at = (time: number): number => (time - view.from) * scale;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.imageSmoothingEnabled = false;
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  const step = axisStep(view.to - view.from, width);
  const first = Math.ceil(view.from / step) * step;
  for (let time = first; time <= view.to; time += step) {
    const x = Math.round(at(time)) + 0.5;
    context.fillStyle = palette.line;
    context.fillRect(x - 0.5, AXIS_HEIGHT, 1, height);
    context.fillStyle = palette.muted;
    const text = formatTimestamp(time, step, view.to);
    const place = Math.min(
      Math.max(x - context.measureText(text).width / 2, 0),
      width - context.measureText(text).width,
    );
    context.fillText(text, place, AXIS_HEIGHT / 2);
  }
  const data = new Map(answer?.tracks.map((track) => [track.id, track]));
  const found = new Map(scene.hits?.tracks.map((track) => [track.id, track]));
  let top = AXIS_HEIGHT;
  for (const row of rows) {
    const track = data.get(row.track);
    if (answer !== null && track !== undefined) drawRow(context, row, track, answer, top, at, scale, scene, strips);
    const hits = found.get(row.track);
    if (hits !== undefined && scene.hits !== null) drawVeil(context, hits, scene.hits.from, top, row.height, at, scene);
    top += row.height;
  }
  drawLines(context, scene, at);
  if (scene.dragged !== null) {
    // What is outside is dimmed: a colour over what is chosen would change the colours in it.
    const [left, right] = [at(scene.dragged.from), at(scene.dragged.to)];
    context.fillStyle = palette.background;
    context.globalAlpha = 0.6;
    context.fillRect(0, AXIS_HEIGHT, left, height);
    context.fillRect(right, AXIS_HEIGHT, width - right, height);
    context.globalAlpha = 1;
    context.fillStyle = palette.accent;
    for (const x of [left, right]) context.fillRect(x - 1, AXIS_HEIGHT, 2, height);
  }
  context.setLineDash([4, 3]);
  context.strokeStyle = palette.text;
  context.lineWidth = 1;
  for (const mark of scene.marked)
    for (const time of [mark.from, mark.to]) {
      const x = Math.round(at(time)) + 0.5;
      if (x < 0 || x > width) continue;
      context.beginPath();
      context.moveTo(x, AXIS_HEIGHT);
      context.lineTo(x, height);
      context.stroke();
    }
  context.setLineDash([]);
}

/** The curves from what is selected to what launched it. */
function drawLines(
  context: CanvasRenderingContext2D,
  { lines, rows, view, palette, width }: Scene,
  at: (time: number) => number,
): void {
  const topAt = (row: number): number => AXIS_HEIGHT + topOf(rows, row);
  context.strokeStyle = palette.text;
  context.lineWidth = 1.5;
  for (const line of lines) {
    if (!crosses(line, view)) continue;
    const [from, to] = [endIn(line[0], view), endIn(line[1], view)];
    const [x1, x2] = [at(from.at), at(to.at)];
    const y1 = topAt(line[0].row + 1) - 2;
    const y2 = topAt(line[1].row) + 2;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
    context.stroke();
    for (const [x, row, { beyond }] of [[x1, line[0].row, from] as const, [x2, line[1].row, to] as const]) {
      if (beyond === "") continue;
      const left = Math.min(Math.max(x + 4, 0), width - context.measureText(beyond).width - 4);
      drawOverOthers(context, beyond, left, (topAt(row) + topAt(row + 1)) / 2, palette.text, palette);
    }
  }
}

/** Makes pale what is between the hits of a track. */
function drawVeil(
  context: CanvasRenderingContext2D,
  { start, duration }: TimelineHits["tracks"][number],
  origin: number,
  top: number,
  height: number,
  at: (time: number) => number,
  { palette, width }: Scene,
): void {
  context.fillStyle = palette.background;
  context.globalAlpha = VEIL;
  let free = 0;
  start.forEach((begin, number) => {
    const x = at(origin + begin);
    if (x > free) context.fillRect(free, top, x - free, height);
    free = Math.max(free, at(origin + begin + (duration[number] ?? 0)), x + 1);
  });
  if (free < width) context.fillRect(free, top, width - free, height);
  context.globalAlpha = 1;
}

function drawRow(
  context: CanvasRenderingContext2D,
  row: TrackRow,
  track: TrackData,
  answer: TimelineWindow,
  top: number,
  at: (time: number) => number,
  scale: number,
  { view, palette, width, causes, marked, cut, queue, lacking, queued }: Scene,
  strips: Strips,
): void {
  const kind: TrackKind = row.kind === "idle" || row.kind === "more" || row.kind === "group" ? "device" : row.kind;
  const y = top + 2;
  const high = row.height - 4;
  const begin = at(answer.from + (track.bins_from ?? 0));
  const end = at(answer.from + (track.bins_to ?? 0));
  if (track.depth !== undefined) {
    const colour = palette.classes.call?.[0]?.css ?? palette.muted;
    // The bins hold means, of which the highest is less than the longest queue.
    const peak = queue?.device === row.device ? `peak ${formatCount(queue?.most)}` : "";
    drawCurve(context, track.depth, { begin, end, y, high, colour, palette, width }, () => peak);
    return;
  }
  if (track.in_use_bytes !== undefined) {
    const curve = { begin, end, y, high, colour: palette.memory, palette, width };
    drawCurve(context, track.in_use_bytes, curve, (most) => `peak ${formatBytes(most)}`);
    return;
  }
  const bins = row.kind === "idle" ? track.idle_bins : track.bins;
  if (bins !== undefined && bins.class.length > 0)
    context.drawImage(strips.of(bins, kind, palette), begin, y, end - begin, high);
  const hatched = row.kind === "idle" && lacking.has(row.device ?? -1) ? queued : -1;
  if (bins !== undefined && hatched >= 0) hatchBins(context, bins, hatched, { x: begin, y, wide: end - begin, high });
  const { items } = track;
  if (items === undefined) return;
  const { lane, lanes } = kind === "stream" && bins === undefined ? lanesOf(items) : { lane: null, lanes: 1 };
  const thick = high / lanes;
  const colours = palette.classes[kind] ?? [];
  let drawn = -1;
  for (let number = 0; number < items.start.length; number += 1) {
    const start = answer.from + (items.start[number] ?? 0);
    const left = at(start);
    const right = left + (items.duration[number] ?? 0) * scale;
    if (right < 0 || left > width || (lanes === 1 && right < drawn)) continue;
    const colour = colours[items.class[number] ?? 0];
    if (colour === undefined) continue;
    const x = Math.max(left, -2);
    const wide = Math.max(Math.min(right, width + 2) - x, 1);
    const above = y + (lane === null ? 0 : (lane[number] ?? 0) * thick);
    context.fillStyle = colour.css;
    // A hair between neighbours, so that two are not seen as one.
    context.fillRect(x, above, wide > 3 ? wide - 0.75 : wide, thick - (lanes > 1 ? 1 : 0));
    if ((items.class[number] ?? 0) === hatched) hatch(context, x, above, wide, thick);
    drawn = x + 0.5;
    if (wide < LABEL_PIXELS || thick < 11) continue;
    let place = { from: x, to: right };
    let label = (room: number): string =>
      fitted(context, itemName(track.names?.[items.name?.[number] ?? -1] ?? "", kind), room);
    if (kind === "device") {
      const block = { from: start, to: start + (items.duration[number] ?? 0) };
      const cause = causes[items.class[number] ?? 0] ?? "";
      const { on, texts } = blockLabel(block, cause, { view, known: answer, marked, cut });
      place = { from: at(on.from), to: at(on.to) };
      label = (room) => firstFitting(context, texts, room);
    }
    const from = Math.max(place.from, 0) + 3;
    const free = coveredFrom(number, from, at, answer.from, scale, items, lane);
    const text = label(Math.min(place.to, width, free) - from - 3);
    context.fillStyle = colour.onIt;
    if (text !== "") context.fillText(text, from, above + thick / 2 + 0.5);
  }
  if (row.kind === "idle" || row.kind === "stream")
    for (const mark of marked) {
      if (!isMarked(mark, items, answer.from, row.kind === "idle")) continue;
      context.strokeStyle = palette.text;
      context.lineWidth = 1.5;
      context.strokeRect(at(mark.from), y - 1, Math.max((mark.to - mark.from) * scale, 1), high + 2);
    }
}

/** Stripes over the bins that are mostly of this class. */
export function hatchBins(
  context: CanvasRenderingContext2D,
  bins: Bins,
  hatched: number,
  { x, y, wide, high }: { x: number; y: number; wide: number; high: number },
): void {
  const each = wide / Math.max(bins.class.length, 1);
  for (let bin = 0; bin < bins.class.length; bin += 1)
    if (binClass(bins, bin) === hatched && binShare(bins, bin) > 0.5) hatch(context, x + bin * each, y, each, high);
}

/** Stripes over what is not known to be idle. */
function hatch(context: CanvasRenderingContext2D, x: number, y: number, wide: number, high: number): void {
  context.save();
  context.beginPath();
  context.rect(x, y, wide, high);
  context.clip();
  context.strokeStyle = "rgb(255 255 255 / 45%)";
  context.lineWidth = 2;
  context.beginPath();
  for (let foot = Math.floor((x - high) / 7) * 7; foot < x + wide; foot += 7) {
    context.moveTo(foot, y + high);
    context.lineTo(foot + high, y);
  }
  context.stroke();
  context.restore();
}

/**
 * Where, right of `from`, a later item of the lane lies on an item, which would cut its name into pieces: Infinity where none does.
 * Items come by their start, so that all after one that begins behind the item leave it alone.
 */
function coveredFrom(
  number: number,
  from: number,
  at: (time: number) => number,
  origin: number,
  scale: number,
  { start, duration }: NonNullable<TrackData["items"]>,
  lane: Uint8Array | null,
): number {
  const stop = (start[number] ?? 0) + (duration[number] ?? 0);
  for (let next = number + 1; next < start.length; next += 1) {
    const begin = start[next] ?? 0;
    if (begin >= stop) break;
    const left = at(origin + begin);
    if (lane?.[next] === lane?.[number] && left + Math.max((duration[next] ?? 0) * scale, 1) > from) return left;
  }
  return Infinity;
}

/** Whether a row shows what is marked: one of its items, or a gap, which may have several causes. */
function isMarked(mark: View, items: NonNullable<TrackData["items"]>, origin: number, idle: boolean): boolean {
  let covered = 0;
  return items.start.some((start, at) => {
    const from = origin + start;
    const to = from + (items.duration[at] ?? 0);
    covered += Math.max(Math.min(to, mark.to) - Math.max(from, mark.from), 0);
    return idle
      ? 2 * covered > mark.to - mark.from
      : Math.abs(from - mark.from) <= NEAR_NS && Math.abs(to - mark.to) <= NEAR_NS;
  });
}

/** What tells layers of one kind apart: `Qwen2DecoderLayer_12`. */
const INDEX = /(?:_(\d{1,4})|\[(\d{1,4})\])$/;

/** The first of some texts that fits as a whole; empty where none does. */
const firstFitting = (context: CanvasRenderingContext2D, texts: readonly string[], room: number): string =>
  texts.find((text) => context.measureText(text).width <= room) ?? "";

/** What fits of a name: its start, and the index at its end; where only one of them has room, the class, else the index. */
function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 12) return "";
  const [index = "", number, place] = INDEX.exec(text) ?? [];
  const whole = firstFitting(context, [text, text.slice(0, text.length - index.length)], width);
  if (whole !== "") return whole;
  const wide = context.measureText(text).width;
  for (let letters = Math.floor((text.length * width) / wide); letters >= FEWEST_LETTERS + index.length; letters -= 1) {
    const cut = `${text.slice(0, letters - index.length)}…${index}`;
    if (context.measureText(cut).width <= width) return cut;
  }
  return index === "" ? "" : firstFitting(context, [`[${number ?? place ?? ""}]`], width);
}

/** A path's last part; a module without the word that PyTorch puts before it, a call without its version, a range without its decoration. */
export const shortName = (name: string): string =>
  name.startsWith("/") ? name.slice(name.lastIndexOf("/") + 1) : plainName(name.replace(/^nn\.Module: /, ""));

/** What an item is called: a kernel as on the other pages. */
export const itemName = (name: string, kind: string): string =>
  kind === "stream" ? shortKernelName(name) : shortName(name);
