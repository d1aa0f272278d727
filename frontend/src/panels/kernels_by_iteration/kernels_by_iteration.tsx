/** Two linked tables: the iterations, and the kernels that the selected one launched; where there is but one, it is. */
import type { DashboardResponse } from "../../api/types";
import { Hint } from "../../components/hint";
import { DataTable } from "../../components/table/data_table";
import { IterationTable } from "../../components/table/iteration_table";
import { useUrl } from "../../frame/url";
import { onlyIteration } from "../../model/iterations";

export function KernelsByIteration({ data }: { data: DashboardResponse }) {
  const iteration = useUrl()["iters.row"] ?? onlyIteration(data);
  return (
    <div class="stacked">
      <IterationTable name="iters" below={["ikernels"]} selected={iteration} />
      {iteration === "" ? (
        <Hint title="Kernels in Selected Iteration" text="Select an iteration above to see the kernels it launched." />
      ) : (
        <DataTable
          key={iteration}
          table="kernels_of_iteration"
          name="ikernels"
          title={`Kernels in Iteration ${iteration}`}
          noun="kernels"
          links={{ iteration }}
          empty="This iteration launched no kernel, or it is not part of the aggregation."
          selectable
        />
      )}
    </div>
  );
}
