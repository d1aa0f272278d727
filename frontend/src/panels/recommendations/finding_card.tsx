import { useState } from "preact/hooks";

import type { DiagnosedEvidence, DiagnosedFinding, EvidenceKind } from "../../api/types";
import { PlainHead, atRight } from "../../components/plain_head";
import { WhiskerBar } from "../../components/charts/whisker_bar";
import { MomentLinks, MomentStrip } from "../../components/timeline/moment_strip";
import { CopyButton } from "../../components/copy_button";
import { FindingGain } from "../../components/finding_gain";
import { ExternalLink } from "../../components/external_link";
import { Breakable, Sentence } from "../../components/sentence";
import { TimeIn, WrappingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { Panel } from "../../components/panel";
import { WaitNote } from "../../components/wait_note";
import { useOneStop } from "../../components/walking";
import { useUrlSet } from "../../frame/url";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare } from "../../format/share";
import { unitOf, type TimeUnit } from "../../format/time";
import {
  CONFIDENCE,
  WHOLE_JOB,
  EVIDENCE_LABELS,
  gainTime,
  isExposed,
  opening,
  rangeText,
  wholeOf,
  mostShare,
  withoutGain,
  withoutGainWhy,
} from "../../model/findings";
import { canPaste, withCode } from "../../model/links";
import { longestLink, momentOf, momentsOf } from "../../model/moments";
import { shortPath } from "../../model/short_place";
import { evidenceLink } from "../../model/timeline_link";
import type { Changes } from "../../model/url_state";

interface FindingCardProps {
  finding: DiagnosedFinding;
  /** The findings before it that are about the same time. */
  same: readonly DiagnosedFinding[];
  /** Where kernels are looked up. */
  firstIteration: number | null;
  manyGpus: boolean;
  /** Whether iterations are marked. */
  marked: boolean;
  /** Of what all findings gain. */
}

/** One finding: what it gains on the scale of the step, what it is, what to do; how that is known stands behind a disclosure. */
export function FindingCard({ finding, same, firstIteration, manyGpus, marked }: FindingCardProps) {
  const { rule, heading, confidence, title, gain, evidence, whole_job: wholeJob } = finding;
  const [open] = useUrlSet("findings.open");
  const shown = open.has(rule);
  const moments = momentsOf(evidence);
  const untold = withoutGainWhy(gain);
  // Where there is room for it beside the words, each finding shows its picture; elsewhere, where more of it is asked for.
  const [besides] = useState(() => window.matchMedia("(width >= 1000px)").matches);
  return (
    <article class="panel finding" aria-label={heading}>
      <Gain finding={finding} whole={wholeOf(marked)} />
      <div class="finding-text">
        <header class="finding-head">
          <h2>{heading}</h2>
          {same.map((other) => (
            <span key={other.rule} class="muted" data-tip="Both are about the same time: their gains do not add up">
              overlaps “{other.heading}”
            </span>
          ))}
          {wholeJob && (
            <ViewLink class="link-button" to={{ view: "gpus" }} tip={WHOLE_JOB}>
              whole job
            </ViewLink>
          )}
          <span class="badge" data-tip={CONFIDENCE}>
            confidence {confidence}
          </span>
        </header>
        <p class="finding-title">
          <Sentence text={title} />
        </p>
        <Action finding={finding} />
        <WaitNote rule={rule} />
        {untold !== "" && (
          <p class="muted">
            <Sentence text={untold} />
          </p>
        )}
        {moments.length > 0 && (
          <div class="finding-picture">
            {(shown || besides) && <MomentStrip moments={moments} />}
            <MomentLinks moments={moments} exposed={isExposed(finding)} each={marked && finding.per !== "once"} />
          </div>
        )}
        <Proof finding={finding} {...{ firstIteration, manyGpus, marked }} />
      </div>
    </article>
  );
}

