import type { DashboardResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { Properties } from "../../components/properties";

/** What is known of the machine and the software; the server leaves out what is not. */
export function SystemConfiguration({ data }: { data: DashboardResponse }) {
  return (
    <Panel title="System Configuration">
      <Properties rows={data.system.map(({ label, value }) => [label, value])} />
    </Panel>
  );
}
