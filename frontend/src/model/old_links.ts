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

/** Rows of grouped ops, whose keys ended in DLProf's words for the direction. */
const DIRECTIONS: readonly [RegExp, string][] = [
  [/ fprop$/, " forward"],
  [/ bprop$/, " backward"],
];

function inWords(state: UrlState): UrlState {
  const keys = ["paths.row", "names.row"].filter((key) => /\b[fb]prop$/.test(state[key] ?? ""));
  const renamed = keys.map((key) => [
    key,
    DIRECTIONS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), state[key] ?? ""),
  ]);
  return keys.length === 0 ? state : { ...state, ...(Object.fromEntries(renamed) as UrlState) };
}

/** The state with its view's new place; the graph and the tree now share their selection, as do the tables of iterations. */
export function movedTo(before: UrlState): UrlState {
  const state = inWords(before);
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
