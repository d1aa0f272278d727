/** What holds the GPU's memory: the peak, what it consists of, the course over time, iterations, advice. */
import { useContext } from "preact/hooks";

import { fetchMemory, fetchMemoryAt } from "../../api/client";
import type { DashboardResponse, MemoryAt, MemoryDevice, MemoryResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { ViewLink } from "../../components/view_link";
import { CopyButton } from "../../components/copy_button";
import { ErrorBox, Loading, Message } from "../../components/message";
import { OneStop } from "../../components/one_stop";
import { Panel } from "../../components/panel";
import { Headline, Sentence } from "../../components/sentence";
import { textWidth } from "../../components/text_width";
import { FittingPath } from "../../components/value";
import { DataTable } from "../../components/table/data_table";
import { ProfilesContext } from "../../frame/profiles";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { formatBytes, sizeUnit } from "../../format/bytes";
import { exactNumber, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration } from "../../format/time";
import { withUnit, type Unit } from "../../format/unit";
import { recordedMeanwhile, isOfMemory } from "../../model/same_time";
import { categoryColour } from "../../model/memory_categories";
import { shownAtFirst } from "../../model/timeline";
import { wholeNumber } from "../../model/url_state";
import { HeldBlocks } from "./held_blocks";
import { isWithin, MemoryCurve, peaksOf, useMemoryRange, WholeRecording, type Opening } from "./memory_curve";
import { Segments } from "./segments";

/** Where a sentence of the headline ends and another begins. */
const NEXT_SENTENCE = /(?<=\.) (?=[A-Z])/;

/** Old recordings tell how much is allocated, not which block: what holds it would be one bar and an empty table. */
const isUnknown = ({ at_peak: held }: MemoryDevice): boolean =>
  held.every(({ category, blocks }) => category === "unknown" && blocks === null);

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
      <Message title="No memory was recorded">
        <p>
          <Sentence text={memory.headline} />
        </p>
        <RecordedMeanwhile profile={scope.profile} />
      </Message>
    );
  const [answer = "", ...rest] = memory.headline.split(NEXT_SENTENCE);
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
          {isUnknown(device) && (
            <span>This recording does not tell which blocks hold it. A memory snapshot of PyTorch does.</span>
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

/** The typical iterations, where these are shown at first as on the Timeline, and reach the peak; else all of the recording. */
function openingOf({ rows, source }: DashboardResponse["iterations"], device: MemoryDevice): Opening | null {
  const counted = rows.map(({ profiled }) => profiled);
  const [first, last] = [counted.indexOf(true), counted.lastIndexOf(true)];
  const begin = (at: number): number | null => rows[at]?.start_ns ?? null;
  const [start, from, latest] = [begin(0), begin(first), begin(rows.length - 1)];
  if (source.kind === "whole_capture" || start === null || from === null || latest === null) return null;
  const whole = { from: start, to: latest + (rows.at(-1)?.duration_ns ?? 0) };
  const part = shownAtFirst({ from, to: begin(last + 1) ?? whole.to }, whole);
  return part !== whole && peaksOf(device).some((at) => isWithin(at, part)) ? { part, whole } : null;
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

const GROUPINGS = [
  ["module", "Module or file"],
  ["op", "Op or line"],
  ["stack", "Stack"],
  ["size", "Size"],
] as const;

/** The sums by each grouping. */
function groupsOf(lists: MemoryAt | MemoryDevice, by: (typeof GROUPINGS)[number][0]) {
  switch (by) {
    case "module":
      return lists.by_module.map(({ module: name, ...rest }) => ({ name, ...rest }));
    case "op":
      return lists.by_owner.map(({ owner: name, ...rest }) => ({ name, ...rest }));
    case "stack":
      return lists.by_stack.map(({ stack: name, ...rest }) => ({ name, ...rest }));
    case "size":
      return lists.by_size.map(({ size: name, ...rest }) => ({ name, ...rest }));
  }
}

/** A setting of PyTorch's allocator at the beginning of advice. */
const SETTING = /^PYTORCH\w+=[^\s,]+/;

/** What finds that the GPU has room for more. */
const ROOM = "batch_size_detector";

/** What to change, before all that shows why. */
export function Findings({ findings }: Pick<MemoryDevice, "findings">) {
  if (findings.length === 0) return null;
  // While the GPU has room, what would save some is information only.
  const hasRoom = findings.some(({ rule }) => rule === ROOM);
  const isNeeded = ({ rule, severity }: MemoryDevice["findings"][number]): boolean =>
    !hasRoom || rule === ROOM || severity !== "info";
  const needed = findings.filter(isNeeded);
  const ordered = [...needed, ...findings.filter((finding) => !isNeeded(finding))];
  return (
    <Panel title="What to Change">
      <ul class="memory-findings">
        {ordered.map(({ rule, title, action }, at) => (
          <li key={rule} class={at < needed.length ? undefined : "muted"}>
            {at < needed.length ? <strong>{title}.</strong> : `${title}.`} {action}{" "}
            {SETTING.exec(action)?.map((setting) => (
              <CopyButton key={setting} text={setting} what="the setting" />
            ))}
          </li>
        ))}
      </ul>
    </Panel>
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
  const shown = owners.slice(0, 15);
  const whole = at?.in_use_bytes ?? device.peak_bytes;
  const ofDriver = device.at_peak.some(({ category }) => category === "taken from the driver");
  // Without events only the end is known.
  const most = device.events > 0 ? "At the Peak" : "At the End";
  const when =
    at === null
      ? most
      : time === null
        ? "At the Window's Peak"
        : device.peak_ns === null
          ? "At the Clicked Event"
          : "At the Clicked Moment";
  const unknown = isUnknown(device);
  const present = rows.filter(({ bytes }) => bytes !== 0);
  const unit = sizeUnit(Math.max(...present.map(({ bytes }) => Math.abs(bytes)), 0));
  const ofOwners = sizeUnit(Math.max(...shown.map(({ bytes }) => Math.abs(bytes)), 0));
  /** What is held then; what else a picture shows has no size in it, so that its legend stays as it is whatever moment is clicked. */
  const held = (drawn: readonly string[]) => (
    <div class="memory-held-then">
      <h3>
        {when}: {formatBytes(whole)} {device.relative ? "more than at the start" : device.peak_of}
      </h3>
      <table class="plain-table">
        <tbody>
          {present.map(({ category, bytes, blocks }) => (
            <tr key={category} data-tip={exactly(category, bytes, blocks)}>
              <th scope="row">
                <span class="swatch" style={{ background: categoryColour(category) }} /> {category}
              </th>
              <td class="right number">{withUnit(bytes, unit)}</td>
              <td class="right number muted">{formatShare(partOf(bytes, whole))}</td>
            </tr>
          ))}
          {drawn
            .filter((category) => !present.some((each) => each.category === category))
            .map((category) => (
              <tr key={category} data-tip={`${category}: nothing then`}>
                <th scope="row">
                  <span class="swatch" style={{ background: categoryColour(category) }} /> {category}
                </th>
                <td class="right number">–</td>
                <td class="right number muted">–</td>
              </tr>
            ))}
        </tbody>
      </table>
      {at === null && device.held_before !== null && <p class="muted note-below">{device.held_before}</p>}
      {time !== null && (
        <button type="button" class="button" onClick={() => navigate({ "memory.at": null })}>
          Show the peak{range !== null && " of the window"}
        </button>
      )}
    </div>
  );
  const about =
    "By what allocated and freed it: memory that the forward pass allocates and the backward pass frees is activations. The rows add up to the memory in use.";
  return (
    <>
      <Findings findings={device.findings} />
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
            <MemoryCurve id={id} device={device} time={time} opening={opening} {...(unknown ? {} : { beside: held })} />
          </Panel>
        ) : (
          !unknown &&
          rows.length > 1 && (
            <Panel title={`Memory, GPU ${id}`} about={about}>
              {held([])}
            </Panel>
          )
        )}
        <div class="memory-columns">
          {(owners.length > 1 || url["memory.by"] !== undefined) && (
            <Panel
              title={`${when}, by ${grouping === "size" ? "Size of Blocks" : "Who Allocated It"}`}
              about="The modules and ops that allocated what is held, or the files and lines of the program, with those that called them (after <) as stacks. What repeats in a model is one row."
              tools={
                <Choice label="Group by" options={groupings} value={grouping} to={(by) => ({ "memory.by": by })} />
              }
            >
              <ul class="memory-rows" style={nameRoom(shown.map(({ name }) => name))}>
                {shown.map(({ name, bytes, blocks }) => (
                  <Row key={name} name={name} bytes={bytes} blocks={blocks} whole={whole} unit={ofOwners} />
                ))}
              </ul>
            </Panel>
          )}
          <Iterations device={device} />
        </div>
      </OneStop>
      {time !== null && at !== null && <HeldBlocks blocks={at.blocks} />}
      {!unknown && device.events > 0 && <Blocks id={id} range={range} />}
      <Segments id={id} events={device.events} />
    </>
  );
}

/** Blocks that are alike as one row, which opens its blocks one by one. */
function Blocks({ id, range }: { id: string; range: readonly [number, number] | null }) {
  const row = useUrl()["alike.row"] ?? "";
  const links = range === null ? { device: id } : { device: id, from: String(range[0]), to: String(range[1]) };
  return (
    <>
      <DataTable
        table="memory_block_groups"
        name="alike"
        title={range === null ? "Allocations" : "Allocations, in Use in the Window"}
        noun="allocations"
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
          empty="Only the 500 largest blocks at the peak and the 500 largest besides are told one by one; these are smaller."
        />
      )}
    </>
  );
}

