/** Two linked tables: the ops of the model, and the kernels that the selected one launched. */
import type { DashboardResponse } from "../../api/types";
import { Hint } from "../../components/hint";
import { DataTable } from "../../components/table/data_table";
import { useUrl } from "../../frame/url";
import { hasGpuWork } from "../../model/headline";
import { OpReason } from "./op_reason";

export function OpsAndKernels({ data }: { data: DashboardResponse }) {
  const op = useUrl()["ops.row"] ?? "";
  return (
    <>
      <DataTable
        table="ops"
        name="ops"
        title="Ops"
        noun="ops"
        empty="This profile has no ops. Record with NVTX markers or with the PyTorch profiler's CPU activities."
        selectable
        below={["kernels"]}
        causes
        {...(hasGpuWork(data) ? {} : { sort: "-cpu_time_ns" })}
      />
      {op === "" ? (
        <Hint title="Kernels in Selected Op" text="Select an op above to see the kernels that it launched." />
      ) : (
        <>
          <OpReason op={op} />
          <DataTable
            key={op}
            table="kernels_of_op"
            name="kernels"
            title={`Kernels of ${op}`}
            noun="kernels"
            links={{ op }}
            pageSize={10}
            empty="This op launched no kernel; copies and sets are not listed."
            selectable
          />
        </>
      )}
    </>
  );
}
