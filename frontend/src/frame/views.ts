/** The views of the menu, in its order. A view is added here and in `current_view.tsx`. */

export const VIEWS = [
  { id: "dashboard", label: "Dashboard" },
  { id: "ops", label: "Ops and Kernels" },
] as const;

export type ViewId = (typeof VIEWS)[number]["id"];

/** The view that a URL names; the Dashboard where it names none that we know. */
export function viewOf(id: string | undefined): ViewId {
  return VIEWS.find((view) => view.id === id)?.id ?? "dashboard";
}
