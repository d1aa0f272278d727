/** What to change, in the order in which to work on it, and what that would gain; at the end what gains no time, and what could not be decided. */
import { Fragment, type ComponentChildren } from "preact";

import { fetchFindings } from "../../api/client";
import type { DashboardResponse, DiagnosedFinding, Diagnosis, Finding, FindingsResponse } from "../../api/types";
import { ErrorBox, Loading, Message } from "../../components/message";
import { Panel } from "../../components/panel";
import { Headline, Sentence } from "../../components/sentence";
import { ViewLink } from "../../components/view_link";
import { scopeKey, useScope } from "../../frame/scope";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useQuery } from "../../frame/use_query";
import { formatDuration } from "../../format/time";
import { hasGpuWork, hasOps, whyNoKernels } from "../../model/headline";
import { countedFindings, isNote, isToWeigh, sameTime } from "../../model/findings";
import { CompareNote } from "../dashboard/rank_note";
import { FindingCard, Notes } from "./finding_card";

/** A finding of the database's own detectors in the form of the diagnosis. */
const asDiagnosed = ({ detector, problem, recommendation, gain, evidence, ...rest }: Finding): DiagnosedFinding => ({
  ...rest,
  rule: detector,
  cause: "",
  title: problem,
  action: recommendation,
  part: null,
  time_ns: null,
  share: null,
  per: "iteration",
  overlaps_with: [],
  missing_work: null,
  gain:
    gain === null
      ? null
      : {
          low_ns: gain.low_ns,
          high_ns: gain.high_ns,
          share_low: gain.low_fraction,
          share_high: gain.high_fraction,
          how: gain.reasoning,
          cannot_tell: null,
          most_ns: null,
          none_while: null,
        },
  evidence: evidence.map(({ kind, key, time_ns, count, detail }) => ({
    path: key,
    call: null,
    kind,
    op: kind === "op" ? key : null,
    device: null,
    count,
    time_ns,
    iteration: null,
    from_ns: null,
    to_ns: null,
    detail,
  })),
});

export function Recommendations({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const query = useQuery<FindingsResponse>(scopeKey(scope), (signal) => fetchFindings(scope, signal));
  const diagnosed = useDiagnosis();
  const judged = query.data;
  const diagnosis = diagnosed.data === null || diagnosed.data.devices.length === 0 ? null : diagnosed.data;
  const findings = diagnosis?.findings ?? judged?.findings.map(asDiagnosed) ?? [];
  if (judged === null || (diagnosed.data === null && diagnosed.loading))
    return query.error === null ? (
      <Loading what="recommendations" />
    ) : (
      <ErrorBox error={query.error} retry={query.reload} />
    );
  const first = data.iterations.rows.find(({ profiled }) => profiled)?.iteration ?? null;
  const changes = findings.filter((finding) => !isNote(finding));
  const shared = {
    firstIteration: first,
    marked: diagnosis?.marked ?? judged.marked,
    manyGpus: data.gpu_utilization.devices.length > 1,
  };
  const card = (finding: DiagnosedFinding, i: number) => (
    <Fragment key={finding.rule + finding.title}>
      {isToWeigh(finding) && !changes.slice(0, i).some(isToWeigh) && (
        <h2 class="findings-part">To weigh: these change results, too</h2>
      )}
      <FindingCard finding={finding} same={sameTime(finding, changes.slice(0, i))} {...shared} />
    </Fragment>
  );
  const gains = findings.some(({ gain }) => gain?.high_ns != null);
  if (judged.judged && findings.length === 0 && !hasGpuWork(data))
    return (
      <div class="findings">
        <NothingToJudge data={data} headline={diagnosed.data?.headline ?? ""} />
        <Undecided rules={judged.undecided.filter(({ detector }) => detector !== NO_WORK)} />
      </div>
    );
  return (
    <div class="findings">
      <Summary findings={findings} gains={gains} diagnosis={diagnosis}>
        <CompareNote profile={data.profile} />
      </Summary>
      {!judged.judged && (
        <Message icon="warning" title="The rules could not be run">
          <p>
            {findings.length > 0 && "These are the findings that were stored with it. "}
            The server could not look this database over; its log says why.
          </p>
          <button type="button" class="button" onClick={query.reload}>
            Try again
          </button>
        </Message>
      )}
      {judged.judged && findings.length === 0 && (
        <Message icon="check" title="Nothing to recommend">
          <p>
            No rule found time that could be gained.
            {judged.undecided.length > 0 && " What is missing is listed below."}
          </p>
        </Message>
      )}
      {changes.map(card)}
      <Notes findings={findings.filter(isNote)} {...shared} />
      <Undecided rules={judged.undecided} />
    </div>
  );
}

/** The rule that says of a recording without GPU work that it lacks it, as the card does. */
const NO_WORK = "coverage_detector";

/** What can be told of a recording of the host alone, and what to record for the rest. */
function NothingToJudge({ data, headline }: { data: DashboardResponse; headline: string }) {
  return (
    <Message icon="info" title="No GPU work to judge">
      <p>
        <Headline text={headline || "This recording holds no GPU work."} /> <Sentence text={whyNoKernels(data)} />
      </p>
      {hasOps(data) && (
        <p>
          Every rule is about the time of GPUs; what takes the time of the host is on{" "}
          <ViewLink class="link-button" to={{ view: "ops" }}>
            Ops
          </ViewLink>
          .
        </p>
      )}
    </Message>
  );
}

function Summary({
  findings,
  gains,
  diagnosis,
  children,
}: {
  findings: readonly DiagnosedFinding[];
  gains: boolean;
  diagnosis: Diagnosis | null;
  /** What is not among the findings yet. */
  children: ComponentChildren;
}) {
  return (
    <header class="headline">
      <h2>
        <strong>{countedFindings(findings) || "No finding"}</strong>
        {diagnosis !== null && (
          <>
            {" "}
            in {diagnosis.marked ? "an iteration of" : "the"}{" "}
            <strong class="nowrap">{formatDuration(diagnosis.mean.wall_ns)}</strong>
            {!diagnosis.marked && " from first to last GPU work"}
          </>
        )}
        .
      </h2>
      <p class="model-line finding-scale">
        {gains && (
          <>
            <span>Bars are shares of {(diagnosis?.marked ?? true) ? "an iteration" : "that time"}:</span>
            <span>
              <span class="swatch whisker-low" /> gained at least
            </span>
            <span>
              <span class="swatch whisker-high" /> at most
            </span>
            {findings.some(({ gain, share }) => (gain?.high_ns ?? gain?.most_ns) == null && (share ?? 0) > 0) && (
              <span>
                <span class="swatch whisker-about" /> what it is about, no gain known
              </span>
            )}
          </>
        )}
        {!gains && findings.some((each) => !isNote(each)) && (
          <span>The recording does not show what would be gained.</span>
        )}
        {children}
      </p>
    </header>
  );
}

function Undecided({ rules }: { rules: FindingsResponse["undecided"] }) {
  if (rules.length === 0) return null;
  return (
    <Panel title="Not Decided" about="Rules that could not decide, because the recording lacks what they need.">
      <ul class="undecided">
        {rules.map(({ detector, heading, missing, hint }) => (
          <li key={detector}>
            <strong>{heading}</strong>
            <span>
              Not known: {missing}. <span class="muted">{hint}</span>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
