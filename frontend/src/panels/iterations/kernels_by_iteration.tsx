/** The kernels that the selected iteration launched: DLProf's Kernels by Iteration. */
import { DataTable } from "../../components/table/data_table";

export function KernelsByIteration({ iteration }: { iteration: string }) {
  return (
    <DataTable
      key={iteration}
      table="kernels_of_iteration"
      name="ikernels"
      title={`Kernels Launched in Iteration ${iteration}`}
      noun="kernels"
      links={{ iteration }}
      empty="This iteration launched no kernel, or it is not part of the aggregation."
      selectable
    />
  );
}
