import type { DashboardResponse, FindingsResponse } from "../../api/types";
import { Linked } from "../../components/external_link";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { ViewLink } from "../../components/view_link";
import { unbroken } from "../../format/sentence";
import { advice, gainShare, gainTime } from "../../model/findings";

const SHOWN = 3;

/** The findings that gain most, with what they gain; until they are known, and where they cannot be, the sentences alone. */
export function Recommendations({ data, findings }: { data: DashboardResponse; findings: FindingsResponse | null }) {
  const all = advice(data, findings);
  if (all.length === 0) return null;
  const marked = findings?.marked ?? true;
  return (
    <Panel
      title="Recommendations"
      class="span-all"
      tools={
        <ViewLink class="more-button" to={{ view: "recommendations" }}>
          {all.length > SHOWN ? `All ${all.length}` : "Evidence and reasoning"} <Icon name="right" />
        </ViewLink>
      }
    >
      <dl class="recommendations">
        {all.slice(0, SHOWN).map(({ problem, recommendation, gain }) => (
          <div key={problem}>
            <dt>{unbroken(problem)}</dt>
            {gain !== null && (
              <dd>
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
