/** The mean iteration of each rank, in parts that add up. */
import type { Diagnosis, RankJob } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { Panel } from "../../components/panel";
import { formatCount, UNKNOWN } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { columnUnit, formatDuration, readableAndExact } from "../../format/time";
import { useOneStop } from "../../components/walking";
import { useUrl } from "../../frame/url";
import { mainDevice } from "../../model/parts";
import {
  barRows,
  barsOf,
  besideLargest,
  delays,
  differInLength,
  kindsIn,
  meanOf,
  rankLabel,
  spreadOfParts,
  warmUpLeftOut,
} from "../../model/ranks";
import { missingOfQueued, REST, type BarSegment } from "../../model/step";
import { RankLink } from "./rank_link";

const WAYS = [
  ["share", "Share"],
  ["time", "Time"],
] as const;

/** More are drawn in two columns where there is room. */
const FEW_ROWS = 16;

interface RankBarsProps {
  job: RankJob;
  /** Of the job's own rank. */
  diagnosis: Diagnosis | null;
  marked: boolean;
  /** `Tensor Core`, or `Matrix Core` on AMD GPUs. */
  unit: string;
}

export function RankBars({ job, diagnosis, marked, unit }: RankBarsProps) {
  const rows = barRows(job);
  // Bars stretched to the same length would hide that ranks take different times.
  const first = differInLength(job) ? "time" : "share";
  const way = chosenOf(WAYS, useUrl()["ranks.bars"] ?? first);
  const device = diagnosis === null ? undefined : mainDevice(diagnosis)?.[1];
  const bars = barsOf(
    job,
    rows,
    unit,
    diagnosis === null || device === undefined ? 0 : missingOfQueued(diagnosis, device),
  );
  // As the sentence above and the heat map tell it.
  const told = delays(job);
  const means = told.ns.map((ns) => (ns === null ? null : ns / Math.max(job.iterations, 1)));
  const most = Math.max(...means.map((ns) => ns ?? 0), 1);
  const longest = Math.max(...rows.map((row) => meanOf(job, row, "window_ns") ?? 0), 1);
  const many = rows.length < job.ranks.rank.length;
  const half = Math.ceil(rows.length / 2);
  const links = useOneStop<HTMLDivElement>();
  const columns = rows.length > FEW_ROWS ? [rows.slice(0, half), rows.slice(half)] : [rows];
  return (
    <Panel
      title="Ranks"
      about={`The mean of the iterations of each rank, as in the sentence above and the tiles: without a warm-up. High ${told.name} and little waiting: this rank costs time. Much waiting: others cost it time.`}
      tools={
        <Choice
          label="Bars show"
          options={WAYS}
          value={way}
          to={(id) => ({ "ranks.bars": id === first ? null : id })}
        />
      }
    >
      <ul class="rank-legend">
        {kindsIn(bars, unit).map(({ key, label, colour, about, striped }) => (
          <li key={key} data-tip={key === REST.key ? undefined : about}>
            <span class={striped === true ? "swatch striped" : "swatch"} style={{ backgroundColor: colour }} /> {label}
          </li>
        ))}
        <li class="muted">{spanOf(job, marked)}</li>
      </ul>
      {many && <Spread job={job} unit={unit} />}
      {many && (
        <h3 class="rank-sub">
          The {rows.length} with most {told.name}
        </h3>
      )}
      <div class={columns.length > 1 ? "rank-columns" : ""} {...links}>
        {columns.map((some) => (
          <Bars
            key={some[0] ?? -1}
            {...{ job, way, longest, told, means, most }}
            rows={some}
            bars={some.map((row) => bars[rows.indexOf(row)] ?? null)}
          />
        ))}
      </div>
    </Panel>
  );
}

/** Of what the bars are. */
function spanOf(job: RankJob, marked: boolean): string {
  const known = job.ranks.rank.map((_, row) => meanOf(job, row, "window_ns")).filter((ns) => ns !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)].map((ns) => formatDuration(ns));
  const span = known.length === 0 ? "" : `: ${least === most ? least : `${least} to ${most}`}`;
  const [fewest, count] = [Math.min(...job.ranks.iterations), Math.max(...job.ranks.iterations)];
  if (count === 0) return `first to last GPU work${span}`;
  if (!marked) return `all that was recorded${span}`;
  if (count === 1) return `the iteration${span}`;
  const of =
    fewest === count ? `mean of ${formatCount(count)} iterations` : "mean of the iterations that each rank has";
  return `${of}${warmUpLeftOut(job.warm_up)}${span}`;
}

