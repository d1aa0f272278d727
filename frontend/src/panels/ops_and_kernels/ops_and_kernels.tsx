/** Two linked tables: the ops of the model, and the kernels that the selected one launched. */
import { DataTable } from "../../components/table/data_table";
import { Message } from "../../components/message";
import { navigate, useUrl } from "../../frame/url";

interface OpsAndKernelsProps {
  profile: string;
  aggregation: number | null;
  round: number;
}

export function OpsAndKernels({ profile, aggregation, round }: OpsAndKernelsProps) {
  const op = useUrl()["ops.row"] ?? "";
  return (
    <div class="stacked">
      <DataTable
        table="ops"
        name="ops"
        title="Ops"
        noun="ops"
        profile={profile}
        aggregation={aggregation}
        round={round}
        empty="This profile has no ops. Record with NVTX markers or with the PyTorch profiler's CPU activities."
        onSelect={(key) => navigate({ "ops.row": key, "kernels.page": null, "kernels.row": null })}
      />
      {op === "" ? (
        <Message title="Kernels of an op">
          <p>Select an op above to see the kernels that it launched.</p>
        </Message>
      ) : (
        <DataTable
          key={op}
          table="kernels_of_op"
          name="kernels"
          title={`Kernels of ${op}`}
          noun="kernels"
          profile={profile}
          aggregation={aggregation}
          links={{ op }}
          pageSize={10}
          round={round}
          empty="This op launched no kernel."
          onSelect={(key) => navigate({ "kernels.row": key })}
        />
      )}
    </div>
  );
}
