/** The kernels that the selected iteration launched: DLProf's Kernels by Iteration. */
import { DataTable } from "../../components/table/data_table";

export interface OfIteration {
  iteration: string;
  /** What it is called: `Iteration 12`, or the whole recording. */
  where: string;
  /** Why it launched no kernel. */
  empty: string;
}

export function KernelsByIteration({ iteration, where, empty }: OfIteration) {
  return (
    <DataTable
      key={iteration}
      table="kernels_of_iteration"
      name="ikernels"
      title={`Kernels Launched in ${where}`}
      noun="kernels"
      links={{ iteration }}
      pageSize={10}
      empty={empty}
      selectable
    />
  );
}
