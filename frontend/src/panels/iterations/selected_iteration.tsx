/** What the selected iteration launched: kernel after kernel, by name, or by op; at first the iteration of median length. */
import type { DashboardResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { IterationStrip } from "../../components/timeline/iteration_strip";
import { IterationTable } from "../../components/table/iteration_table";
import { useUrl } from "../../frame/url";
import { medianIteration } from "../../model/iterations";
import { KernelsByIteration } from "./kernels_by_iteration";
import { KernelsByName } from "./kernels_by_name";
import { KernelsByOp } from "./kernels_by_op";

const GROUPINGS = [
  ["name", "Kernels by name", "Kernels of one name are one row"],
  ["kernel", "Kernels in time order", "Kernels by Iteration"],
  ["op", "Kernels by op", "Kernels by Op"],
] as const;

export function SelectedIteration({ data }: { data: DashboardResponse }) {
  const url = useUrl();
  const by = chosenOf(GROUPINGS, url["iters.by"]);
  const iteration = url["iters.row"] ?? medianIteration(data.iterations.rows);
  return (
    <>
      <IterationTable
        name="iters"
        below={["ikernels", "nkernels", "oops", "okernels"]}
        selected={iteration}
        rows={data.performance.profiled_iterations ?? undefined}
      />
      {iteration !== "" && (
        <>
          <div class="section-head">
            <h2>Iteration {iteration}</h2>
            <Choice
              label="Show"
              shown
              options={GROUPINGS}
              value={by}
              to={(id) => ({ "iters.by": id === "name" ? null : id })}
            />
          </div>
          {data.performance.profiled_iterations !== 1 && (
            <p class="muted">
              The strip shows what ran in this iteration, as GPU time above does; the kernels below are those that it
              launched, of which the last may run in the next one.
            </p>
          )}
          <IterationStrip
            iteration={iteration}
            duration_ns={data.iterations.source.kind === "whole_capture" ? data.performance.wall_clock_ns : null}
          />
          {by === "op" ? (
            <KernelsByOp iteration={iteration} />
          ) : by === "kernel" ? (
            <KernelsByIteration iteration={iteration} />
          ) : (
            <KernelsByName iteration={iteration} only={data.performance.profiled_iterations === 1} />
          )}
        </>
      )}
    </>
  );
}