/** What to do. What can be pasted can be copied. */
function Action({ finding: { action, link } }: { finding: DiagnosedFinding }) {
  const row = useOneStop<HTMLParagraphElement>();
  const text = withCode(action);
  return (
    <p class="finding-action" {...row}>
      <Sentence text={text} />{" "}
      {link && !action.includes(link) && <ExternalLink href={link}>{"Read\u00a0more"}</ExternalLink>}
      {canPaste(text) && <CopyButton text={action} what="what to do" />}
    </p>
  );
}

type ProofProps = Pick<FindingCardProps, "finding" | "firstIteration" | "manyGpus" | "marked">;

/** How a finding is known, behind a disclosure; nothing where nothing more is to be said. */
function Proof({ finding, firstIteration, manyGpus, marked }: ProofProps) {
  const { rule, heading, gain, evidence } = finding;
  const [open, toggle] = useUrlSet("findings.open");
  const why = gain?.how ?? "";
  if (evidence.length === 0 && why === "") return null;
  return (
    <details class="finding-evidence" open={open.has(rule)}>
      <summary
        onClick={(event) => {
          // The URL opens it; what is seen to be open then stays so in a link.
          event.preventDefault();
          toggle(rule);
        }}
      >
        {why === "" ? "" : "How the gain is estimated"}
        {why !== "" && evidence.length > 0 && ", and "}
        {evidence.length > 0 && `${why === "" ? "Evidence" : "evidence"}: ${formatCounted(evidence.length, "row")}`}
      </summary>
      {why !== "" && (
        <p class="muted finding-reasoning">
          <Sentence text={why} />
        </p>
      )}
      {evidence.length > 0 && (
        <EvidenceTable
          rows={evidence}
          firstIteration={firstIteration}
          manyGpus={manyGpus}
          name={heading}
          each={marked && finding.per !== "once"}
        />
      )}
    </details>
  );
}

