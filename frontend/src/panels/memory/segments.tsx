/** The allocator at the end of a snapshot: all that it has taken as one band, broken into lines; what is free in it is empty. */
import { useEffect, useMemo, useRef } from "preact/hooks";

import { fetchMemorySegments } from "../../api/client";
import type { MemorySegment, MemorySegments } from "../../api/types";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { scopeKey, useScope } from "../../frame/scope";
import { navigateStep, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { formatBytes } from "../../format/bytes";
import { exactNumber, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { categoryColour, categoryName } from "../../model/memory_categories";
import { BlockPane } from "./block_pane";

/** From one line of the band to the next, and its height in it, px. */
const PITCH = 18;
const THICK = 15;
const MOST_LINES = 14;
/** So much of a line a block should have, px. */
const BLOCK_ROOM = 10;
/** Between segments, where they are so wide, px. */
const GAP = 1;
const WIDE = 4;
const STRIPE = 5;
const USED = "active_allocated";
const FREE = "inactive";

export function Segments({ id, events }: { id: string; events: number }) {
  const scope = useScope();
  const query = useQuery<MemorySegments>(scopeKey(scope, "memory_segments", id), (signal) =>
    fetchMemorySegments(scope, Number(id), signal),
  );
  const segments = query.data?.segments ?? [];
  if (segments.length === 0) return null;
  return (
    <Panel
      title="Allocator's Segments at the End"
      about="All that PyTorch has taken from the GPU, one segment after the other, the largest first; equal areas are equal sizes. Coloured by what a block holds; paler: freed, but a stream still uses it. Click a block, or move by arrow keys, to see it and its neighbours."
      picture
    >
      <Strips id={id} events={events} segments={segments} categories={query.data?.categories ?? []} />
      <Sums segments={segments} />
      <LeftOut segments={query.data?.segments_left_out ?? 0} blocks={query.data?.blocks_left_out ?? 0} />
    </Panel>
  );
}

/** What there are too many of to draw. */
function LeftOut({ segments, blocks }: { segments: number; blocks: number }) {
  if (segments + blocks === 0) return null;
  return (
    <p class="muted note-below">
      Not drawn, the smallest: {formatCounted(segments, "segment")}, {formatCounted(blocks, "block")}.
    </p>
  );
}

interface StripsProps {
  id: string;
  /** How many events were recorded. */
  events: number;
  segments: readonly MemorySegment[];
  categories: readonly string[];
}

/** By keys: how many segments and blocks to move. */
const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function Strips({ id, events, segments, categories }: StripsProps) {
  const [segment, block] =
    /^(\d{1,9})\.(\d{1,9})$/
      .exec(useUrl()["memory.block"] ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  const row = segments.findIndex(({ number }) => number === segment);
  const open = (next: number, place: number): void => {
    const of = segments[Math.max(0, Math.min(next, segments.length - 1))];
    if (of === undefined || of.blocks.length === 0) return;
    navigateStep({ "memory.block": `${of.number}.${Math.max(0, Math.min(place, of.blocks.length - 1))}` });
  };
  const [measure, width] = useWidth(1000);
  const canvas = useRef<HTMLCanvasElement>(null);
  const blocksOf = segments.reduce((sum, { blocks }) => sum + blocks.length, 0);
  const lines = Math.max(1, Math.min(Math.ceil((blocksOf * BLOCK_ROOM) / Math.max(width, 1)), MOST_LINES));
  const height = (lines - 1) * PITCH + THICK;
  const whole = Math.max(
    segments.reduce((sum, { total_bytes: total }) => sum + total, 0),
    1,
  );
  /** Where a segment begins in the band. */
  const starts = useMemo(() => {
    let at = 0;
    return segments.map(({ total_bytes: total }) => (at += total) - total);
  }, [segments]);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d") ?? null;
    if (element === null || context === null) return;
    const style = getComputedStyle(element);
    const colours = categories.map((name) => resolved(element, categoryColour(name)));
    const free = striped(context, style.getPropertyValue("--line-strong"));
    const scale = window.devicePixelRatio;
    element.width = Math.round(width * scale);
    element.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const px = (bytes: number): number => (bytes / whole) * lines * width;
    /** Each piece of a part of the band that stands on a line of its own. */
    const each = (from: number, to: number, draw: (x: number, y: number, wide: number) => void): void => {
      for (let line = Math.floor(from / width); line < lines && line * width < to; line += 1) {
        const left = Math.max(from - line * width, 0);
        draw(left, line * PITCH, Math.min(to - line * width, width) - left);
      }
    };
    const fill = (from: number, to: number): void =>
      each(from, to, (x, y, wide) => context.fillRect(x, y, wide, THICK));
    segments.forEach(({ total_bytes: total, blocks }, number) => {
      let at = starts[number] ?? 0;
      const end = px(at + total);
      // The end of a segment shows where there is room for it.
      const last = end - (px(total) >= WIDE ? GAP : 0);
      context.globalAlpha = 1;
      context.fillStyle = free;
      fill(px(at), last);
      for (const [size, state, category] of blocks) {
        if (state !== FREE) {
          context.fillStyle = colours[category] ?? free;
          context.globalAlpha = state === USED ? 1 : 0.5;
          fill(px(at), Math.min(Math.max(px(at + size), px(at) + 0.5), Math.max(last, px(at) + 0.5)));
        }
        at += size;
      }
    });
    const selected = segments[row];
    if (selected === undefined || block === undefined) return;
    const before = selected.blocks.slice(0, block).reduce((sum, [size]) => sum + size, starts[row] ?? 0);
    context.globalAlpha = 1;
    context.strokeStyle = style.getPropertyValue("--text");
    context.lineWidth = 2;
    each(px(before), Math.max(px(before + (selected.blocks[block]?.[0] ?? 0)), px(before) + 3), (x, y, wide) =>
      context.strokeRect(x, y + 1, wide, THICK - 2),
    );
  }, [segments, starts, width, height, lines, whole, categories, row, block]);
  const shown = categories.filter((_, number) =>
    segments.some(({ blocks }) => blocks.some((each) => each[2] === number)),
  );
  const hasFree = segments.some(({ blocks }) => blocks.some((each) => each[1] === FREE));
  const onClick = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const line = Math.floor((event.clientY - box.top) / PITCH);
    let at = ((line * width + event.clientX - box.left) / (lines * width)) * whole;
    const number = starts.filter((start) => start <= at).length - 1;
    at -= starts[number] ?? 0;
    const place = segments[number]?.blocks.findIndex(([size]) => (at -= size) < 0) ?? -1;
    if (place >= 0) open(number, place);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    if (row < 0 || block === undefined) open(0, 0);
    else open(row + move[0], move[0] === 0 ? block + move[1] : 0);
  };
  const label = `${exactNumber(segments.length)} segments, the largest of ${formatBytes(segments[0]?.total_bytes ?? 0)}. Arrow keys open one block after the other.`;
  return (
    <div ref={measure}>
      <canvas
        ref={canvas}
        class="memory-strips"
        style={{ width, height }}
        role="img"
        tabIndex={0}
        aria-label={label}
        onClick={onClick}
        onKeyDown={onKeyDown}
      />
      <p class="muted note-below">
        {shown.map((category) => (
          <span key={category} class="memory-key">
            <span class="swatch" style={{ background: categoryColour(category) }} /> {categoryName(category, events)}
          </span>
        ))}
        {hasFree && (
          <span class="memory-key">
            <span class="swatch memory-free" /> cached, not in use
          </span>
        )}
      </p>
      {row >= 0 && segment !== undefined && block !== undefined && (
        <BlockPane
          id={id}
          events={events}
          of={[segment, block]}
          onClose={() => navigateStep({ "memory.block": null })}
        />
      )}
    </div>
  );
}

