import type { DashboardResponse } from "../../api/types";
import { Panel } from "../../components/panel";

/** What is known of the machine and the software; the server leaves out what is not. */
export function SystemConfiguration({ data }: { data: DashboardResponse }) {
  return (
    <Panel title="System Configuration">
      <dl class="properties">
        {data.system.map(({ key, label, value }) => (
          <div key={key}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
