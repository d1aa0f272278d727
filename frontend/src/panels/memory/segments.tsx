/** The allocator at the end of a snapshot: one strip a segment, what is in use filled, and what is free between left white. */
import { useEffect, useRef } from "preact/hooks";

import { fetchMemorySegments } from "../../api/client";
import type { MemorySegment, MemorySegments } from "../../api/types";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { formatBytes } from "../../format/bytes";
import { exactNumber, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";

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
      title="Allocator's segments at the end"
      about="What PyTorch has taken from the GPU: one strip a segment, the largest first. Filled: in use; paler: freed, but a stream still uses it; empty: cached, not in use."
      picture
    >
      <Strips segments={segments} />
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

function Strips({ segments }: { segments: readonly MemorySegment[] }) {
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
    const used = style.getPropertyValue("--c-memory");
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
      context.fillStyle = used;
      for (const [size, state] of blocks) {
        if (state !== FREE) {
          context.globalAlpha = state === USED ? 1 : 0.5;
          context.fillRect(left + (at / most) * across, top, Math.max((size / most) * across, 0.5), thick);
        }
        at += size;
      }
    });
  }, [segments, width, height, pitch, perColumn, columns, most]);
  const label = `${exactNumber(segments.length)} segments, the largest of ${formatBytes(most)}`;
  return (
    <div ref={measure}>
      <canvas ref={canvas} class="memory-strips" style={{ width, height }} role="img" aria-label={label} />
    </div>
  );
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
          {formatShare(shareOf(used, total))} in use
        </li>
      ))}
    </ul>
  );
}
