/** The collectives by dimension, kind and size; a row opens its instances, an instance its members. */
import { useState } from "preact/hooks";

import { fetchJobCollective, fetchJobCollectives } from "../../api/client";
import type { JobCollectiveStats, RankJob } from "../../api/types";
import { PlainHead, type PlainTitle } from "../../components/plain_head";
import { ErrorBox, Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { formatBytes } from "../../format/bytes";
import { formatCount, significant, UNKNOWN } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration, readableAndExact, unitOf, type TimeUnit } from "../../format/time";
import { inUnit } from "../../format/unit";
import { useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { save } from "../../host/picture";
import { isAllMatched, isMostlyLast, membersCsv, rankLabel } from "../../model/ranks";
import { RankLink } from "./rank_link";

const MOST_MEMBERS = 64;

/** Of those that waited longest, which are told at first, and at most. */
const FEW_OPERATIONS = 6;
const MOST_OPERATIONS = 20;

/** What older recordings do not hold: a column of it that is unknown in every row is folded into a line below. */
const MAY_BE_UNKNOWN: readonly (readonly [string, (row: JobCollectiveStats) => boolean])[] = [
  ["Groups", ({ group_kind: kind }) => kind !== ""],
  ["Size", ({ bytes }) => bytes !== null],
  ["Bus Bandwidth (GB/s)", ({ bus_bandwidth: bandwidth }) => bandwidth !== null],
  ["Of Peak", ({ bus_bandwidth: bandwidth, peak_bandwidth: peak }) => bandwidth !== null && peak !== null],
];

/** These in a sentence. */
const IN_WORDS: Readonly<Record<string, string>> = {
  Groups: "what the groups are for",
  Size: "sizes",
  "Bus Bandwidth (GB/s)": "bus bandwidths",
  "Of Peak": "shares of the peak bandwidth",
};

/** The titles of the columns that are unknown in every row. */
const unknownIn = (rows: readonly JobCollectiveStats[]): ReadonlySet<string> =>
  new Set(MAY_BE_UNKNOWN.filter(([, isKnown]) => !rows.some(isKnown)).map(([title]) => title));

/** Of each column, by its largest value. */
type Units = Readonly<Record<"transfer" | "wait" | "skew", TimeUnit>>;

/** Columns and their classes; ``spare`` ones are left to tooltips where there is no room. */
const headsIn = (units: Units, unknown: ReadonlySet<string>): readonly PlainTitle[] =>
  (
    [
      ["Groups", ""],
      ["Collective", ""],
      ["Size", "number"],
      ["Ranks", "number"],
      ["Count", "number"],
      [`Transfer (${units.transfer.name})`, "number"],
      [`Transfer p95 (${units.transfer.name})`, "number spare"],
      ["Bus Bandwidth (GB/s)", "number"],
      ["Of Peak", "number"],
      [`Waiting in All (${units.wait.name})`, "number"],
      [`Skew p95 (${units.skew.name})`, "number spare"],
      ["Most Often Last", ""],
    ] as const
  ).filter(([title]) => !unknown.has(title));

export function Collectives({ job }: { job: RankJob }) {
  const url = useUrl();
  const selected = job.collectives.find(({ id }) => String(id) === url["ranks.stats"]) ?? null;
  const rows = job.collectives;
  const units = {
    transfer: unitOf(rows.flatMap((row) => [row.transfer_median_ns, row.transfer_p95_ns])),
    wait: unitOf(rows.map((row) => row.wait_ns)),
    skew: unitOf(rows.map((row) => row.skew_p95_ns)),
  };
  const unknown = unknownIn(rows);
  return (
    <Panel
      title="Collectives"
      about={[
        "Transfer is what all members share: bytes on the wire, a slow link. Waiting is what they lose to each other. Bus bandwidth is that of nccl-tests. A row shows its operations.",
        unknown.size > 0 && `Not recorded: ${[...unknown].map((title) => IN_WORDS[title] ?? title).join(", ")}.`,
        job.warm_up.length > 0 && "Of the whole recording, the warm-up too, which the numbers above leave out.",
        isAllMatched(job) && "Every collective of every rank was matched.",
      ]
        .filter(Boolean)
        .join(" ")}
    >
      {job.collectives.length === 0 ? (
        <p class="muted">No operations could be matched between ranks.</p>
      ) : (
        <div class="rank-table-frame">
          <table class="plain-table rank-table">
            <PlainHead titles={headsIn(units, unknown)} />
            <tbody>
              {job.collectives.map((row) => (
                <Row key={row.id} job={job} row={row} units={units} unknown={unknown} selected={row === selected} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {selected !== null && <Instances key={selected.id} job={job} stats={selected} />}
    </Panel>
  );
}

interface RowProps {
  job: RankJob;
  row: JobCollectiveStats;
  units: Units;
  /** Titles of the columns that are left out. */
  unknown: ReadonlySet<string>;
  selected: boolean;
}

function Row({ job, row, units, unknown, selected }: RowProps) {
  const bandwidth = row.bus_bandwidth === null ? null : row.bus_bandwidth / 1e9;
  const peak = row.peak_bandwidth;
  return (
    <tr class={selected ? "selected" : undefined}>
      {!unknown.has("Groups") && <td>{row.group_kind === "" ? UNKNOWN : row.group_kind.toUpperCase()}</td>}
      <td>
        <button
          type="button"
          id={`collective-${row.id}`}
          class="link-button"
          aria-expanded={selected}
          onClick={() => navigate({ "ranks.stats": selected ? null : String(row.id), "ranks.operation": null }, true)}
        >
          {row.kind}
        </button>
      </td>
      {!unknown.has("Size") && <td class="number">{row.bytes === null ? UNKNOWN : formatBytes(row.bytes)}</td>}
      <td class="number">{row.ranks}</td>
      <td class="number">{formatCount(row.operations)}</td>
      <td
        class="number"
        data-tip={`Median; p95 ${formatDuration(row.transfer_p95_ns)}; of all operations ${readableAndExact(row.transfer_ns)}`}
      >
        {timeIn(row.transfer_median_ns, units.transfer)}
      </td>
      <td class="number spare">{timeIn(row.transfer_p95_ns, units.transfer)}</td>
      {!unknown.has("Bus Bandwidth (GB/s)") && (
        <td
          class={`number ${row.bytes !== null && row.bytes < 1 << 20 ? "muted" : ""}`}
          data-tip={row.bandwidth_reason}
        >
          {bandwidth === null ? UNKNOWN : significant(bandwidth)}
        </td>
      )}
      {!unknown.has("Of Peak") && (
        <td class="number" data-tip={row.bandwidth_reason === "" ? undefined : `Unknown: ${row.bandwidth_reason}.`}>
          {peak === null || row.bus_bandwidth === null ? UNKNOWN : formatShare(row.bus_bandwidth / peak)}
        </td>
      )}
      <td
        class="number"
        data-tip={`Of all ranks and operations: ${readableAndExact(row.wait_ns)}; skew p95 ${formatDuration(row.skew_p95_ns)}`}
      >
        {timeIn(row.wait_ns, units.wait)}
      </td>
      <td class="number spare">{timeIn(row.skew_p95_ns, units.skew)}</td>
      <td>
        {row.last_rank === null ? (
          UNKNOWN
        ) : isMostlyLast(row) ? (
          <>
            <RankLink job={job} rank={row.last_rank} /> <span class="muted">{formatShare(row.last_fraction)}</span>
          </>
        ) : (
          // Who is last at half of them may be held up by who is last at the other half.
          <span
            class="muted"
            data-tip={`No rank is last at most of those at which one was late; ${rankLabel(job, row.last_rank)} is at ${formatShare(row.last_fraction)}. Own delays tell who is late by itself.`}
          >
            no one rank
          </span>
        )}
      </td>
    </tr>
  );
}

const timeIn = (ns: number | null, unit: TimeUnit): string => (ns === null ? UNKNOWN : inUnit(ns, unit));

function Instances({ job, stats }: { job: RankJob; stats: JobCollectiveStats }) {
  const { profile, round } = useScope();
  const query = useQuery(`${profile} ${round} ${stats.id}`, (signal) => fetchJobCollectives(profile, stats.id, signal));
  const url = useUrl();
  const [all, setAll] = useState(false);
  if (query.error !== null && !query.loading) return <ErrorBox error={query.error} retry={query.reload} />;
  if (query.data === null) return <Loading what="the operations" />;
  const asked = Number(url["ranks.operation"] ?? "");
  const shown = query.data.find(({ id }) => id === asked) ?? query.data[0];
  return (
    <div class="rank-instances">
      <h3 class="rank-sub">Operations with the longest waits</h3>
      <ol class="rank-operations">
        {query.data.slice(0, all ? MOST_OPERATIONS : FEW_OPERATIONS).map((one) => (
          <li key={one.id}>
            <button
              type="button"
              class="link-button"
              aria-pressed={one.id === shown?.id}
              onClick={() => navigate({ "ranks.operation": String(one.id) }, true)}
            >
              {one.iteration === null ? "outside iterations" : `iteration ${one.iteration}`}: waiting{" "}
              {formatDuration(one.wait_ns)}
            </button>
          </li>
        ))}
        {!all && query.data.length > FEW_OPERATIONS && (
          <li>
            <button type="button" class="link-button" onClick={() => setAll(true)}>
              {formatCount(Math.min(query.data.length, MOST_OPERATIONS) - FEW_OPERATIONS)} more
            </button>
          </li>
        )}
      </ol>
      {shown !== undefined && <Members job={job} id={shown.id} />}
    </div>
  );
}

/** One operation: a bar for each rank, waiting and transfer, on one clock. */
function Members({ job, id }: { job: RankJob; id: number }) {
  const { profile, round } = useScope();
  const query = useQuery(`${profile} ${round} ${id}`, (signal) => fetchJobCollective(profile, id, signal));
  if (query.error !== null && !query.loading) return <ErrorBox error={query.error} retry={query.reload} />;
  if (query.data === null) return <Loading what="the operation" />;
  const operation = query.data;
  const { members, transfer_ns: transfer, skew_ns: skew } = operation;
  const whole = Math.max(skew + transfer, 1);
  const rows = members.length > MOST_MEMBERS ? [...members].sort((a, b) => a.wait_ns - b.wait_ns) : members;
  return (
    <>
      <ul class="rank-bars">
        {rows.slice(0, MOST_MEMBERS).map(({ rank, wait_ns: wait }) => (
          <li key={rank}>
            <span class="rank-name">
              <RankLink job={job} rank={rank} />
            </span>
            <span
              class="rank-track"
              data-tip={`Waits ${readableAndExact(wait)}, then transfers for ${readableAndExact(transfer)}`}
            >
              <span style={{ width: `${((skew - wait) / whole) * 100}%` }} />
              <span class="rank-wait" style={{ width: `${(wait / whole) * 100}%` }} />
              <span class="rank-transfer" style={{ width: `${(transfer / whole) * 100}%` }} />
            </span>
            <span class="number rank-delay">{formatDuration(wait)}</span>
          </li>
        ))}
      </ul>
      <p class="muted note-below">
        {job.clocks.sentence}{" "}
        {rows.length > MOST_MEMBERS && `${MOST_MEMBERS} of ${rows.length} ranks, the latest first. `}
        <button
          type="button"
          class="link-button"
          onClick={() =>
            save(new Blob([membersCsv(operation)], { type: "text/csv" }), `${job.job} operation ${id}.csv`)
          }
        >
          Download CSV
        </button>
      </p>
    </>
  );
}
