/** Two linked tables: the iterations, and the kernels that the selected one launched. */
import { Hint } from "../../components/hint";
import { DataTable } from "../../components/table/data_table";
import { IterationTable } from "../../components/table/iteration_table";
import { useUrl } from "../../frame/url";

export function KernelsByIteration() {
  const iteration = useUrl()["iters.row"] ?? "";
  return (
    <div class="stacked">
      <IterationTable name="iters" below={["ikernels"]} />
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
