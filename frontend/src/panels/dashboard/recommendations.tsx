import type { DashboardResponse } from "../../api/types";
import { Linked } from "../../components/external_link";
import { Panel } from "../../components/panel";

/** What the analysis found and advises; nothing where it found nothing. */
export function Recommendations({ data }: { data: DashboardResponse }) {
  if (data.recommendations.length === 0) return null;
  return (
    <Panel title="Recommendations" class="span-all">
      <dl class="recommendations">
        {data.recommendations.map(({ problem, recommendation }) => (
          <div key={problem}>
            <dt>{problem}</dt>
            <dd>
              <Linked text={recommendation} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
