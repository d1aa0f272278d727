import { Dialog } from "../../components/dialog";
import { DataTable } from "../../components/table/data_table";
import { currentUrl, navigate, useUrl } from "../../frame/url";

const COLUMNS = ["name", "op_id", "direction", "op_type", "calls", "gpu_time_ns"];

/** A searchable table of ops to choose the key node from. */
export function KeyNodeDialog({ onPick, onClose }: { onPick: (op: string) => void; onClose: () => void }) {
  const op = useUrl()["picker.row"] ?? "";
  const close = (): void => {
    const own = Object.keys(currentUrl()).filter((key) => key.startsWith("picker."));
    navigate(Object.fromEntries(own.map((key) => [key, null])));
    onClose();
  };
  return (
    <Dialog title="Select Key Node" wide onClose={close}>
      <p class="muted">
        The key node is an op that runs once in every iteration: its ends separate the iterations. Select an op whose
        number of calls is the number of iterations.
      </p>
      <DataTable
        table="ops"
        name="picker"
        title="Ops"
        noun="ops"
        pageSize={10}
        first={COLUMNS}
        empty="This profile has no ops."
        selectable
      />
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-primary"
          disabled={op === ""}
          onClick={() => {
            onPick(op);
            close();
          }}
        >
          {op === "" ? "Select an op" : `Use ${op}`}
        </button>
      </div>
    </Dialog>
  );
}
