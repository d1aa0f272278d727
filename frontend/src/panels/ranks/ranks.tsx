/** One job of many ranks: who costs time, where it shows, and what was left out. */
import type { Diagnosis, RankJob } from "../../api/types";
import { FindingGain } from "../../components/finding_gain";
import { MissingWork } from "../../components/missing_work";
import { Panel } from "../../components/panel";
import { ViewLink } from "../../components/view_link";
import { Info } from "../../components/tooltip";
import { useOneStop } from "../../components/walking";
import { formatCount, formatCounted, withoutSteps } from "../../format/number";
import { Headline } from "../../components/sentence";
import { typeset } from "../../format/sentence";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { useUrl } from "../../frame/url";
import { hasUnmatched, isAllMatched, rankLabel, warmUpLeftOut } from "../../model/ranks";
import { Collectives } from "./collectives";
import { HeatMap } from "./heat_map";
import { Matrix } from "./matrix";
import { RankBars } from "./rank_bars";
import { RankLink } from "./rank_link";

const MOST_MISSING = 20;

interface RanksProps {
  job: RankJob;
  /** Whether the recording marks iterations; else all of it counts as one. */
  marked: boolean;
}

/** `unit` is `Tensor Core`, or `Matrix Core` on AMD GPUs. */
export function Ranks({ job, marked, unit, diagnosis }: RanksProps & { unit: string; diagnosis: Diagnosis | null }) {
  return (
    <>
      <Verdict job={job} marked={marked} diagnosis={diagnosis} />
      <Tiles job={job} marked={marked} />
      <RankBars job={job} marked={marked} unit={unit} diagnosis={diagnosis} />
      {/* Of one iteration, the bars say all that its column would. */}
      {job.iterations > 1 && <HeatMap job={job} />}
      <Findings job={job} marked={marked} />
      <Collectives job={job} />
      <div class="rank-pair">
        <Matrix job={job} />
        <Groups job={job} />
      </div>
      <LeftOut job={job} />
    </>
  );
}

function Verdict({ job, marked, diagnosis }: RanksProps & { diagnosis: Diagnosis | null }) {
  const { verdict } = job;
  const links = useOneStop<HTMLParagraphElement>();
  const rankName = (rank: number): string => rankLabel(job, rank).toLowerCase();
  const shape = job.dimensions.map(({ kind, size }) => `${kind.toUpperCase()} ${size}`).join(" × ");
  const missing =
    job.missing.count === 0
      ? ""
      : `; missing ${job.missing.ranks.slice(0, MOST_MISSING).join(", ")}${job.missing.count > MOST_MISSING ? " and more" : ""}`;
  const facts = [
    `${formatCount(job.ranks_present)} of ${job.knows_ranks ? formatCounted(job.world_size, "rank") : formatCounted(job.world_size, "process", "processes")}${missing}`,
    job.hosts === null ? "" : formatCounted(job.hosts, "host"),
    job.gpus.join(", "),
    shape,
    marked ? `${formatCounted(job.iterations, "iteration")}${warmUpLeftOut(job.warm_up)}` : "no iterations marked",
  ];
  // What the verdict rests on follows its first sentence; where that names a rank, behind a hint.
  const [, headline = verdict.sentence, reasons = ""] = /^(.+?\.)\s+([A-Z].*)$/su.exec(verdict.sentence) ?? [];
  return (
    <header class="headline">
      <h2 class="rank-verdict">
        <Headline text={headline} />{" "}
        {reasons !== "" && verdict.cost_ns !== null && <Info term="what it costs" text={typeset(reasons)} />}
      </h2>
      <p class="model-line" {...links}>
        {reasons !== "" && verdict.cost_ns === null && <span>{typeset(reasons)}</span>}
        {verdict.rank !== null && (
          <RankLink job={job} rank={verdict.rank}>
            Show {rankName(verdict.rank)}
          </RankLink>
        )}
        {job.delayed_at !== null && (
          <ViewLink
            class="link-button"
            to={{ "ranks.stats": String(job.delayed_at), "ranks.operation": null }}
            tip="Of all collectives, the largest part of its own delay is seen at these."
            onFollow={() => {
              const row = document.getElementById(`collective-${job.delayed_at}`);
              row?.scrollIntoView({ block: "center" });
              row?.focus({ preventScroll: true });
            }}
          >
            Show the collective
          </ViewLink>
        )}
        {verdict.runners_up.map(({ rank, cost_ns: cost }) => (
          <span key={rank}>
            Also <RankLink job={job} rank={rank} />: about {formatDuration(cost)} (
            {formatShare(shareOf(cost, job.median_iteration_ns))})
          </span>
        ))}
        <MissingWork diagnosis={diagnosis} told />
      </p>
      <p class="rank-facts muted" data-tip={`Matched by: ${job.matched_by}.\n${typeset(job.clocks.sentence)}`}>
        {[job.job, ...facts].filter((fact) => fact !== "").join(" · ")}
      </p>
      {job.warnings.map((warning) => (
        <p key={warning} class="rank-warning">
          {typeset(warning)}
        </p>
      ))}
    </header>
  );
}

