/** What is selected: a gap with its causes and what ended it, or an item with its call and op. */
import type { ComponentChildren } from "preact";

import { clock, exactDuration, formatDuration } from "../../format/time";
import { formatBytes } from "../../format/bytes";
import { formatShare } from "../../format/share";
import { formatCount, formatCounted } from "../../format/number";
import { useLacking } from "../../frame/use_diagnosis";
import { partSums, seenGap, seenLength } from "../../model/gap";
import { partKinds } from "../../model/parts";
import { showingOp } from "../../model/url_state";
import { classInWords, threadKey } from "../../model/timeline";
import type { View } from "../../model/timeline_link";
import type { Beside, TimelineGap, TimelineItem } from "../../api/types";
import { Icon } from "../../components/icon";
import { itemName, shortName } from "../../components/timeline/drawing";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";

type Besides = Pick<TimelineItem, "before" | "after">;

interface DetailsProps extends GapProps {
  /** The window, and what it is called: `iteration 5`. */
  view: View;
  window: string;
  onNext: () => void;
  onBeside: (beside: Beside) => void;
  onClear: () => void;
}

interface ItemProps {
  unit: string;
  /** As the tracks name them. */
  threads: ReadonlyMap<string, string>;
  onItem: (id: number) => void;
}

interface ItemFactsProps extends ItemProps, Pick<DetailsProps, "view" | "window"> {
  item: TimelineItem;
}

interface GapProps extends ItemProps {
  /** The call that the host was in at a moment. */
  onCall: (name: string, at: number) => void;
}

