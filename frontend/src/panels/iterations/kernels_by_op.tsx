/** The ops of the selected iteration, and the kernels of the op that is selected among them: DLProf's Kernels by Op. */
import { Hint } from "../../components/hint";
import { DataTable } from "../../components/table/data_table";
import { useUrl } from "../../frame/url";
import type { OfIteration } from "./kernels_by_iteration";

export function KernelsByOp({ iteration, where, empty }: OfIteration) {
  const op = useUrl()["oops.row"] ?? "";
  return (
    <>
      <DataTable
        key={iteration}
        table="ops_of_iteration"
        name="oops"
        title={`Kernels Launched in ${where} by Op`}
        noun="ops"
        links={{ iteration }}
        pageSize={10}
        empty={empty}
        selectable
        below={["okernels"]}
      />
      {op === "" ? (
        <Hint
          title="Kernels in Selected Iteration and Op"
          text="Select an op above to see its kernels in this iteration."
        />
      ) : (
        <DataTable
          key={`${iteration} ${op}`}
          table="kernels_of_iteration_op"
          name="okernels"
          title={`Kernels of ${op} Launched in ${where}`}
          noun="kernels"
          links={{ iteration, op }}
          pageSize={10}
          empty="This op launched no kernel in this iteration."
          selectable
        />
      )}
    </>
  );
}
