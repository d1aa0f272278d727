import type { DashboardResponse } from "../../api/types";
import { Panel } from "../../components/panel";

export function SystemConfiguration({ data }: { data: DashboardResponse }) {
  const known = data.system.filter(({ value }) => value !== "");
  return (
    <Panel title="System Configuration">
      {known.length === 0 ? (
        <p class="nothing">The recording does not say on what it was made.</p>
      ) : (
        <dl class="properties">
          {known.map(({ key, label, value }) => (
            <div key={key}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Panel>
  );
}
