/** DLProf's Op Type Summary: times by what ops do. */
import type { DashboardResponse } from "../../api/types";
import { DataTable } from "../../components/table/data_table";
import { hasGpuWork } from "../../model/headline";

export function OpTypes({ data }: { data: DashboardResponse }) {
  return (
    <DataTable
      table="op_types"
      name="types"
      title="Op Type Summary"
      noun="op types"
      empty="This profile has no ops. Record with NVTX markers or with the PyTorch profiler's CPU activities."
      selectable
      {...(hasGpuWork(data) ? {} : { sort: "-cpu_time_ns" })}
    />
  );
}
