/** How many ops are left out because nothing of them ran on a GPU, with a way to see them. */
import { formatCounted } from "../../format/number";
import type { GroupTree } from "./use_group_tree";

export function Timeless({ tree: { timeless, change } }: { tree: GroupTree }) {
  if (timeless === null) return null;
  const { ops, shown } = timeless;
  return (
    <span>
      {formatCounted(ops, "op")} without GPU time{shown ? "" : ` ${ops === 1 ? "is" : "are"} left out`}.{" "}
      <button type="button" class="link-button" onClick={() => change({ all: shown ? null : "yes" })}>
        {shown ? "Leave out" : "Show"}
      </button>
    </span>
  );
}
