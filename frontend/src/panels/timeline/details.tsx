/** What is selected: a gap with its causes and what ended it, or an item with its call and op. */
import type { ComponentChildren } from "preact";

import { exactDuration, formatDuration, formatTimestamp } from "../../format/time";
import { formatBytes } from "../../format/bytes";
import { formatCount } from "../../format/number";
import { partKinds } from "../../model/parts";
import { showingOp } from "../../model/url_state";
import type { TimelineGap, TimelineItem } from "../../api/types";
import { shortName } from "../../components/timeline/drawing";
import { ViewLink } from "../../components/view_link";

interface GapDetailsProps {
  gap: TimelineGap;
  unit: string;
  onNext: () => void;
  onItem: (id: number) => void;
  /** The call that the host was in at a moment. */
  onCall: (name: string, at: number) => void;
}

const MICROSECOND = 1e3;

/** As the tables below and the axis have it. */
const clock = (time: number): string => formatTimestamp(time, MICROSECOND);

/** The cause of a gap in a sentence. */
function causeSentence(gap: TimelineGap): string {
  const main = [...gap.parts].sort((a, b) => b.duration - a.duration)[0];
  const inside = [main?.call, main?.path].filter(Boolean).join(" in ");
  const host = inside === "" ? "" : ` The host is in ${inside}.`;
  switch (gap.cause) {
    case "data_loader":
      return `The program waits for the next batch; nothing is queued.${host}`;
    case "blocked":
      return `A call keeps the host waiting; nothing is queued.${host}`;
    case "launching":
      return `Launches come too late: the GPU has nothing to do.${host}`;
    case "host_op":
      return `The host is busy with an op; nothing is queued.${host}`;
    case "host_code":
      return `The host is busy with other code; nothing is queued.${host}`;
    case "io":
      return `The host reads or writes; nothing is queued.${host}`;
    case "queued":
      return main?.detail === "unexplained"
        ? "Work was launched and did not begin: it waits for something that was not recorded."
        : main?.detail === "graph"
          ? "A CUDA graph was launched, whose nodes are not recorded."
          : main?.detail === "dependency"
            ? "Work was launched and waits for work of another stream or GPU."
            : "Work was launched and begins after the GPU's own latency.";
    case "unrecorded":
      return "Nothing was queued, and nothing was recorded on the host.";
    default:
      return "No launch is recorded for the work that ends this gap.";
  }
}

export function GapDetails({ gap, unit, onNext, onItem, onCall }: GapDetailsProps) {
  const kinds = new Map(partKinds(unit).map((kind) => [kind.key as string, kind]));
  const cause = kinds.get(gap.cause);
  const ended = gap.ended_by;
  const blocking = gap.parts
    .filter(({ part, call }) => part === "blocked" && call !== undefined)
    .sort((a, b) => b.duration - a.duration)[0];
  const sums = new Map<string, number>();
  for (const part of gap.parts) sums.set(part.part ?? "", (sums.get(part.part ?? "") ?? 0) + part.duration);
  return (
    <div class="timeline-details">
      <p>
        <strong data-tip={exactDuration(gap.duration)}>Gap of {formatDuration(gap.duration)}</strong>{" "}
        <span class="muted">at {clock(gap.start)}</span>
      </p>
      <p>
        <span class="swatch" style={{ background: cause?.colour }} /> <strong>{cause?.label ?? gap.cause}</strong>:{" "}
        {causeSentence(gap)}
      </p>
      <dl>
        <dt>parts</dt>
        <dd>
          {[...sums].map(([part, ns]) => (
            <div key={part} data-tip={exactDuration(ns)}>
              {kinds.get(part)?.label ?? part} {formatDuration(ns)}
            </div>
          ))}
        </dd>
        {blocking !== undefined && (
          <>
            <dt>blocked in</dt>
            <dd>
              <ItemButton onClick={() => onCall(blocking.call ?? "", blocking.start)}>{blocking.call}</ItemButton>,{" "}
              {formatDuration(blocking.duration)}
            </dd>
          </>
        )}
        {ended !== null && (
          <>
            <dt>ended by</dt>
            <dd>
              <ItemButton onClick={() => onItem(ended.id)}>{shortName(ended.name)}</ItemButton>
              <div class="muted">
                {[
                  typeof ended.facts.bytes === "number" ? formatBytes(ended.facts.bytes) : "",
                  ended.stream === undefined ? "" : `stream ${ended.stream}`,
                ]
                  .filter(Boolean)
                  .join(", ")}
              </div>
            </dd>
            {ended.call && (
              <>
                <dt>its call</dt>
                <dd>
                  <ItemButton onClick={() => onItem(ended.call?.id ?? 0)}>{ended.call.name}</ItemButton>,{" "}
                  {formatDuration(ended.call.duration)}
                  <div class="muted">
                    {ended.call.start >= gap.start
                      ? `began ${formatDuration(ended.call.start - gap.start)} after the gap`
                      : `began ${formatDuration(gap.start - ended.call.start)} before the gap`}
                  </div>
                </dd>
              </>
            )}
            <OpOf item={ended} />
          </>
        )}
      </dl>
      <p class="timeline-bar">
        <button type="button" class="button" onClick={onNext}>
          Next gap (N)
        </button>
        <ViewLink to={{ view: "recommendations" }}>Recommendations</ViewLink>
      </p>
    </div>
  );
}