interface BarsProps {
  job: RankJob;
  rows: readonly number[];
  /** One of each row. */
  bars: readonly (readonly BarSegment[] | null)[];
  way: "share" | "time";
  longest: number;
  told: ReturnType<typeof delays>;
  /** Of each rank, per iteration, and the largest of them. */
  means: readonly (number | null)[];
  most: number;
}

function Bars({ job, rows, bars, way, longest, told, means, most }: BarsProps) {
  return (
    <ul class="rank-bars">
      <li class="rank-head muted" aria-hidden="true">
        <span />
        <span>{way === "share" ? "100 %" : formatDuration(longest)}</span>
        <span>
          {told.name}
          {means.some((ns) => ns !== null) && ` (${columnUnit(most).name})`}
        </span>
      </li>
      {rows.map((row, at) => {
        const rank = job.ranks.rank[row] ?? 0;
        const segments = bars[at] ?? null;
        const window = meanOf(job, row, "window_ns") ?? 0;
        const whole = way === "share" ? window : longest;
        const delay = means[row] ?? null;
        const { text, isNoise } = besideLargest(delay ?? NaN, most);
        return (
          <li key={rank} class={rank === job.rank ? "rank-here" : rank === job.verdict.rank ? "rank-named" : undefined}>
            <span class="rank-name">
              <RankLink job={job} rank={rank} />
              {(job.hosts ?? 1) > 1 && <span class="muted"> {job.ranks.host[row]}</span>}
            </span>
            {segments === null ? (
              <span class="muted">no GPU work</span>
            ) : (
              <span
                class="rank-track"
                data-tip={[
                  `${rankLabel(job, rank)}: ${readableAndExact(window)}`,
                  ...segments.map(
                    ({ key, label, ns, about }) =>
                      `${label}: ${formatDuration(ns)} (${formatShare(shareOf(ns, window))})${key === REST.key ? `: ${about}` : ""}`,
                  ),
                  `Communication during compute: ${formatDuration(meanOf(job, row, "overlapped_ns"))}`,
                  `Last to arrive: ${job.ranks.last[row] ?? 0} times in all`,
                ].join("\n")}
              >
                {segments.map(({ key, ns, colour, striped }) => (
                  <span
                    key={key}
                    class={striped === true ? "striped" : undefined}
                    style={{ backgroundColor: colour, width: `${(ns / Math.max(whole, 1)) * 100}%` }}
                  />
                ))}
              </span>
            )}
            <span
              class={`number rank-delay bar-cell ${isNoise ? "muted" : ""}`}
              style={{ "--bar": isNoise ? 0 : (delay ?? 0) / most }}
              data-tip={delay === null ? undefined : `In all: ${readableAndExact(told.ns[row] ?? null)}`}
            >
              {delay === null ? UNKNOWN : text}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** Where there are too many bars: how each part is spread over the ranks. */
function Spread({ job, unit }: { job: RankJob; unit: string }) {
  return (
    <ul class="rank-spread">
      <li class="rank-head muted" aria-hidden="true">
        <span />
        <span>100 %</span>
        <span>median</span>
      </li>
      {spreadOfParts(job, unit).map(({ kind: { key, label, colour }, shares }) => {
        const [least = 0, lower = 0, median = 0, upper = 0, largest = 0] = shares;
        const at = (share: number): string => `${share * 100}%`;
        return (
          <li
            key={key}
            data-tip={`${label} of ${job.ranks.rank.length} ranks\nleast ${formatShare(least)}, lower quarter ${formatShare(lower)}, median ${formatShare(median)}, upper quarter ${formatShare(upper)}, largest ${formatShare(largest)}`}
          >
            <span class="rank-name">{label}</span>
            <span class="rank-range">
              <span class="rank-whisker" style={{ left: at(least), width: at(largest - least) }} />
              <span
                class="rank-box"
                style={{ background: colour, left: at(lower), width: at(Math.max(upper - lower, 0.003)) }}
              />
              <span class="rank-median" style={{ left: at(median) }} />
            </span>
            <span class="number rank-delay">{formatShare(median)}</span>
          </li>
        );
      })}
    </ul>
  );
}
