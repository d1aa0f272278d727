/** The views of the menu, in its order. A view is added here and in `current_view.tsx`. */

export const VIEWS = [
  { id: "dashboard", label: "Dashboard" },
  { id: "recommendations", label: "Recommendations" },
  { id: "efficiency", label: "Efficiency" },
  { id: "op_types", label: "Op Types" },
  { id: "groups", label: "Group Ops" },
  { id: "ops", label: "Ops and Kernels" },
  { id: "kernels_by_iteration", label: "Kernels by Iteration" },
  { id: "kernels_by_op", label: "Kernels by Op" },
  { id: "iterations", label: "Iterations" },
  { id: "gpus", label: "GPUs" },
  { id: "graph", label: "Graph" },
] as const;

export type ViewId = (typeof VIEWS)[number]["id"];

/** The view that a URL names: the Dashboard where it names none, null where it names one that we do not know. */
export function viewOf(id: string | undefined): ViewId | null {
  if (id === undefined) return "dashboard";
  return VIEWS.find((view) => view.id === id)?.id ?? null;
}

/** What the menu calls a view; empty for one that we do not know. */
export const labelOf = (view: ViewId | null): string => VIEWS.find(({ id }) => id === view)?.label ?? "";

/** What a step to a view changes of the URL. */
export const viewChange = (view: ViewId): { view: string | null } => ({ view: view === "dashboard" ? null : view });
