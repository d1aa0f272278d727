import { fetchFindings } from "../../api/client";
import type { DashboardResponse, Finding, FindingsResponse } from "../../api/types";
import { Linked } from "../../components/external_link";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { unbroken } from "../../format/sentence";
import { gainShare, gainTime } from "../../model/findings";

const SHOWN = 3;

/** The findings that gain most, with what they gain; until they are known, and where they cannot be, the sentences alone. */
export function Recommendations({ data }: { data: DashboardResponse }) {
  const scope = useScope();
  const query = useQuery<FindingsResponse>(scopeKey(scope), (signal) => fetchFindings(scope, signal));
  if (data.recommendations.length === 0 && (query.data?.findings.length ?? 0) === 0) return null;
  const all: readonly Pick<Finding, "problem" | "recommendation" | "gain">[] =
    query.data?.findings ?? data.recommendations.map((each) => ({ ...each, gain: null }));
  const marked = query.data?.marked ?? true;
  return (
    <Panel
      title="Recommendations"
      class="span-all"
      tools={
        <button type="button" class="more-button" onClick={() => navigate({ view: "recommendations" }, true)}>
          {all.length > SHOWN ? `All ${all.length}` : "Evidence and reasoning"} <Icon name="right" />
        </button>
      }
    >
      <dl class="recommendations">
        {all.slice(0, SHOWN).map(({ problem, recommendation, gain }) => (
          <div key={problem}>
            <dt>{unbroken(problem)}</dt>
            {gain !== null && (
              <dd class="recommendation-gain">
                Could gain <strong>{gainTime(gain)}</strong>
                {gainShare(gain, marked) !== "" && `, ${gainShare(gain, marked)}`}.
              </dd>
            )}
            <dd>
              <Linked text={unbroken(recommendation)} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
