/** A block of the allocator, with those beside it in its segment. */
import { fetchMemoryBlock } from "../../api/client";
import type { SegmentBlocks } from "../../api/types";
import { DetailsPane } from "../../components/details_pane";
import { ErrorBox, Loading } from "../../components/message";
import { Duration } from "../../components/value";
import { formatBytes } from "../../format/bytes";
import { exactNumber } from "../../format/number";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { categoryColour, categoryName } from "../../model/memory_categories";

interface BlockPaneProps {
  id: string;
  /** How many events were recorded. */
  events: number;
  /** Number of the segment, and place in it. */
  of: readonly [number, number];
  onClose: () => void;
}

export function BlockPane({ id, events, of: [segment, block], onClose }: BlockPaneProps) {
  const scope = useScope();
  const query = useQuery<SegmentBlocks>(scopeKey(scope, "memory_block", id, segment, block), (signal) =>
    fetchMemoryBlock(scope, Number(id), segment, block, signal),
  );
  const answer = query.data;
  return (
    <DetailsPane title="Block of a Segment" onClose={onClose} calm>
      {answer === null ? (
        query.error === null ? (
          <Loading what="the block" />
        ) : (
          <ErrorBox error={query.error} retry={query.reload} />
        )
      ) : (
        <>
          <p class="muted">
            By address, in a segment of {formatBytes(answer.total_bytes)} (
            {answer.pool === "" ? "unnamed" : answer.pool} pool, stream {answer.stream}):
          </p>
          <ol class="memory-neighbours">
            {answer.blocks.map((each, number) => (
              <li key={each.offset_bytes} aria-current={number === answer.place}>
                <strong data-tip={`${exactNumber(each.size_bytes)} bytes`}>{formatBytes(each.size_bytes)}</strong>{" "}
                {each.category === null ? (
                  "free"
                ) : (
                  <>
                    <span class="swatch" style={{ background: categoryColour(each.category) }} />{" "}
                    {categoryName(each.category, events)}
                  </>
                )}
                {each.state === "active_pending_free" && ", freed, but a stream still uses it"}
                {each.allocated_event !== null && (
                  <>
                    , allocated{" "}
                    {each.allocated_ns === null ? (
                      `by event ${exactNumber(each.allocated_event)}`
                    ) : (
                      <>
                        at <Duration ns={each.allocated_ns} />
                      </>
                    )}
                  </>
                )}
                {each.owner !== null && <div>{each.owner}</div>}
                {number === answer.place && each.stack !== null && (
                  <ol class="muted">
                    {each.stack.split(" < ").map((line, place) => (
                      <li key={place}>{line}</li>
                    ))}
                  </ol>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </DetailsPane>
  );
}
