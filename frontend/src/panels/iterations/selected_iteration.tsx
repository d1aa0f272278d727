/** What the selected iteration launched: kernel after kernel, by name, or by op; at first the iteration of median length. */
import type { DashboardResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { IterationStrip } from "../../components/timeline/iteration_strip";
import { IterationTable } from "../../components/table/iteration_table";
import { formatDuration } from "../../format/time";
import { useUrl } from "../../frame/url";
import { medianIteration, medianNs, type IterationRow } from "../../model/iterations";
import { forgotten } from "../../model/table_state";
import type { Changes } from "../../model/url_state";
import { KernelsByIteration } from "./kernels_by_iteration";
import { KernelsByName } from "./kernels_by_name";
import { KernelsByOp } from "./kernels_by_op";

const GROUPINGS = [
  ["name", "Kernels by name", "Kernels of one name are one row"],
  ["kernel", "Kernels in time order", "Kernels by Iteration"],
  ["op", "Kernels by op", "Kernels by Op"],
] as const;

/** The tables of what it launched. */
const BELOW = ["ikernels", "nkernels", "oops", "okernels"];

/** What selecting an iteration changes of the URL. */
export const selectingIteration = (iteration: number): Changes =>
  Object.assign({ "iters.row": String(iteration) }, ...BELOW.map(forgotten)) as Changes;

/** The one that is selected, as tables name it. */
export function useSelected(data: DashboardResponse): string {
  return useUrl()["iters.row"] ?? medianIteration(data.iterations.rows);
}

/** Of an even number the median is none of them. */
const isMedian = ({ duration_ns: ns }: IterationRow, rows: readonly IterationRow[]): boolean =>
  rows.length > 1 && formatDuration(ns) === formatDuration(medianNs(rows));

interface SelectedStripProps {
  data: DashboardResponse;
  iteration: string;
  /** How much longer than the others it is, and why. */
  said: string;
}

/** What ran in the selected iteration. */
export function SelectedStrip({ data, iteration, said }: SelectedStripProps) {
  const whole = data.iterations.source.kind === "whole_capture";
  const row = data.iterations.rows.find((each) => each.count === 1 && String(each.iteration) === iteration);
  return (
    <div class="iteration-strip">
      {!whole && (
        <h3>
          Iteration {iteration}{" "}
          {row !== undefined && (
            <span class="muted">
              {formatDuration(row.duration_ns)}
              {isMedian(row, data.iterations.rows) ? ", the median" : said !== "" && `, ${said}`}
            </span>
          )}
        </h3>
      )}
      <IterationStrip iteration={iteration} duration_ns={whole ? data.performance.wall_clock_ns : null} />
    </div>
  );
}

export function SelectedIteration({ data }: { data: DashboardResponse }) {
  const by = chosenOf(GROUPINGS, useUrl()["iters.by"]);
  const iteration = useSelected(data);
  const only = data.performance.profiled_iterations === 1;
  const whole = data.iterations.source.kind === "whole_capture";
  const several = data.gpu_utilization.devices.filter(({ in_use: inUse }) => inUse).length > 1;
  const where = whole ? "the Whole Recording" : `Iteration ${iteration}`;
  const table = (
    <IterationTable
      name="iters"
      below={BELOW}
      selected={iteration}
      rows={data.performance.profiled_iterations ?? undefined}
    />
  );
  return (
    <>
      {!only && table}
      {iteration !== "" && (
        <>
          <div class="section-head">
            <h2>{whole ? "Whole recording" : `Iteration ${iteration}`}</h2>
            <Choice
              label="Show"
              shown
              options={GROUPINGS}
              value={by}
              to={(id) => ({ "iters.by": id === "name" ? null : id })}
            />
            <span class="muted">
              {several && "Kernels of all GPUs, whose times are summed. "}
              {!whole &&
                "Kernels are listed under the iteration that launched them, or that they began in where no launch was recorded; GPU time above counts in the one that they ran in."}
            </span>
          </div>
          {by === "op" ? (
            <KernelsByOp iteration={iteration} where={where} />
          ) : by === "kernel" ? (
            <KernelsByIteration iteration={iteration} where={where} />
          ) : (
            <KernelsByName iteration={iteration} where={where} only={only} />
          )}
        </>
      )}
      {only && table /* One row is no choice. */}
    </>
  );
}
