/** The kernels of the selected iteration, those of one name as one row. */
import { DataTable } from "../../components/table/data_table";
import type { OfIteration } from "./kernels_by_iteration";

interface KernelsByNameProps extends OfIteration {
  /** Whether it is the only one of the aggregation, whose kernels by name are stored: an iteration may launch millions. */
  only: boolean;
}

export function KernelsByName({ iteration, where, empty, only }: KernelsByNameProps) {
  return (
    <DataTable
      key={iteration}
      table={only ? "kernels_of_group" : "kernel_names_of_iteration"}
      name="nkernels"
      title={`Kernels Launched in ${where}`}
      noun="kernels"
      pageSize={10}
      // Of no group: those too that have no path, such as kernels whose launch was not recorded.
      links={only ? { group: "" } : { iteration }}
      empty={empty}
    />
  );
}