/** Findings that say what the verdict above them says. */
const OF_VERDICT: ReadonlySet<string> = new Set(["straggler", "slow_link", "stage_imbalance", "imbalance"]);

/** What to change; the first finding repeats the verdict, of which only its advice is shown. */
function Findings({ job, marked }: RanksProps) {
  const { verdict, findings, median_iteration_ns: whole } = job;
  const [next] = verdict.runners_up;
  if (findings.length === 0) return null;
  return (
    <section class="findings">
      <h2 class="findings-part">What to Change</h2>
      {findings.map(({ id, rule, title, text, action, gain_ns: gain }) => {
        // All that compute could hide is the most, as the own findings of a rank say.
        const most = rule === "exposed_communication";
        return (
          <article key={id} class="panel finding" aria-label={title}>
            {gain !== null && gain > 0 ? (
              <FindingGain
                low={most ? 0 : (shareOf(gain, whole) ?? 0)}
                high={shareOf(gain, whole) ?? 0}
                time={`${most ? "up to" : "about"} ${formatDuration(gain)}`}
                share={formatShare(shareOf(gain, whole))}
                of={marked ? "the iteration" : "the recording"}
              />
            ) : (
              <span />
            )}
            <div class="finding-text">
              <header class="finding-head">
                <h2>{title}</h2>
              </header>
              <p>{typeset(OF_VERDICT.has(rule) ? action : `${text} ${action}`)}</p>
              {rule === "straggler" && next !== undefined && (
                <p class="muted">More once {rankLabel(job, next.rank).toLowerCase()} is faster, too.</p>
              )}
            </div>
          </article>
        );
      })}
    </section>
  );
}

function Tiles({ job, marked }: RanksProps) {
  const exposed = job.exposed_communication_fraction;
  const wait = job.wait_fraction;
  const transfer = exposed === null || wait === null ? null : Math.max(exposed - wait, 0);
  const several = job.iterations > 1;
  const mean = `by the time of the iterations, mean of ${formatCounted(job.ranks_present, "rank")}.`;
  const tiles = [
    {
      value: formatDuration(job.median_iteration_ns),
      name: several ? "median iteration" : marked ? "the iteration" : "recorded",
      about: several ? `of ${formatCount(job.iterations)} on all ranks` : "median of the ranks",
      tip: readableAndExact(job.median_iteration_ns),
    },
    {
      value: formatShare(exposed),
      name: "exposed communication",
      about: `of all ranks' time${
        wait === null
          ? ""
          : `, ${formatShare(transfer)} ${hasUnmatched(job) ? "transferring or unmatched" : "transferring"}`
      }`,
      tip: `Communication while nothing is computed, ${mean}`,
    },
    {
      value: formatShare(wait),
      name: "lost to imbalance",
      about: "of all ranks' time, waiting for others",
      tip: `Waiting for ranks that come later, while nothing is computed, ${mean}`,
    },
  ];
  const isZoomed = useUrl()["ranks.from"] !== undefined;
  return (
    <section class="rank-numbers">
      <ul class="rank-tiles" aria-label="Key numbers">
        {tiles.map(({ value, name, about, tip }) => (
          <li key={name} data-tip={tip}>
            <span class="number">
              {value} <small>{name}</small>
            </span>
            <span class="muted">{typeset(about)}</span>
          </li>
        ))}
      </ul>
      {isZoomed && (
        <p class="muted note-below">
          Of all {formatCounted(job.iterations, "iteration")}, not only of those that the heat map shows.
        </p>
      )}
    </section>
  );
}