/** The share of a whole; values that count from the start of the recording, or contradict each other, are no parts of one. */
const partOf = (bytes: number, whole: number): number | null =>
  bytes < 0 || bytes > whole ? null : shareOf(bytes, whole);

const exactly = (name: string, bytes: number, blocks: number | null): string =>
  `${name}: ${exactNumber(bytes)} bytes${blocks === null ? "" : ` in ${formatCounted(blocks, "block")}`}`;

interface RowProps {
  name: string;
  bytes: number;
  blocks: number | null;
  whole: number;
  unit: Unit;
}

/** The room that the longest of these names needs: bars begin next to it. */
const nameRoom = (names: readonly string[]) => ({
  "--name-room": `${Math.ceil(Math.max(...names.map(textWidth), 0)) + 2}px`,
});

function Row({ name, bytes, blocks, whole, unit }: RowProps) {
  const share = partOf(bytes, whole);
  return (
    <li data-tip={exactly(name, bytes, blocks)}>
      <span class="memory-name">
        {/* The innermost lines of a stack tell it from others. */}
        {name.includes(" < ") ? name : <FittingPath path={name} />}
      </span>
      <span class="memory-track">
        <span style={{ width: `${(share ?? 0) * 100}%` }} />
      </span>
      <span class="number">{withUnit(bytes, unit)}</span>
      <span class="number muted">{formatShare(share)}</span>
    </li>
  );
}