/** Stripes: what is free has the colour of no category. */
function striped(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const tile = new OffscreenCanvas(STRIPE, STRIPE);
  const pen = tile.getContext("2d");
  if (pen === null) return colour;
  pen.strokeStyle = colour;
  pen.beginPath();
  for (const x of [-STRIPE, 0, STRIPE]) {
    pen.moveTo(x, STRIPE);
    pen.lineTo(x + STRIPE, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat") ?? colour;
}

/** A colour as a canvas takes it, which knows no variables. */
function resolved(element: HTMLElement, colour: string): string {
  element.style.color = colour;
  const value = getComputedStyle(element).color;
  element.style.color = "";
  return value;
}

/** What the segments add up to, by pool and stream. */
function Sums({ segments }: { segments: readonly MemorySegment[] }) {
  const sums = new Map<string, { count: number; total: number; used: number }>();
  for (const { total_bytes: total, pool, stream, blocks } of segments) {
    const key = `${pool === "" ? "unnamed" : pool} pool, ${stream === 0 ? "default stream" : `stream ${stream}`}`;
    const sum = sums.get(key) ?? { count: 0, total: 0, used: 0 };
    sum.count += 1;
    sum.total += total;
    for (const [size, state] of blocks) if (state !== FREE) sum.used += size;
    sums.set(key, sum);
  }
  return (
    <ul class="memory-sums muted">
      {[...sums].map(([key, { count, total, used }]) => (
        <li key={key}>
          {key}: {formatCounted(count, "segment")}, {count === 1 ? "" : "together "}
          {formatBytes(total)}, {formatShare(used > total ? null : shareOf(used, total))} in use
        </li>
      ))}
    </ul>
  );
}