/** The cause of a gap in a sentence. */
function causeSentence(gap: TimelineGap): string {
  const own = gap.parts.filter(({ part }) => part === gap.cause);
  const main = own.sort((a, b) => b.duration - a.duration)[0];
  const inside = [shortName(main?.call ?? ""), main?.path].filter(Boolean).join(" in ");
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
        ? "Work was launched and did not begin: work that was not recorded runs, or it waits for such work."
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

/** One component for both: the focus stays on the way from a kernel to the gap beside it. */
export function Details({ of: whole, ...rest }: { of: TimelineGap | TimelineItem } & DetailsProps) {
  const { unit, view, window, onNext, onBeside, onClear } = rest;
  const isGap = "cause" in whole;
  const of = isGap ? seenGap(whole, view) : whole;
  const isCut = isGap && of.duration < whole.duration;
  return (
    <div class="timeline-details">
      <Head
        name={isGap ? `Gap of ${formatDuration(of.duration)}` : itemName(whole.name, whole.kind) || whole.kind}
        said={
          isGap
            ? `at ${clock(of.start)}${isCut ? `, in ${window} (${formatDuration(whole.duration)} in all)` : ""}`
            : classInWords(whole.kind, whole.class, unit)
        }
      >
        <Neighbours of={whole} view={view} onBeside={onBeside} />
        <button type="button" class="button" onClick={onNext}>
          Next gap <kbd aria-hidden="true">N</kbd>
        </button>
        {isGap && <ViewLink to={{ view: "recommendations" }}>Recommendations</ViewLink>}
        <button
          type="button"
          class="icon-button timeline-clear"
          aria-label="Clear the selection"
          data-tip="Clear the selection (Esc)"
          onClick={onClear}
        >
          <Icon name="close" />
        </button>
      </Head>
      {isGap ? <GapFacts gap={of as TimelineGap} {...rest} /> : <ItemFacts item={whole} {...rest} />}
    </div>
  );
}

function GapFacts({ gap, unit, onItem, onCall }: { gap: TimelineGap } & GapProps) {
  const kinds = new Map(partKinds(unit).map((kind) => [kind.key as string, kind]));
  const cause = kinds.get(gap.cause);
  const lacks = useLacking().has(gap.device);
  const ended = gap.ended_by;
  const blocking = gap.parts
    .filter(({ part, call }) => part === "blocked" && call !== undefined)
    .sort((a, b) => b.duration - a.duration)[0];
  return (
    <>
      <p>
        <span
          class={gap.cause === "queued" && lacks ? "swatch striped" : "swatch"}
          style={{ backgroundColor: cause?.colour }}
        />{" "}
        <strong>{cause?.label ?? gap.cause}</strong>: {causeSentence(gap)}
      </p>
      <dl>
        <Fact name="parts">
          {partSums(gap).map(([part, ns]) => (
            <div key={part} data-tip={exactDuration(ns)}>
              {kinds.get(part)?.label ?? part} {formatDuration(ns)}
            </div>
          ))}
        </Fact>
        {blocking !== undefined && (
          <Fact name="blocked in">
            <ItemButton onClick={() => onCall(blocking.call ?? "", blocking.start)}>
              {shortName(blocking.call ?? "")}
            </ItemButton>
            , {formatDuration(blocking.duration)}
          </Fact>
        )}
        {ended !== null && (
          <Fact name="ended by">
            <ItemButton onClick={() => onItem(ended.id)}>{itemName(ended.name, ended.kind)}</ItemButton>
            <div class="muted">
              {[
                typeof ended.facts.bytes === "number" ? formatBytes(ended.facts.bytes) : "",
                ended.stream === undefined ? "" : `stream ${ended.stream}`,
              ]
                .filter(Boolean)
                .join(", ")}
            </div>
          </Fact>
        )}
        {ended?.call && (
          <Fact name="its call">
            <ItemButton onClick={() => onItem(ended.call?.id ?? 0)}>{shortName(ended.call.name)}</ItemButton>,{" "}
            {formatDuration(ended.call.duration)}
            <div class="muted">at {clock(ended.call.start)}</div>
          </Fact>
        )}
        {ended !== null && <OpOf item={ended} />}
      </dl>
    </>
  );
}

/** What it is, and what can be done with it. */
function Head({ name, said, children }: { name: string; said: string; children: ComponentChildren }) {
  const row = useOneStop<HTMLDivElement>();
  return (
    <div class="timeline-bar" {...row}>
      <p>
        <strong>{name}</strong> <span class="muted">{said}</span>
      </p>
      <span class="timeline-space" />
      {children}
    </div>
  );
}

/** What the GPU did before and after: the way from a kernel to the gap beside it, and on to the next kernel. */
function Neighbours({
  of: { before, after },
  view,
  onBeside,
}: {
  of: Besides;
  view: View;
  onBeside: (beside: Beside) => void;
}) {
  const nameOf = ({ id, name }: Beside): string => (id === null ? `Gap: ${name}` : itemName(name, "stream"));
  const lengthOf = (beside: Beside): string =>
    formatDuration(beside.id === null ? seenLength(beside, view) : beside.duration);
  const said = (beside: Beside): string => `${nameOf(beside)} ${lengthOf(beside)}`;
  return (
    <>
      {before && (
        <button
          type="button"
          class="button timeline-beside"
          aria-label={`Before: ${said(before)}`}
          data-tip="What the GPU did before it (,)"
          onClick={() => onBeside(before)}
        >
          <Icon name="left" />
          <span class="clip">{nameOf(before)}</span>
          <span class="muted">{lengthOf(before)}</span>
        </button>
      )}
      {after && (
        <button
          type="button"
          class="button timeline-beside"
          aria-label={`After: ${said(after)}`}
          data-tip="What the GPU did after it (.)"
          onClick={() => onBeside(after)}
        >
          <span class="clip">{nameOf(after)}</span>
          <span class="muted">{lengthOf(after)}</span>
          <Icon name="right" />
        </button>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
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
  return <Fact name="op">{typeof id === "string" ? <ViewLink to={showingOp("ops", id)}>{name}</ViewLink> : name}</Fact>;
}

/** As its tracks are called, and its id. */
function threadInWords(threads: ReadonlyMap<string, string>, process: number, thread: number): string {
  const name = threads.size > 1 ? threads.get(threadKey({ process, thread })) : undefined;
  return name === undefined ? String(thread) : `${name} (${thread})`;
}

const triple = (value: unknown): string => (Array.isArray(value) ? value.join(" × ") : "");

function ItemFacts({ item, view, window, threads, onItem }: ItemFactsProps) {
  const { facts, call } = item;
  const grid = triple(facts.grid);
  return (
    <dl>
      <Fact name="takes">
        <span data-tip={exactDuration(item.duration)}>{formatDuration(item.duration)}</span>
        <div class="muted">
          {item.kind === "stream" && `${formatShare(seenLength(item, view) / (view.to - view.from))} of ${window}, `}
          at {clock(item.start)}
        </div>
      </Fact>
      {item.stream !== undefined && (
        <Fact name="stream">
          {item.stream} of GPU {item.device ?? 0}
        </Fact>
      )}
      {call && (
        <Fact name="its call">
          <ItemButton onClick={() => onItem(call.id)}>{shortName(call.name)}</ItemButton>,{" "}
          {formatDuration(call.duration)}
          <div class="muted">
            {item.starts_before_call === true
              ? "The work begins before its call: the clocks of host and GPU differ."
              : `starts ${formatDuration(item.delay_ns ?? 0)} after its call`}
          </div>
          {item.duration < call.duration && <div class="muted">The work is shorter than its launch.</div>}
        </Fact>
      )}
      {call === null && item.kind === "stream" && (
        <Fact name="its call">
          <span class="muted">not recorded</span>
        </Fact>
      )}
      <OpOf item={item} />
      {item.works !== undefined && item.works.length > 0 && (
        <Fact name="launches">
          {item.works.map((work) => (
            <div key={work.id}>
              <ItemButton onClick={() => onItem(work.id)}>{itemName(work.name, work.kind)}</ItemButton>{" "}
              {formatDuration(work.duration)}
            </div>
          ))}
          {item.launched && item.launched.count > item.works.length && (
            <div class="muted">the longest of {formatCount(item.launched.count)}</div>
          )}
        </Fact>
      )}
      {item.launched && item.launched.count > 0 && (
        <Fact name="GPU time">
          <span data-tip={exactDuration(item.launched.ns)}>{formatDuration(item.launched.ns)}</span>
        </Fact>
      )}
      {grid !== "" && (
        <Fact name="grid, block">
          {grid}, {triple(facts.block)}
        </Fact>
      )}
      {(typeof facts.collective === "string" || typeof facts["group size"] === "number") && (
        <Fact name="collective">
          <ViewLink to={{ view: "gpus" }}>
            {typeof facts.collective === "string" ? facts.collective : "communication"}
          </ViewLink>
          {typeof facts["group size"] === "number" && (
            <div class="muted">
              of {formatCounted(facts["group size"], "rank")}
              {typeof facts.group === "string" && ` (${facts.group})`}
            </div>
          )}
        </Fact>
      )}
      {typeof facts.bytes === "number" && <Fact name="size">{formatBytes(facts.bytes)}</Fact>}
      {item.kind === "op" && <Fact name="path">{item.name}</Fact>}
      {item.thread !== undefined && <Fact name="thread">{threadInWords(threads, item.process ?? 0, item.thread)}</Fact>}
    </dl>
  );
}
