import type { ComponentChildren } from "preact";

import type { DashboardResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { Info } from "../../components/tooltip";
import { Duration } from "../../components/value";
import { formatCount, UNKNOWN } from "../../format/number";
import { formatSpread, readableAndExact } from "../../format/time";
import { useOneStop } from "../../components/walking";

interface Fact {
  term: string;
  about: string;
  value: ComponentChildren;
  note?: { text: string; tip: string };
}

const count = (value: number | null): ComponentChildren =>
  value === null ? <span class="unknown">{UNKNOWN}</span> : formatCount(value);

/** Those of DLProf's numbers that no panel beside it has: GPU Utilization and Kernel Efficiency stand in panels of these names. */
function facts(data: DashboardResponse): Fact[] {
  const { performance: performed } = data;
  const spread = performed.iteration_std_dev_ns;
  return [
    {
      term: "Wall Clock Time",
      about:
        "From the start of the first to the end of the last aggregated iteration. For the same work, lower is better.",
      value: <Duration ns={performed.wall_clock_ns} />,
    },
    {
      term: "Average Iteration Time",
      about: `Wall clock time divided by the number of profiled iterations: ${readableAndExact(performed.wall_clock_ns)} / ${formatCount(performed.profiled_iterations)}. Lower is better.`,
      value: <Duration ns={performed.average_iteration_ns} />,
      ...(spread === null || (performed.profiled_iterations ?? 0) < 2
        ? {}
        : {
            note: {
              text: formatSpread(spread, performed.average_iteration_ns ?? 0),
              tip: "Standard deviation of the iterations' durations",
            },
          }),
    },
    {
      term: "Profiled Iterations",
      about: "Iterations whose numbers are aggregated on this page.",
      value: count(performed.profiled_iterations),
    },
    {
      term: "Total Iterations",
      about: "Iterations found in the whole recording.",
      value: count(performed.total_iterations),
    },
    {
      term: "Start Iteration",
      about: "The first iteration that is aggregated. Leave out warm-up for honest averages.",
      value: count(performed.iter_start),
    },
    { term: "Stop Iteration", about: "The last iteration that is aggregated.", value: count(performed.iter_stop) },
  ];
}

export function PerformanceSummary({ data }: { data: DashboardResponse }) {
  const row = useOneStop<HTMLDListElement>();
  return (
    <Panel title="Performance Summary">
      <dl class="facts" {...row}>
        {facts(data).map(({ term, about, value, note }) => (
          <div class="fact" key={term}>
            <dt>
              {term} <Info term={term} text={about} />
            </dt>
            <dd>
              {note !== undefined && (
                <small class="muted" data-tip={note.tip}>
                  {note.text}
                </small>
              )}
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
