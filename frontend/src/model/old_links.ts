/** Links from before the pages were put together: what was a view of its own is now part of a page. */
import type { UrlState } from "./url_state";

/** The page and what is chosen on it, by the name of the former view. */
const MOVED: Readonly<Record<string, UrlState>> = {
  groups: { view: "modules" },
  graph: { view: "modules", "groups.as": "graph" },
  op_types: { view: "ops", "ops.by": "type" },
  kernels_by_iteration: { view: "iterations", "iters.by": "kernel" },
  kernels_by_op: { view: "iterations", "iters.by": "op" },
};

/** The state with its view's new place; the graph and the tree now share their selection, as do the tables of iterations. */
export function movedTo(state: UrlState): UrlState {
  // Links to the table of ops are from when it was all of its page.
  if (state.view === "ops" && state["ops.by"] === undefined && Object.keys(state).some((key) => key.startsWith("ops.")))
    return { ...state, "ops.by": "none" };
  const moved = MOVED[state.view ?? ""];
  if (moved === undefined) return state;
  const tables = { graph: /^graph\./, kernels_by_op: /^oiters\./ }[state.view ?? ""];
  if (tables === undefined) return { ...state, ...moved };
  const table = state.view === "graph" ? "groups." : "iters.";
  return {
    ...Object.fromEntries(Object.entries(state).map(([key, value]) => [key.replace(tables, table), value])),
    ...moved,
  };
}
