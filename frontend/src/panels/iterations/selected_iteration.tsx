/** The selected iteration: its strip of the timeline, and what it launched, by name, by op, or in time order; at first the one of median length. */
import { useMemo } from "preact/hooks";

import type { DashboardResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { classLabel } from "../../components/iteration_parts";
import { Recount } from "../../components/recount";
import { DataTable } from "../../components/table/data_table";
import { IterationStrip } from "../../components/timeline/iteration_strip";
import { IterationTable } from "../../components/table/iteration_table";
import { Info } from "../../components/tooltip";
import { useOneStop } from "../../components/walking";
import { formatCounted } from "../../format/number";
import { formatDuration } from "../../format/time";
import { useUrl } from "../../frame/url";
import { devicesInUse, hasGpuWork, hasOps } from "../../model/headline";
import { medianIteration, medianNs, rangeText, withoutKernels, type IterationRow } from "../../model/iterations";
import { unknownWork } from "../../model/kernel_time";
import { excesses } from "../../model/spread";
import { forgotten } from "../../model/table_state";
import type { Changes } from "../../model/url_state";
import { overIn } from "./bars";
import { KernelsOfOp } from "./kernels_of_op";

const GROUPINGS = [
  ["name", "by name", "Kernels of one name are one row"],
  ["path", "by path", "Ops of one path, whatever their index, are one row"],
  ["op", "by op", "Kernels by Op"],
  ["kernel", "in time order", "Kernels by Iteration"],
] as const;

/** The tables of what it launched. */
const BELOW = ["ikernels", "nkernels", "pkernels", "oops", "okernels"];

/** What selecting an iteration changes of the URL. */
export const selectingIteration = (iteration: number): Changes =>
  Object.assign({ "iters.row": String(iteration) }, ...BELOW.map(forgotten)) as Changes;

/** The one that is selected, as tables name it. */
export function useSelected(data: DashboardResponse): string {
  return useUrl()["iters.row"] ?? medianIteration(data.iterations.rows);
}

interface SelectedIterationProps {
  data: DashboardResponse;
  /** How long CUDA graphs that were recorded as a whole run in an iteration, on one GPU; 0 where it is not known. */
  graphsIn: (iteration: number) => number;
  /** All iterations, with the parts of their time as the chart shows them. */
  rows: readonly IterationRow[];
}

export function SelectedIteration({ data, graphsIn, rows }: SelectedIterationProps) {
  const by = chosenOf(GROUPINGS, useUrl()["iters.by"]);
  const iteration = useSelected(data);
  const only = data.performance.profiled_iterations === 1;
  const whole = data.iterations.source.kind === "whole_capture";
  const gpus = devicesInUse(data).length;
  const where = whole ? "the Whole Recording" : `Iteration ${iteration}`;
  const row = rows.find(({ iteration: first, stop_iteration: last }) => first <= +iteration && +iteration <= last);
  const single = row?.count === 1 ? row : undefined;
  const odd = overIn(excesses(rows).get(Number(iteration)), classLabel(data));
  const median = formatDuration(medianNs(rows));
  const isMedian = rows.length > 1 && formatDuration(single?.duration_ns) === median;
  // Of an even number of iterations none need be the median: one of the two beside it is shown at first.
  const isNearest = rows.length > 1 && single !== undefined && iteration === medianIteration(rows);
  const about = isMedian ? "the median" : odd !== "" ? odd : isNearest ? `nearest the median of ${median}` : "";
  const empty = withoutKernels(single);
  const graphs = gpus === 1 ? graphsIn(Number(iteration)) : 0;
  const tools = useOneStop<HTMLDivElement>();
  // The chart is of one GPU, the table of the mean of all.
  const communication = useMemo(
    () =>
      new Map(
        rows
          .filter(({ count }) => gpus === 1 && count === 1)
          .map(({ iteration: number, parts }) => [number, parts?.communication ?? 0]),
      ),
    [gpus, rows],
  );
  const note = [
    unknownWork(data).graphs &&
      (graphs > 0
        ? "Without those inside CUDA graphs: shares are of the kernels listed."
        : "Without those inside CUDA graphs."),
    gpus > 1 && `Times are sums over ${formatCounted(gpus, "GPU")}.`,
  ]
    .filter(Boolean)
    .join(" ");
  const links = { iteration };
  const launched = {
    // Of no group: those too that have no path, such as kernels whose launch was not recorded. Of the only iteration of an aggregation
    // kernels by name are stored: it may launch millions.
    name: only
      ? { table: "kernels_of_group", name: "nkernels", noun: "kernels", links: { group: "" } }
      : { table: "kernel_names_of_iteration", name: "nkernels", noun: "kernels", links },
    path: { table: "op_paths_of_iteration", name: "pkernels", noun: "paths", links },
    op: {
      table: "ops_of_iteration",
      name: "oops",
      noun: "ops",
      links,
      selectable: true,
      below: ["okernels"],
    },
    kernel: { table: "kernels_of_iteration", name: "ikernels", noun: "kernels", links, selectable: true },
  };
  return (
    <>
      {iteration !== "" && (
        <section class="stacked selected-iteration" aria-label={where}>
          <div class="stacked" {...tools}>
            {(hasGpuWork(data) || hasOps(data)) && (
              <div class="panel iteration-strip">
                <h2>
                  {!whole ? where : hasGpuWork(data) ? "First to last GPU work" : "Whole recording"}
                  {!whole && single !== undefined && (
                    <span class="muted">
                      {" "}
                      {formatDuration(single.duration_ns)}
                      {about !== "" && `, ${about}`}
                    </span>
                  )}
                </h2>
                <IterationStrip iteration={iteration} />
              </div>
            )}
          </div>
          {row?.profiled === false ? (
            <p class="iteration-outside">
              {where} is outside {rangeText(data.performance.iter_start ?? 0, data.performance.iter_stop ?? 0)}, so its
              kernels are not listed.{" "}
              <Recount
                data={data}
                start={Math.min(Number(iteration), data.performance.iter_start ?? 0)}
                stop={Math.max(Number(iteration), data.performance.iter_stop ?? 0)}
                label="Include it"
              />
            </p>
          ) : !hasGpuWork(data) ? null : (
            <>
              {note !== "" && <p class="muted iteration-outside">{note}</p>}
              <DataTable
                key={iteration}
                {...launched[by]}
                title={`Kernels Launched in ${where}`}
                by={by === "path" ? "by Path" : by === "op" ? "by Op" : ""}
                pageSize={10}
                empty={empty}
                tools={
                  <>
                    <Choice
                      label="Kernels"
                      options={GROUPINGS}
                      value={by}
                      to={(id) => ({ "iters.by": id === "name" ? null : id })}
                    />
                    {!whole && <Info term="The iteration of a kernel" text={LAUNCHED} />}
                  </>
                }
              />
              {by === "op" && <KernelsOfOp iteration={iteration} where={where} />}
            </>
          )}
        </section>
      )}
      <IterationTable
        name="iters"
        below={BELOW}
        selected={iteration}
        rows={data.performance.profiled_iterations ?? undefined}
        communication={communication}
      />
    </>
  );
}

const LAUNCHED =
  "Kernels are listed under the iteration that launched them, or that they began in where no launch was recorded. GPU time of the Iteration Summary counts in the one that they ran in.";
