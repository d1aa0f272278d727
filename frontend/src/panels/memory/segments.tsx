/** The allocator's segments at the end of a snapshot, one strip each: what is in use, and what is free between. */
import { fetchMemoryCurve } from "../../api/client";
import type { MemoryCurveResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { formatBytes } from "../../format/bytes";

const SHOWN = 24;

export function Segments({ id }: { id: string }) {
  const scope = useScope();
  const query = useQuery<MemoryCurveResponse>(scopeKey(scope, "memory_segments", id), (signal) =>
    fetchMemoryCurve(scope, Number(id), null, 1, signal),
  );
  const segments = query.data?.segments ?? [];
  if (segments.length === 0) return null;
  const most = Math.max(...segments.map(({ total_bytes: total }) => total), 1);
  return (
    <Panel
      title="Allocator's segments at the end"
      about="What PyTorch has taken from the GPU: one strip a segment, the largest first. Filled: in use; empty: cached, not in use."
      picture
    >
      <ul class="memory-segments">
        {segments.slice(0, SHOWN).map(({ total_bytes: total, pool, blocks }, i) => (
          <li key={i} data-tip={`${formatBytes(total)}, pool ${pool}, ${blocks.length} blocks`}>
            <span class="number muted">{formatBytes(total)}</span>
            <span class="memory-segment" style={{ width: `${Math.max((total / most) * 100, 0.5)}%` }}>
              {blocks.map(([size, state], j) => (
                <span
                  key={j}
                  class={state === "inactive" ? "memory-free" : "memory-used"}
                  style={{ width: `${(size / Math.max(total, 1)) * 100}%` }}
                />
              ))}
            </span>
          </li>
        ))}
      </ul>
      {segments.length > SHOWN && <p class="muted note-below">The {SHOWN} largest segments are shown.</p>}
    </Panel>
  );
}
