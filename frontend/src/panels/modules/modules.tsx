/** Modules: one tree of modules and name scopes, as icicle or treemap with a table (Group Ops), or as graph, with one selection. */
import type { DashboardResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { NoOps } from "../../components/no_ops";
import { useUrl } from "../../frame/url";
import { hasGpuWork } from "../../model/headline";
import { Graph } from "./graph";
import { GroupOps } from "./group_ops";

const VIEWS = [
  ["icicle", "Icicle", "Group Ops: icicle and table"],
  ["treemap", "Treemap", "Group Ops as areas, and its table"],
  ["graph", "Graph", "Compatibility graph"],
] as const;

export function Modules({ data }: { data: DashboardResponse }) {
  const url = useUrl();
  if (data.model.ops === 0 && !hasGpuWork(data)) return <NoOps />;
  const view = chosenOf(VIEWS, url["groups.as"]);
  const choice = (
    <Choice
      label="View of the modules"
      options={VIEWS}
      value={view}
      to={(as) => ({ "groups.as": as === "icicle" ? null : as })}
    />
  );
  return view === "graph" ? (
    <Graph choice={choice} />
  ) : (
    <GroupOps choice={choice} picture={view} hasUnits={data.has_matrix_units} />
  );
}