/** So few bars have room for their numbers. */
const FEW = 12;

/** Bars that differ by less of the highest look equal. */
const ALIKE = 0.02;

/** Peak and end of each iteration, and whether memory grows. */
function Iterations({ device }: { device: MemoryDevice }) {
  const { iterations, leak } = device;
  if (iterations.length < 2) return null;
  const most = Math.max(...iterations.map(({ peak_bytes: peak }) => peak), 1);
  const verdict = {
    leak: `Memory in use grows by ${formatBytes(leak.bytes_per_iteration)} in each iteration.`,
    none: "Memory in use at the end of the iterations does not grow.",
    cannot_tell: "Fewer than five iterations cannot tell a leak from the first allocations.",
  }[leak.verdict];
  const shown = iterations.slice(0, 60);
  const few = shown.length <= FEW;
  const peaks = iterations.map(({ peak_bytes: peak }) => peak);
  const ends = iterations.map(({ end_bytes: end }) => end);
  if ([peaks, ends].every((values) => Math.max(...values) - Math.min(...values) < ALIKE * most))
    return (
      <Panel title="Over Iterations">
        <p>
          Each of the {exactNumber(iterations.length)} recorded iterations peaks at{" "}
          {[...new Set([Math.min(...peaks), most].map(formatBytes))].join(" to ")}
          {device.relative && " more than at the start"}. {verdict}
        </p>
      </Panel>
    );
  return (
    <Panel title="Over Iterations" about="The peak of each iteration, and what is still in use at its end." picture>
      <p>{verdict}</p>
      <ol class={few ? "memory-iterations memory-few" : "memory-iterations"}>
        {few && (
          <li class="muted memory-what" aria-hidden="true">
            <span>peak</span>
            <span />
            <span>at its end</span>
            <span>iteration</span>
          </li>
        )}
        {shown.map(({ number, peak_bytes: peak, end_bytes: end, peak_ns: time }) => (
          <li
            key={number}
            data-tip={`Iteration ${number}: peak ${formatBytes(peak)}${time === null ? "" : ` at ${formatDuration(time)}`}, ${formatBytes(end)} at its end`}
          >
            {few && <span class="number">{formatBytes(peak)}</span>}
            <span class="memory-peak" style={{ height: `${(peak / most) * 100}%` }}>
              <span style={{ height: `${(end / Math.max(peak, 1)) * 100}%` }} />
            </span>
            {few && <span class="number">{formatBytes(end)}</span>}
            <span class="muted number">{number}</span>
          </li>
        ))}
      </ol>
      <p class="muted note-below">
        <span class="memory-key">
          <span class="swatch memory-peak-swatch" /> peak
        </span>
        <span class="memory-key">
          <span class="swatch memory-swatch" /> in use at the end
        </span>
        {device.relative && "Counted from the start of the recording."}
        {shown.length < iterations.length &&
          ` The first ${shown.length} of ${exactNumber(iterations.length)} iterations.`}
      </p>
    </Panel>
  );
}
