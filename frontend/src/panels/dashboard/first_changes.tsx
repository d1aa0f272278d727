/** The three findings that gain most, and how many gain nothing, on a common scale of the step. */
import type { DashboardResponse, Diagnosis } from "../../api/types";
import { WhiskerBar } from "../../components/charts/whisker_bar";
import { CopyButton } from "../../components/copy_button";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import {
  countedFindings,
  WHOLE_JOB,
  firstClause,
  firstOf,
  gainTime,
  isExposed,
  mostShare,
  notesBeside,
  rangeText,
  scaleSaid,
  withoutGain,
  type FirstFinding,
} from "../../model/findings";
import { canPaste, wholeSentences, withCode } from "../../model/links";
import { hasGpuWork } from "../../model/headline";
import { longestLink, momentHead, momentsOf } from "../../model/moments";
import { blamedPart } from "../../model/parts";

const SHOWN = 3;
/** Of all actions together: more would have the card outgrow the chart beside it. */
const MOST_LETTERS = 420;

export function FirstChanges({ data, diagnosis }: { data: DashboardResponse; diagnosis: Diagnosis | null }) {
  const findings = diagnosis?.findings ?? [];
  const row = useOneStop<HTMLOListElement>();
  const said = data.recommendations;
  const count = diagnosis === null ? said.length : findings.length;
  const first = diagnosis === null ? [] : firstOf(findings, SHOWN, blamedPart(diagnosis));
  const told = first.flatMap(({ finding, others }) => [finding, ...others]);
  // What gains nothing fills the places that are left: of a line each, two take less than one.
  const notes = notesBeside(findings, told, 2 * (SHOWN - first.length));
  // The sentence above says that there is nothing to judge.
  if (count === 0 && !hasGpuWork(data)) return null;
  return (
    <Panel
      title="What to Change First"
      walked
      about={`DLProf's Recommendations. ${scaleSaid(diagnosis?.marked ?? true)}`}
      tools={
        count > 0 && (
          <ViewLink class="more-button" to={{ view: "recommendations" }}>
            {diagnosis === null ? `All ${count}` : countedFindings(findings)} <Icon name="right" />
          </ViewLink>
        )
      }
    >
      {count === 0 && <p class="nothing">Nothing was found; no rule saw time that could be gained.</p>}
      <ol class="changes" {...row}>
        {diagnosis === null
          ? said.slice(0, SHOWN).map(({ problem, recommendation }) => (
              <li key={problem} class="without-gain">
                <span>
                  <strong>
                    <Sentence text={problem} />
                  </strong>
                  <span class="change-text">
                    <Sentence text={recommendation} />
                  </span>
                </span>
              </li>
            ))
          : first.map((each) => (
              <Change key={each.finding.rule + each.finding.title} {...each} letters={MOST_LETTERS / first.length} />
            ))}
        {notes.map(({ rule, heading, title, action }) => (
          <li key={rule + title} class="without-gain muted" data-tip={`${title}\n${action}`}>
            <span>
              <ViewLink class="note-title" to={{ view: "recommendations", "findings.open": rule }}>
                {heading}
              </ViewLink>
              : <Sentence text={firstClause(title)} />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** A finding, of whose action no more than so many letters stand here. */
function Change({ finding, others: ways, letters }: FirstFinding & { letters: number }) {
  const { gain, heading, title, action, evidence } = finding;
  const [longest, ...others] = momentsOf(evidence);
  const moment = longestLink(evidence);
  const code = withCode(action);
  const low = gain?.low_ns ?? null;
  const high = gain?.high_ns ?? null;
  const most = mostShare(finding);
  const isKnown = gain !== null && low !== null && high !== null;
  const parts = isKnown
    ? [gainTime({ low_ns: low, high_ns: high }), rangeText(formatShare(gain.share_low), formatShare(gain.share_high))]
    : withoutGain(finding);
  return (
    <li>
      <span class="change-gain">
        {(isKnown || finding.share !== null) && (
          <WhiskerBar
            low={gain?.share_low ?? 0}
            high={gain?.share_high ?? most}
            about={isKnown || most > 0 ? 0 : (finding.share ?? 0)}
            label={`${isKnown ? "Could gain" : "About"}: ${parts.join(" · ")}`}
            to={moment}
          />
        )}
        <small class="muted" data-tip={gain?.cannot_tell ?? undefined}>
          {parts.map((part) => (
            <span key={part} class="gain-part">
              <Sentence text={part} />
            </span>
          ))}
        </small>
      </span>
      <span>
        <span class="change-head">
          <ViewLink class="change-title" to={{ view: "recommendations", "findings.open": finding.rule }}>
            {heading}
          </ViewLink>
          {finding.whole_job && (
            <ViewLink class="more-button" to={{ view: "gpus" }} tip={WHOLE_JOB}>
              Whole job <Icon name="right" />
            </ViewLink>
          )}
          {longest !== undefined && moment !== null && (
            <ViewLink
              class="more-button"
              to={moment}
              // Not to be taken for the page of that name.
              label={`Timeline: ${heading}`}
              tip={`${momentHead(others.length + 1, isExposed(finding))}: ${formatDuration(longest.to - longest.from)}, ${longest.full}`}
            >
              Timeline <Icon name="right" />
            </ViewLink>
          )}
        </span>
        <span class="change-text" data-tip={`${title}\n${action}`}>
          <span class="muted">
            <Sentence text={firstClause(title)} />
          </span>
          <br />
          <Sentence text={wholeSentences(code, letters)} />
          {canPaste(code) && <CopyButton text={action} what="what to do" />}
        </span>
        {ways.map(
          (other) =>
            other.gain?.high_ns != null && (
              <span key={other.rule} class="change-text" data-tip={`${other.title}\n${other.action}`}>
                or:{" "}
                <ViewLink class="change-title" to={{ view: "recommendations", "findings.open": other.rule }}>
                  {other.heading}
                </ViewLink>
                , {gainTime(other.gain)}
              </span>
            ),
        )}
      </span>
    </li>
  );
}