/** Findings that ask for little, a line each. */
export function Notes({ findings, ...rest }: { findings: readonly DiagnosedFinding[] } & Omit<ProofProps, "finding">) {
  if (findings.length === 0) return null;
  return (
    <Panel title="Also" about="What gains no time by itself.">
      <ul class="finding-notes">
        {findings.map((finding) => (
          <li key={finding.rule + finding.title}>
            <strong>{finding.heading}</strong>
            <div>
              <p class="finding-title">
                <Sentence text={finding.title} />
              </p>
              <Action finding={finding} />
              <WaitNote rule={finding.rule} />
              <Proof finding={finding} {...rest} />
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What a finding gains; else the time that it is about. */
function Gain({ finding, whole }: { finding: DiagnosedFinding; whole: string }) {
  const { gain, evidence, share: about } = finding;
  const to = longestLink(evidence);
  const low = gain?.low_ns ?? null;
  const high = gain?.high_ns ?? null;
  if (gain === null || low === null || high === null) {
    const words = withoutGain(finding);
    const most = mostShare(finding);
    return (
      <div class="finding-gain">
        {about !== null && about > 0 && (
          <WhiskerBar low={0} high={most} about={most > 0 ? 0 : about} label={`About ${words.join(": ")}`} to={to} />
        )}
        {words.map((each) => (
          <span key={each} class="muted">
            {each}
          </span>
        ))}
      </div>
    );
  }
  const time = gainTime({ low_ns: low, high_ns: high });
  return (
    <FindingGain
      low={gain.share_low ?? 0}
      high={gain.share_high ?? 0}
      time={time}
      share={rangeText(formatShare(gain.share_low), formatShare(gain.share_high))}
      of={whole}
      to={to}
    />
  );
}

interface EvidenceTableProps {
  rows: readonly DiagnosedEvidence[];
  firstIteration: number | null;
  manyGpus: boolean;
  name: string;
  /** Whether counts and times are of an iteration: not of what happens once, or where none are marked. */
  each: boolean;
}

const kindOf = ({ kind }: DiagnosedEvidence): EvidenceKind | null =>
  kind in EVIDENCE_LABELS ? (kind as EvidenceKind) : null;

/** What a row opens: the op, the kernels of an iteration, the iteration, the GPUs. */
function target(row: DiagnosedEvidence, firstIteration: number | null, manyGpus: boolean): Changes | null {
  const kind = row.op != null ? "op" : kindOf(row);
  if (kind === null || (kind === "device" && !manyGpus)) return null;
  return opening({ kind, key: row.op ?? row.path }, firstIteration);
}

/** So many leave the next finding in sight. */
const SOME_ROWS = 8;

function EvidenceTable({ rows, firstIteration, manyGpus, name, each }: EvidenceTableProps) {
  const walked = useOneStop<HTMLTableSectionElement>();
  const counted = rows.some(({ count }) => count !== null);
  const called = rows.some(({ call }) => (call ?? "") !== "");
  const timed = rows.some(({ time_ns: time }) => (time ?? 0) > 0);
  const unit = unitOf(rows.map(({ time_ns: time }) => time));
  const onSeveral = new Set(rows.map(({ device }) => device)).size > 1;
  const [all, showAll] = useState(rows.length <= SOME_ROWS + 1);
  const inEach = each ? " per iteration" : "";
  const titles = [
    "Where",
    ...(called ? ["Call"] : []),
    ...atRight(
      ...(onSeveral ? ["GPU"] : []),
      ...(counted ? [`Count${inEach}`] : []),
      ...(timed ? [`Time (${unit.name})${inEach}`] : []),
    ),
  ];
  return (
    <div class="evidence-scroll" tabIndex={0} role="region" aria-label={`Evidence: ${name}`}>
      <table class="plain-table evidence">
        <PlainHead titles={titles} />
        <tbody {...walked}>
          {(all ? rows : rows.slice(0, SOME_ROWS)).map((row, i) => (
            <tr key={i}>
              <td>
                <Where row={row} to={target(row, firstIteration, manyGpus)} />
                {/* What stands there already says nothing more. */}
                {(row.detail ?? "") !== "" && row.detail !== row.path && row.detail !== row.call && (
                  <small class="muted evidence-detail">
                    <Sentence text={row.detail ?? ""} />
                  </small>
                )}
              </td>
              {called && (
                <td class="evidence-call" data-tip={row.call ?? undefined}>
                  {row.call ?? ""}
                </td>
              )}
              {onSeveral && <td class="right number">{row.device ?? ""}</td>}
              {counted && <td class="right number">{row.count === null ? "" : formatCount(row.count)}</td>}
              {timed && (
                <td class="right">{row.time_ns === null ? "" : <Time row={row} ns={row.time_ns} unit={unit} />}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {!all && (
        <button type="button" class="link-button" onClick={() => showAll(true)}>
          Show all {rows.length} rows
        </button>
      )}
    </div>
  );
}

/** A time of the evidence; where it has a moment, it leads there. */
function Time({ row, ns, unit }: { row: DiagnosedEvidence; ns: number; unit: TimeUnit }) {
  const moment = momentOf(row);
  if (moment === null) return <TimeIn ns={ns} unit={unit} />;
  return (
    <ViewLink class="link-button" to={evidenceLink(moment.from, moment.to, moment.device)}>
      <TimeIn ns={ns} unit={unit} />
    </ViewLink>
  );
}

/** The path or name of the evidence, which opens the page that shows it. */
function Where({ row, to }: { row: DiagnosedEvidence; to: Changes | null }) {
  const kind = kindOf(row);
  const path = row.path;
  const text =
    kind === "iteration" || kind === "device" ? (
      `${EVIDENCE_LABELS[kind].head} ${path}`
    ) : row.op != null ? (
      // Of several ops, the line below names one as an example.
      <WrappingPath
        path={path}
        short={shortPath(path)}
        id={(row.detail ?? "").includes(`e.g. ${row.op}`) ? "" : row.op}
      />
    ) : path.startsWith("/") ? (
      <WrappingPath path={path} short={shortPath(path)} />
    ) : (
      <Breakable text={path} />
    );
  if (to === null) return <span class="evidence-key">{text}</span>;
  return (
    <ViewLink class="link-button evidence-key" tip={`Open in ${EVIDENCE_LABELS[kind ?? "op"].opens}`} to={to}>
      {text}
    </ViewLink>
  );
}
