import type { EfficiencyResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";

/** What is not known of this recording, and what would bring it; nothing where all is known. */
export function Missing({ rates }: { rates: EfficiencyResponse }) {
  // What the heading says already is not said twice.
  const missing = rates.missing.filter(({ hint }) => hint !== rates.hint);
  if (missing.length === 0) return null;
  return (
    <Panel title="Not Known Here">
      <dl class="missing">
        {missing.map(({ what, hint }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd class="muted">
              <Sentence text={hint} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
