import type { EfficiencyResponse } from "../../api/types";
import { Panel } from "../../components/panel";

/** What this recording cannot tell, and what would bring it; nothing where it tells all. */
export function Missing({ rates }: { rates: EfficiencyResponse }) {
  if (rates.missing.length === 0) return null;
  return (
    <Panel title="Not Known Here">
      <dl class="missing">
        {rates.missing.map(({ what, hint }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd class="muted">{hint}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
