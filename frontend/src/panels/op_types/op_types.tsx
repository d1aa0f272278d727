/** Op Type Summary: times by what ops do. */
import { DataTable } from "../../components/table/data_table";

export function OpTypes() {
  return (
    <div class="stacked filling">
      <DataTable
        table="op_types"
        name="types"
        title="Op Type Summary"
        noun="op types"
        empty="This profile has no ops. Record with NVTX markers or with the PyTorch profiler's CPU activities."
        selectable
      />
    </div>
  );
}