const MOST_GROUPS = 60;

function Groups({ job }: { job: RankJob }) {
  const [only] = job.groups;
  // One group of all ranks is what the header says.
  if (only === undefined || (job.groups.length === 1 && only.believed && !only.slow)) return null;
  const sorted = [...job.groups].sort(
    (a, b) => Number(b.slow) - Number(a.slow) || Number(a.believed) - Number(b.believed),
  );
  // Without process groups, a rank has one on each stream; those that could not be matched are all alike.
  const alike = new Map<string, typeof sorted>();
  for (const group of sorted) {
    const key = group.believed ? String(group.id) : `${group.kind} ${group.ranks} ${group.reason}`;
    alike.set(key, [...(alike.get(key) ?? []), group]);
  }
  return (
    <Panel
      title="Groups"
      about="Process groups that are used. Nothing is said of waiting in a group whose operations do not end together."
    >
      <ul class="rank-groups">
        {[...alike.values()].slice(0, MOST_GROUPS).flatMap(([group, ...others]) =>
          group === undefined ? (
            []
          ) : (
            <li
              key={group.id}
              class={group.slow ? "rank-slow" : group.believed ? undefined : "rank-unbelieved"}
              data-tip={[
                `Group ${[group, ...others].map(({ name }) => name).join(", ")}${group.description === "" ? "" : ` (${group.description})`}, ranks ${withoutSteps(group.ranks)}`,
                group.believed
                  ? `${formatCount(group.matched)} operations, ends within ${formatDuration(group.spread_ns)}`
                  : `Not matched: ${group.reason}`,
                `Transfer ${formatDuration(group.transfer_ns)}, waiting ${formatDuration(group.wait_ns)}`,
              ].join("\n")}
            >
              <strong>{group.kind === "" ? "Group" : group.kind.toUpperCase()}</strong>{" "}
              {job.knows_ranks ? withoutSteps(group.ranks) : formatCounted(group.size ?? 0, "process", "processes")}
              {group.inferred && group.kind !== "" && <span class="muted"> inferred</span>}
              {group.slow && <span> slow</span>}
              {!group.believed && <span> not matched{others.length > 0 && ` ×${others.length + 1}`}</span>}
            </li>
          ),
        )}
      </ul>
      {alike.size > MOST_GROUPS && (
        <p class="muted note-below">
          {MOST_GROUPS} of {formatCount(alike.size)} groups; slow ones and those that are not matched come first.
        </p>
      )}
    </Panel>
  );
}

function LeftOut({ job }: { job: RankJob }) {
  const { missing, left_out_texts: texts } = job;
  if (isAllMatched(job) && job.collectives.length > 0) return null;
  return (
    <Panel title="What Was Left Out" about="Enters no number of this page.">
      {texts.length === 0 && missing.count === 0 ? (
        <p class="muted">Nothing.</p>
      ) : (
        <ul class="rank-left-out">
          {missing.count > 0 && <li>{formatCounted(missing.count, "rank")} without a profile</li>}
          {texts.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
