/** The allocator at the end of a snapshot: one strip a segment, what is in use filled, and what is free between left white. */
import { useEffect, useRef } from "preact/hooks";

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
import { categoryColour } from "../../model/memory_categories";
import { BlockPane } from "./block_pane";

const MOST_HEIGHT = 420;
const GAP = 8;
const USED = "active_allocated";
const FREE = "inactive";

export function Segments({ id }: { id: string }) {
  const scope = useScope();
  const query = useQuery<MemorySegments>(scopeKey(scope, "memory_segments", id), (signal) =>
    fetchMemorySegments(scope, Number(id), signal),
  );
  const segments = query.data?.segments ?? [];
  if (segments.length === 0) return null;
  return (
    <Panel
      title="Allocator's Segments at the End"
      about="What PyTorch has taken from the GPU: one strip a segment, the largest first. Coloured by what a block holds; paler: freed, but a stream still uses it; empty: cached, not in use. Click a block, or move by arrow keys, to see it and its neighbours."
      picture
    >
      <Strips id={id} segments={segments} categories={query.data?.categories ?? []} />
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

function Strips({ id, segments, categories }: StripsProps) {
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
  // Hundreds of segments stand in columns.
  const pitch = Math.max(3, Math.min(10, Math.floor(MOST_HEIGHT / segments.length)));
  const perColumn = Math.floor(MOST_HEIGHT / pitch);
  const columns = Math.ceil(segments.length / perColumn);
  const height = pitch * Math.min(segments.length, perColumn);
  const most = Math.max(...segments.map(({ total_bytes: total }) => total), 1);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d") ?? null;
    if (element === null || context === null) return;
    const style = getComputedStyle(element);
    const colours = categories.map((name) => resolved(element, categoryColour(name)));
    const edge = style.getPropertyValue("--line");
    const scale = window.devicePixelRatio;
    element.width = Math.round(width * scale);
    element.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const thick = Math.max(pitch - 2, 2);
    const across = width / columns - (columns > 1 ? GAP : 0);
    segments.forEach(({ total_bytes: total, blocks }, number) => {
      const left = Math.floor(number / perColumn) * (across + GAP);
      const top = (number % perColumn) * pitch;
      let at = 0;
      context.globalAlpha = 1;
      context.fillStyle = edge;
      context.fillRect(left, top, Math.max((total / most) * across, 1), thick);
      for (const [size, state, category] of blocks) {
        if (state !== FREE) {
          context.fillStyle = colours[category] ?? edge;
          context.globalAlpha = state === USED ? 1 : 0.5;
          context.fillRect(left + (at / most) * across, top, Math.max((size / most) * across, 0.5), thick);
        }
        at += size;
      }
    });
    const selected = segments[row];
    if (selected === undefined || block === undefined) return;
    const before = selected.blocks.slice(0, block).reduce((sum, [size]) => sum + size, 0);
    context.globalAlpha = 1;
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    context.strokeRect(
      Math.floor(row / perColumn) * (across + GAP) + (before / most) * across,
      (row % perColumn) * pitch,
      Math.max(((selected.blocks[block]?.[0] ?? 0) / most) * across, 2),
      thick,
    );
  }, [segments, width, height, pitch, perColumn, columns, most, categories, row, block]);
  const shown = categories.filter((_, number) =>
    segments.some(({ blocks }) => blocks.some((each) => each[2] === number)),
  );
  const across = width / columns - (columns > 1 ? GAP : 0);
  const onClick = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / (across + GAP));
    const number = column * perColumn + Math.floor((event.clientY - box.top) / pitch);
    let left = ((event.clientX - box.left - column * (across + GAP)) / across) * most;
    const place = segments[number]?.blocks.findIndex(([size]) => (left -= size) < 0) ?? -1;
    if (place >= 0) open(number, place);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    if (row < 0 || block === undefined) open(0, 0);
    else open(row + move[0], move[0] === 0 ? block + move[1] : 0);
  };
  const label = `${exactNumber(segments.length)} segments, the largest of ${formatBytes(most)}. Arrow keys open one block after the other.`;
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
            <span class="swatch" style={{ background: categoryColour(category) }} /> {category}
          </span>
        ))}
      </p>
      {row >= 0 && segment !== undefined && block !== undefined && (
        <BlockPane id={id} of={[segment, block]} onClose={() => navigateStep({ "memory.block": null })} />
      )}
    </div>
  );
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
          {key}: {exactNumber(count)} {count === 1 ? "segment" : "segments"} of {formatBytes(total)},{" "}
          {formatShare(used > total ? null : shareOf(used, total))} in use
        </li>
      ))}
    </ul>
  );
}
