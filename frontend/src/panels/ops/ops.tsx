/** Ops: where GPU time goes, grouped as the user likes. */
import { Choice, chosenOf } from "../../components/choice";
import { useUrl } from "../../frame/url";
import type { DashboardResponse } from "../../api/types";
import { OpTypes } from "./op_types";
import { OpsAndKernels } from "./ops_and_kernels";

const GROUPINGS = [
  ["none", "None", "Ops and Kernels: op by op"],
  ["type", "Type", "Op Type Summary: what the ops do"],
] as const;

export function Ops({ data }: { data: DashboardResponse }) {
  const by = chosenOf(GROUPINGS, useUrl()["ops.by"]);
  return (
    <div class="stacked">
      <Choice label="Group by" shown options={GROUPINGS} value={by} to={(id) => ({ "ops.by": id })} />
      {by === "type" ? <OpTypes data={data} /> : <OpsAndKernels data={data} />}
    </div>
  );
}
