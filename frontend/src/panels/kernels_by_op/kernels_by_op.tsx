/** Three linked tables: iterations, the ops of the selected one, and the kernels of that iteration and op. */
import type { DashboardResponse } from "../../api/types";
import { Hint } from "../../components/hint";
import { DataTable } from "../../components/table/data_table";
import { IterationTable } from "../../components/table/iteration_table";
import { useUrl } from "../../frame/url";
import { onlyIteration } from "../../model/iterations";

export function KernelsByOp({ data }: { data: DashboardResponse }) {
  const url = useUrl();
  const iteration = url["oiters.row"] ?? onlyIteration(data);
  const op = url["oops.row"] ?? "";
  return (
    <div class="stacked">
      <IterationTable name="oiters" below={["oops", "okernels"]} selected={iteration} />
      {iteration === "" ? (
        <Hint
          title="Ops in Selected Iteration"
          text="Select an iteration above to see the ops that launched kernels in it."
        />
      ) : (
        <DataTable
          key={iteration}
          table="ops_of_iteration"
          name="oops"
          title={`Ops in Iteration ${iteration}`}
          noun="ops"
          links={{ iteration }}
          pageSize={10}
          empty="No op launched a kernel in this iteration, or it is not part of the aggregation."
          selectable
          below={["okernels"]}
        />
      )}
      {iteration !== "" && op === "" && (
        <Hint
          title="Kernels in Selected Iteration and Op"
          text="Select an op above to see its kernels in this iteration."
        />
      )}
      {iteration !== "" && op !== "" && (
        <DataTable
          key={`${iteration} ${op}`}
          table="kernels_of_iteration_op"
          name="okernels"
          title={`Kernels of ${op} in Iteration ${iteration}`}
          noun="kernels"
          links={{ iteration, op }}
          pageSize={10}
          empty="This op launched no kernel in this iteration."
          selectable
        />
      )}
    </div>
  );
}
