/** The three findings that gain most, on a common scale of the step. */
import type { DashboardResponse, Diagnosis, DiagnosedFinding } from "../../api/types";
import { WhiskerBar } from "../../components/charts/whisker_bar";
import { Icon } from "../../components/icon";
import { lazyView } from "../../components/lazy_view";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";
import { ViewLink } from "../../components/view_link";
import { formatShare } from "../../format/share";
import { hasGpuWork } from "../../model/headline";
import { gainTime, rangeText } from "../../model/findings";
import { longestLink } from "../../model/moments";

const SHOWN = 3;

// On demand: the Dashboard must not wait for the timeline.
const Moment = lazyView("the timeline", async () => (await import("../../components/timeline/moment_strip")).Worst);

const isTimed = ({ evidence }: DiagnosedFinding): boolean => evidence.some(({ from_ns: from }) => from !== null);

export function FirstChanges({ data, diagnosis }: { data: DashboardResponse; diagnosis: Diagnosis | null }) {
  const findings = diagnosis?.findings ?? [];
  // The first that is about a time is shown at its worst moment.
  const timed = findings.slice(0, SHOWN).find(isTimed);
  const said = data.recommendations;
  const count = diagnosis === null ? said.length : findings.length;
  return (
    <Panel
      title="What to Change First"
      about="DLProf's Recommendations. The bar is what a step could become shorter by, on the scale of the whole step: at least its dark part, at most all of it."
      tools={
        count > 0 && (
          <ViewLink class="more-button" to={{ view: "recommendations" }}>
            All {count} <Icon name="right" />
          </ViewLink>
        )
      }
    >
      {count === 0 ? (
        <p class="nothing">
          {hasGpuWork(data)
            ? "Nothing was found; no rule saw time that could be gained."
            : "Nothing to judge: this recording holds no GPU work."}
        </p>
      ) : (
        <ol class="changes">
          {diagnosis === null
            ? said.slice(0, SHOWN).map(({ problem, recommendation }) => (
                <li key={problem} class="without-gain">
                  <span>
                    <strong>
                      <Sentence text={problem} />
                    </strong>
                    <span class="change-action">
                      <Sentence text={recommendation} />
                    </span>
                  </span>
                </li>
              ))
            : findings
                .slice(0, SHOWN)
                .map((finding) => (
                  <Change key={finding.rule + finding.title} finding={finding} drawn={finding === timed} />
                ))}
        </ol>
      )}
    </Panel>
  );
}

function Change({ finding, drawn }: { finding: DiagnosedFinding; drawn: boolean }) {
  const { gain, heading, title, action, evidence } = finding;
  const low = gain?.low_ns ?? null;
  const high = gain?.high_ns ?? null;
  const parts =
    gain !== null && low !== null && high !== null
      ? [gainTime({ low_ns: low, high_ns: high }), rangeText(formatShare(gain.share_low), formatShare(gain.share_high))]
      : [gain === null ? "no gain in time" : "gain not known"];
  return (
    <li>
      <span class="change-gain">
        <WhiskerBar
          low={gain?.share_low ?? 0}
          high={gain?.share_high ?? 0}
          label={`Could gain: ${parts.join(" · ")}`}
          to={longestLink(evidence)}
        />
        <small class="muted">
          {parts.map((part) => (
            <span key={part} class="gain-part">
              <Sentence text={part} />
            </span>
          ))}
        </small>
      </span>
      <span>
        <ViewLink class="change-title" to={{ view: "recommendations", "findings.open": finding.rule }}>
          {heading}
        </ViewLink>
        <span class="change-problem" data-tip={title}>
          <Sentence text={title} />
        </span>
        <span class="change-action" data-tip={action}>
          <Sentence text={action} />
        </span>
        {isTimed(finding) && (
          <div class={drawn ? "change-moment drawn" : "change-moment"}>
            <Moment evidence={evidence} drawn={drawn} />
          </div>
        )}
      </span>
    </li>
  );
}
