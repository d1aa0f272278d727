/** The kernels of the op that is selected among those of an iteration: DLProf's Kernels by Op. */
import { Hint } from "../../components/hint";
import { DataTable } from "../../components/table/data_table";
import { useUrl } from "../../frame/url";

interface KernelsOfOpProps {
  iteration: string;
  /** What it is called: `Iteration 12`, or the whole recording. */
  where: string;
}

export function KernelsOfOp({ iteration, where }: KernelsOfOpProps) {
  const op = useUrl()["oops.row"] ?? "";
  return op === "" ? (
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
  );
}
