import type { ComponentChildren } from "preact";

import type { DashboardResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { Info } from "../../components/tooltip";
import { Duration, Share } from "../../components/value";
import { formatCount, UNKNOWN } from "../../format/number";
import { formatDuration, readableAndExact } from "../../format/time";
import { devicesInUse, hasKernels, hasOps } from "../../model/headline";
import { useOneStop } from "../../components/walking";

interface Fact {
  term: string;
  about: string;
  value: ComponentChildren;
  note?: { text: string; tip: string };
}

const count = (value: number | null): ComponentChildren =>
  value === null ? <span class="unknown">{UNKNOWN}</span> : formatCount(value);

function facts(data: DashboardResponse): Fact[] {
  const { performance: performed, gpu_utilization: used, tensor_core_efficiency: efficient, matrix_unit: unit } = data;
  const gpus = devicesInUse(data).length;
  const noKernels = !hasKernels(data);
  const spread = performed.iteration_std_dev_ns;
  const utilization = `${readableAndExact(used.busy_ns)} with at least one kernel running, of ${readableAndExact(used.wall_ns)} wall clock time`;
  const untold = efficient.unknown_ns ?? 0;
  const efficiency = `${readableAndExact(efficient.tensor_core_ns)} in ${unit} kernels, of ${readableAndExact(efficient.kernel_ns)} in all kernels, both in eligible ops`;
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
            note: { text: `± ${formatDuration(spread)}`, tip: "Standard deviation of the iterations' durations" },
          }),
    },
    {
      term: "GPU Utilization",
      about: `${utilization}${gpus > 1 ? `, as the mean over the ${gpus} GPUs in use` : ""}. Higher is better.`,
      value: <Share fraction={used.fraction} of={utilization} none={noKernels ? "no kernels" : UNKNOWN} />,
    },
    {
      term: `${unit} Kernel Efficiency`,
      about:
        efficient.fraction === null && untold === 0
          ? `GPU time of ${unit} kernels, over GPU time of all kernels, both in ops that are eligible for ${unit}s. No op is known to be eligible here, or none has kernels. Higher is better.`
          : `${efficiency}. Higher is better.`,
      value: (
        <Share
          fraction={efficient.fraction}
          of={efficiency}
          none={
            !hasOps(data)
              ? "no ops recorded"
              : data.model.eligible_ops === 0
                ? "no eligible op"
                : noKernels
                  ? "no kernels"
                  : UNKNOWN
          }
        />
      ),
      ...(efficient.fraction !== null && untold > 0
        ? {
            note: { text: "at least", tip: `Not known for ${readableAndExact(untold)} of these kernels` },
          }
        : {}),
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
    <Panel title="Performance Summary" class="span-all">
      <dl class="facts" {...row}>
        {facts(data).map(({ term, about, value, note }) => (
          <div class="fact" key={term}>
            <dt>
              {term.slice(0, term.lastIndexOf(" ") + 1)}
              <span class="fact-end">
                {term.slice(term.lastIndexOf(" ") + 1)} <Info term={term} text={about} />
              </span>
            </dt>
            <dd>
              {value}
              {note !== undefined && (
                <small class="muted" data-tip={note.tip}>
                  {note.text}
                </small>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