/** Selects an item of the timeline. */
function ItemButton({ onClick, children }: { onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="link-button" onClick={onClick}>
      {children}
    </button>
  );
}

/** The op that launched something, as a link to it. */
function OpOf({ item }: { item: TimelineItem }) {
  const { op, op_id: id } = item.facts;
  const name = typeof op === "string" ? op : (item.op?.name ?? "");
  if (name === "") return null;
  return (
    <>
      <dt>op</dt>
      <dd>{typeof id === "string" ? <ViewLink to={showingOp("ops", id)}>{name}</ViewLink> : name}</dd>
    </>
  );
}

const triple = (value: unknown): string => (Array.isArray(value) ? value.join(" × ") : "");

interface ItemDetailsProps {
  item: TimelineItem;
  onItem: (id: number) => void;
}

export function ItemDetails({ item, onItem }: ItemDetailsProps) {
  const { facts, call } = item;
  const grid = triple(facts.grid);
  return (
    <div class="timeline-details">
      <p>
        <strong>{shortName(item.name) || item.kind}</strong>{" "}
        <span class="muted">{item.class.replaceAll("_", " ")}</span>
      </p>
      <dl>
        <dt>takes</dt>
        <dd data-tip={exactDuration(item.duration)}>
          {formatDuration(item.duration)} <span class="muted">at {clock(item.start)}</span>
        </dd>
        {item.stream !== undefined && (
          <>
            <dt>stream</dt>
            <dd>
              {item.stream} of GPU {item.device ?? 0}
            </dd>
          </>
        )}
        {call && (
          <>
            <dt>its call</dt>
            <dd>
              <ItemButton onClick={() => onItem(call.id)}>{call.name}</ItemButton>, {formatDuration(call.duration)}
              <div class="muted">
                {item.starts_before_call === true
                  ? "The work begins before its call: the clocks of host and GPU differ."
                  : `waits ${formatDuration(item.delay_ns ?? 0)} after it`}
              </div>
              {item.duration < call.duration && <div class="muted">The work is shorter than its launch.</div>}
            </dd>
          </>
        )}
        {call === null && item.kind === "stream" && (
          <>
            <dt>its call</dt>
            <dd class="muted">not recorded</dd>
          </>
        )}
        <OpOf item={item} />
        {item.works !== undefined && item.works.length > 0 && (
          <>
            <dt>launches</dt>
            <dd>
              {item.works.map((work) => (
                <div key={work.id}>
                  <ItemButton onClick={() => onItem(work.id)}>{shortName(work.name)}</ItemButton>{" "}
                  {formatDuration(work.duration)}
                </div>
              ))}
            </dd>
          </>
        )}
        {grid !== "" && (
          <>
            <dt>grid, block</dt>
            <dd>
              {grid}, {triple(facts.block)}
            </dd>
          </>
        )}
        {typeof facts.bytes === "number" && (
          <>
            <dt>size</dt>
            <dd>{formatBytes(facts.bytes)}</dd>
          </>
        )}
        {item.kind === "op" && (
          <>
            <dt>path</dt>
            <dd>{item.name}</dd>
          </>
        )}
        {item.thread !== undefined && (
          <>
            <dt>thread</dt>
            <dd>{formatCount(item.thread).replaceAll(",", "")}</dd>
          </>
        )}
      </dl>
    </div>
  );
}
