/** What holds the GPU's memory: the peak, what it consists of, the course over time, iterations, advice. */
import { useContext } from "preact/hooks";

import { fetchMemory, fetchMemoryAt } from "../../api/client";
import type { DashboardResponse, MemoryAt, MemoryDevice, MemoryResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { DataTable } from "../../components/table/data_table";
import { ErrorBox, Loading, Message, Snippet } from "../../components/message";
import { OneStop } from "../../components/one_stop";
import { Panel } from "../../components/panel";
import { Headline, Sentence } from "../../components/sentence";
import { ViewLink } from "../../components/view_link";
import { ProfilesContext } from "../../frame/profiles";
import { scopeKey, useScope } from "../../frame/scope";
import { useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { formatBytes } from "../../format/bytes";
import { exactNumber } from "../../format/number";
import { formatDuration } from "../../format/time";
import { recordedMeanwhile, isOfMemory } from "../../model/same_time";
import { showsPeak } from "../../model/memory_curve";
import { shownAtFirst } from "../../model/timeline";
import { evidenceLink } from "../../model/timeline_link";
import { wholeNumber } from "../../model/url_state";
import { Findings, hasRoom } from "./findings";
import { GROUPINGS, groupsOf, HeldBy } from "./held_by";
import { HeldBlocks } from "./held_blocks";
import { HeldThen } from "./held_then";
import { MemoryCurve, useMemoryRange, WholeRecording, type Opening } from "./memory_curve";
import { AlikeIterations, OverIterations } from "./over_iterations";
import { Segments } from "./segments";

/** Where a sentence of the headline ends and another begins. */
const NEXT_SENTENCE = /(?<=\.) (?=[A-Z])/;
/** Of its first one, the peak, whose allocation reaches it, and what it consists of, which is asked first. */
const PEAK = /^(Peak .*), (reached in `[^`]*`)(; of it .*)?\.$/;

/** The headline's sentences: the answer, and what stands below it. */
function sentencesOf(headline: string): string[] {
  const [first = "", ...rest] = headline.split(NEXT_SENTENCE);
  const [, peak = "", reached = "", holds = ""] = PEAK.exec(first) ?? [];
  return peak === ""
    ? [first, ...rest]
    : [`${peak}${holds.replace("; of it", ":")}.`, `${reached.replace("r", "R")}.`, ...rest];
}

/** Old recordings tell how much is allocated, not which block: what holds it would be one bar and an empty table. */
const isUnknown = ({ at_peak: held }: MemoryDevice): boolean =>
  held.every(({ category, blocks }) => category === "unknown" && blocks === null);

/** A moment in the Timeline: as long as a short kernel. */
const MOMENT_NS = 20_000;

const SNAPSHOT = `torch.cuda.memory._record_memory_history(max_entries=100_000)
train_a_few_iterations()
torch.cuda.memory._dump_snapshot("LOGDIR/snapshot.pickle")`;

/** What brings what this recording lacks. */
function HowToTell() {
  return (
    <Panel title="Record a Memory Snapshot to See What Holds It">
      <Snippet what="how to record a memory snapshot" text={SNAPSHOT} />
    </Panel>
  );
}

export function Memory({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const query = useQuery<MemoryResponse>(scopeKey(scope, "memory"), (signal) => fetchMemory(scope, signal));
  const url = useUrl();
  const memory = query.data;
  if (memory === null)
    return query.error === null ? <Loading what="memory" /> : <ErrorBox error={query.error} retry={query.reload} />;
  const devices = Object.keys(memory.devices);
  const gpu = devices.find((id) => id === url["memory.gpu"]) ?? fullestOf(memory);
  const device = gpu === undefined ? undefined : memory.devices[gpu];
  if (gpu === undefined || device === undefined)
    return (
      <Message title="No GPU memory was recorded">
        <p>
          <Sentence text={memory.headline} />
        </p>
        <RecordedMeanwhile profile={scope.profile} />
      </Message>
    );
  const [answer = "", ...rest] = sentencesOf(memory.headline);
  return (
    <div class="stacked">
      <header class="headline">
        <h2>
          <Headline text={answer} />
        </h2>
        <p class="model-line">
          {rest.length > 0 && (
            <span>
              <Headline text={rest.join(" ")} />
            </span>
          )}
        </p>
        <RecordedMeanwhile profile={scope.profile} />
      </header>
      {devices.length > 1 && (
        <Choice
          label="GPU"
          options={devices.map((id) => [id, `GPU ${id}`] as const)}
          value={gpu}
          to={(id) => ({
            "memory.gpu": id,
            "memory.at": null,
            "memory.from": null,
            "memory.to": null,
            "memory.block": null,
            "alike.row": null,
          })}
        />
      )}
      <OfDevice key={gpu} id={gpu} device={device} opening={openingOf(data.iterations, device)} />
    </div>
  );
}

/** The typical iterations, where these are shown at first as on the Timeline, and show the peak; else all of the recording. */
function openingOf({ rows, source }: DashboardResponse["iterations"], device: MemoryDevice): Opening | null {
  const counted = rows.map(({ profiled }) => profiled);
  const [first, last] = [counted.indexOf(true), counted.lastIndexOf(true)];
  const begin = (at: number): number | null => rows[at]?.start_ns ?? null;
  const [start, from, latest] = [begin(0), begin(first), begin(rows.length - 1)];
  if (source.kind === "whole_capture" || start === null || from === null || latest === null) return null;
  const whole = { from: start, to: latest + (rows.at(-1)?.duration_ns ?? 0) };
  const part = shownAtFirst({ from, to: begin(last + 1) ?? whole.to }, whole);
  const [lowest, highest] = [rows[first]?.iteration ?? 0, rows[last]?.stop_iteration ?? 0];
  const name =
    lowest === highest
      ? `iteration ${exactNumber(lowest)}`
      : `iterations ${exactNumber(lowest)} to ${exactNumber(highest)}`;
  return part !== whole && showsPeak(device, part) ? { part, whole, name } : null;
}

/** The GPU that holds most, which the headline is about; undefined where none was recorded. */
export function fullestOf({ devices }: MemoryResponse): string | undefined {
  const peak = (id: string): number => devices[id]?.peak_bytes ?? 0;
  return Object.keys(devices).sort((a, b) => peak(b) - peak(a))[0];
}

/** The trace beside a snapshot, or the snapshot beside a trace. */
function RecordedMeanwhile({ profile }: { profile: string }) {
  const { profiles } = useContext(ProfilesContext);
  const [first] = recordedMeanwhile(profiles, profile);
  if (first === undefined) return null;
  return (
    <p class="muted">
      Recorded at the same time:{" "}
      <ViewLink to={{ profile: first.id, view: isOfMemory(first) ? "memory" : null }}>{first.name}</ViewLink>,{" "}
      {isOfMemory(first) ? "which tells segments and lines of the program." : "which tells ops and times."}
    </p>
  );
}

function OfDevice({ id, device, opening }: { id: string; device: MemoryDevice; opening: Opening | null }) {
  const scope = useScope();
  const url = useUrl();
  const time = wholeNumber(url["memory.at"]);
  const range = useMemoryRange();
  // At the clicked moment, else at the peak of the window.
  const asked = time !== null ? { time } : range !== null ? { from: range[0], to: range[1] } : null;
  const moment = useQuery<MemoryAt>(
    asked === null ? null : scopeKey(scope, "memory_at", id, JSON.stringify(asked)),
    (signal) => fetchMemoryAt(scope, Number(id), asked ?? {}, signal),
  );
  const at = asked === null ? null : moment.data;
  const rows = at?.at_peak ?? device.at_peak;
  // Only snapshots have stacks.
  const groupings = GROUPINGS.filter(([by]) => by !== "stack" || device.by_stack.length > 0);
  const grouping = chosenOf(groupings, url["memory.by"]);
  const owners = groupsOf(at ?? device, grouping);
  const whole = at?.in_use_bytes ?? device.peak_bytes;
  const ofDriver = device.at_peak.some(({ category }) => category === "taken from the driver");
  // Without events only the end is known.
  const most = device.events > 0 ? "At the Peak" : "At the End";
  const moments = device.peak_ns !== null;
  const when =
    at === null
      ? most
      : time === null
        ? "At the Window's Peak"
        : moments
          ? `At ${formatDuration(time)}`
          : `At Event ${exactNumber(time)}`;
  const unknown = isUnknown(device);
  const held = (drawn: readonly string[]) => (
    <HeldThen
      device={device}
      rows={rows}
      whole={whole}
      when={when}
      drawn={drawn}
      isPeak={at === null}
      back={time === null ? null : `Show the peak${range === null ? "" : " of the window"}`}
    />
  );
  const about =
    "By what allocated and freed it: memory that the forward pass allocates and the backward pass frees is activations. The rows add up to the memory in use.";
  return (
    <>
      {!hasRoom(device) && <Findings findings={device.findings} />}
      <OneStop>
        {device.events > 0 ? (
          <Panel
            title={ofDriver ? `Memory Taken from the Driver, GPU ${id}` : `Memory over Time, GPU ${id}`}
            about={`${
              ofDriver
                ? "What allocations took from the driver: a framework's allocator takes pieces in which it keeps many tensors."
                : "Memory in use by tensors, and what the framework's allocator has reserved from the GPU."
            } Click to see what is held at a moment; drag to zoom in.${unknown ? "" : ` ${about}`}`}
            picture
            tools={<WholeRecording />}
          >
            <MemoryCurve id={id} device={device} time={time} opening={opening} {...(unknown ? {} : { below: held })} />
            <AlikeIterations device={device} />
            {unknown && time !== null && at !== null && (
              <p class="note-below">
                {when}: {formatBytes(whole)} {device.relative ? "more than at the start" : device.peak_of}.{" "}
                {moments && (
                  <ViewLink class="link-button" to={evidenceLink(time, time + MOMENT_NS, Number(id))}>
                    What ran then, in the Timeline
                  </ViewLink>
                )}
              </p>
            )}
          </Panel>
        ) : (
          !unknown &&
          rows.length > 1 && (
            <Panel title={`Memory, GPU ${id}`} about={about}>
              {held([])}
            </Panel>
          )
        )}
        {hasRoom(device) && <Findings findings={device.findings} />}
        <div class="memory-columns">
          {/* At a moment of few owners, too, so that what is below stays where it is. */}
          {(Math.max(owners.length, groupsOf(device, grouping).length) > 1 || url["memory.by"] !== undefined) && (
            <HeldBy when={when} owners={owners} whole={whole} groupings={groupings} grouping={grouping} />
          )}
          <OverIterations device={device} />
        </div>
      </OneStop>
      {time !== null && at !== null && <HeldBlocks blocks={at.blocks} />}
      {!unknown && device.events > 0 && <Blocks id={id} range={range} isOther={asked !== null} />}
      {(unknown || device.events === 0) && <HowToTell />}
      <Segments id={id} events={device.events} />
    </>
  );
}

interface BlocksProps {
  id: string;
  range: readonly [number, number] | null;
  /** Whether the lists above are of another moment than the recording's peak. */
  isOther: boolean;
}

/** Blocks that are alike as one row, which opens its blocks one by one. */
function Blocks({ id, range, isOther }: BlocksProps) {
  const row = useUrl()["alike.row"] ?? "";
  const links = range === null ? { device: id } : { device: id, from: String(range[0]), to: String(range[1]) };
  return (
    <>
      <DataTable
        table="memory_block_groups"
        name="alike"
        title={range === null ? "Allocations" : "Allocations, in Use in the Window"}
        noun="allocations"
        {...(isOther ? { tools: <span class="muted">“At the Peak” is that of the whole recording.</span> } : {})}
        selectable
        below={["blocks"]}
        {...(range === null ? {} : { sort: "-total_bytes" })}
        links={links}
        pageSize={10}
        empty="No allocations were recorded, only what was held."
      />
      {row !== "" && (
        <DataTable
          table="memory_blocks"
          name="blocks"
          title="Blocks of the Selected Row"
          noun="blocks"
          links={{ ...links, row }}
          pageSize={10}
          empty={
            row.startsWith(":")
              ? "Nothing tells the blocks that were held before the recording."
              : "Only the 500 largest blocks at the peak and the 500 largest besides are told one by one; these are smaller."
          }
        />
      )}
    </>
  );
}
