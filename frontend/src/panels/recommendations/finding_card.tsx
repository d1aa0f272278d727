import type { Evidence, Finding } from "../../api/types";
import { ExternalLink, Linked } from "../../components/external_link";
import { Icon } from "../../components/icon";
import { Duration } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { useUrlSet } from "../../frame/url";
import { formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import { unbroken } from "../../format/sentence";
import { detectorName, EVIDENCE_LABELS, gainShare, gainTime, opening, SEVERITY_LABELS } from "../../model/findings";
import type { Changes } from "../../model/url_state";

interface FindingCardProps {
  finding: Finding;
  /** Its place in the list, from 1. */
  place: number;
  /** Where kernels are looked up. */
  firstIteration: number | null;
  manyGpus: boolean;
  /** Whether iterations are marked. */
  marked: boolean;
}

/** One finding: what it is and gains at the left, the reasoning and the evidence below. */
export function FindingCard({ finding, place, firstIteration, manyGpus, marked }: FindingCardProps) {
  const { detector, severity, confidence, problem, recommendation, gain, link, evidence } = finding;
  const [open, toggle] = useUrlSet("findings.open");
  const [closed, toggleClosed] = useUrlSet("findings.closed");
  const name = detectorName(detector);
  // The first one shows its evidence unasked.
  const shown = place === 1 ? !closed.has(detector) : open.has(detector);
  return (
    <article class={`panel finding finding-${severity}`} aria-label={name}>
      <div class="finding-gain">
        {gain === null ? (
          <span class="muted">Gain not known</span>
        ) : (
          <>
            <strong>{gainTime(gain)}</strong>
            <span>{gainShare(gain, marked)}</span>
          </>
        )}
      </div>
      <div class="finding-text">
        <p class="finding-kind">
          <span class={`finding-severity severity-${severity}`}>
            <Icon name={severity === "warning" ? "warning" : "info"} /> {SEVERITY_LABELS[severity]}
          </span>
          <span>{name}</span>
          <span class="muted">Confidence: {confidence}</span>
        </p>
        <h2>{unbroken(problem)}</h2>
        <p class="finding-advice">
          <Linked text={unbroken(recommendation)} />{" "}
          {link !== "" && !recommendation.includes(link) && <ExternalLink href={link}>Read more</ExternalLink>}
        </p>
        {gain !== null && gain.reasoning !== "" && (
          <p class="muted finding-reasoning">
            <strong>How the gain is estimated.</strong> {unbroken(gain.reasoning)}
          </p>
        )}
        {evidence.length > 0 && (
          <details class="finding-evidence" open={shown}>
            <summary
              onClick={(event) => {
                // The URL opens it; what is seen to be open then stays so in a link.
                event.preventDefault();
                if (place === 1) toggleClosed(detector);
                else toggle(detector);
              }}
            >
              Evidence: {evidenceCount(evidence)}
            </summary>
            <EvidenceTable rows={evidence} firstIteration={firstIteration} manyGpus={manyGpus} name={name} />
          </details>
        )}
      </div>
    </article>
  );
}

/** The server sends no more rows of a finding. */
const MOST_ROWS = 20;

function evidenceCount(rows: readonly Evidence[]): string {
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return kinds
    .map((kind) => {
      const count = rows.filter((row) => row.kind === kind).length;
      const noun = headOf(kind, true);
      return `${rows.length === MOST_ROWS ? "the first " : ""}${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
    })
    .join(", ");
}

/** `Op`, or `Source line, op or kernel` where rows are of several kinds. */
function evidenceHead(rows: readonly Evidence[]): string {
  const heads = [...new Set(rows.map(({ kind }) => kind))].map((kind, i) => headOf(kind, i > 0));
  return heads.length < 2 ? heads.join("") : `${heads.slice(0, -1).join(", ")} or ${heads.at(-1) ?? ""}`;
}

/** Within a sentence in small letters, but for names. */
function headOf(kind: Evidence["kind"], within: boolean): string {
  const { head } = EVIDENCE_LABELS[kind];
  return within && !/^(?:GPU|API|Python)/.test(head) ? head.toLowerCase() : head;
}

interface EvidenceTableProps {
  rows: readonly Evidence[];
  firstIteration: number | null;
  manyGpus: boolean;
  name: string;
}

function EvidenceTable({ rows, firstIteration, manyGpus, name }: EvidenceTableProps) {
  const counted = rows.some(({ count }) => count !== null);
  const detailed = rows.some(({ detail }) => detail !== "");
  const timed = rows.some(({ time_ns: time }) => (time ?? 0) > 0);
  const shared = rows.some(({ fraction }) => fraction !== null);
  return (
    <div class="evidence-scroll" tabIndex={0} role="region" aria-label={`Evidence: ${name}`}>
      <table class="plain-table evidence">
        <thead>
          <tr>
            <th scope="col">{evidenceHead(rows)}</th>
            {detailed && <th scope="col">Detail</th>}
            {counted && (
              <th scope="col" class="right">
                Count
              </th>
            )}
            {timed && (
              <th scope="col" class="right" data-tip="Of all aggregated iterations together">
                Time
              </th>
            )}
            {shared && (
              <th scope="col" class="right" data-tip="Of the time that this finding is about, on the first GPU in use">
                Share
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.kind} ${row.key} ${row.detail}`}>
              <td>
                <Key row={row} to={row.kind === "device" && !manyGpus ? null : opening(row, firstIteration)} />
              </td>
              {detailed && <td>{row.detail}</td>}
              {counted && <td class="right number">{row.count === null ? "" : formatCount(row.count)}</td>}
              {timed && (
                <td class="right">
                  <Duration ns={row.time_ns} />
                </td>
              )}
              {shared && <td class="right number">{row.fraction === null ? "" : formatShare(row.fraction)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The name of the evidence, which opens the view that shows it. */
function Key({ row, to }: { row: Evidence; to: Changes | null }) {
  const text =
    row.kind === "iteration" || row.kind === "device" ? `${EVIDENCE_LABELS[row.kind].head} ${row.key}` : row.key;
  if (to === null) return <span class="evidence-key">{text}</span>;
  return (
    <ViewLink class="link-button evidence-key" tip={`Open in ${EVIDENCE_LABELS[row.kind].opens}`} to={to}>
      {text}
    </ViewLink>
  );
}
