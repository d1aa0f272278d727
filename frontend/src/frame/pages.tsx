/** The pages of the menu, in its order. A page is a row of this table; its group is set apart from the next one's. */
import type { FunctionComponent } from "preact";

import type { DashboardResponse } from "../api/types";
import { lazyView } from "../components/lazy_view";
import { Dashboard } from "../panels/dashboard/dashboard";

export interface PageProps {
  data: DashboardResponse;
  /** Whether this server aggregates anew. */
  reaggregate: boolean;
}

export interface Page {
  /** Its name in the URL. */
  id: string;
  label: string;
  group: "Answer" | "Where" | "When" | "Across";
  Show: FunctionComponent<PageProps>;
}

export const PAGES: readonly Page[] = [
  {
    id: "dashboard",
    label: "Dashboard",
    group: "Answer",
    Show: Dashboard,
  },
  {
    id: "recommendations",
    label: "Recommendations",
    group: "Answer",
    Show: lazyView(
      "the recommendations",
      async () => (await import("../panels/recommendations/recommendations")).Recommendations,
    ),
  },
  {
    id: "modules",
    label: "Modules",
    group: "Where",
    Show: lazyView("the modules", async () => (await import("../panels/modules/modules")).Modules),
  },
  {
    id: "ops",
    label: "Ops",
    group: "Where",
    Show: lazyView("the ops", async () => (await import("../panels/ops/ops")).Ops),
  },
  {
    id: "efficiency",
    label: "Efficiency",
    group: "Where",
    Show: lazyView("efficiency", async () => (await import("../panels/efficiency/efficiency")).Efficiency),
  },
  {
    id: "iterations",
    label: "Iterations",
    group: "When",
    Show: lazyView("the iterations", async () => (await import("../panels/iterations/iterations")).Iterations),
  },
  {
    id: "timeline",
    label: "Timeline",
    group: "When",
    Show: lazyView("the timeline", async () => (await import("../panels/timeline/timeline")).Timeline),
  },
  {
    id: "memory",
    label: "Memory",
    group: "When",
    Show: lazyView("the memory", async () => (await import("../panels/memory/memory")).Memory),
  },
  {
    id: "gpus",
    label: "GPUs and Ranks",
    group: "Across",
    Show: lazyView("the GPUs", async () => (await import("../panels/gpus/gpus")).Gpus),
  },
  {
    id: "compare",
    label: "Compare",
    group: "Across",
    Show: lazyView("the comparison", async () => (await import("../panels/compare/compare")).Compare),
  },
];

/** The page that a URL names: the Dashboard where it names none, null where it names one that we do not know. */
export const pageOf = (id: string | undefined): Page | null =>
  PAGES.find((page) => page.id === (id ?? "dashboard")) ?? null;

/** What a step to a page changes of the URL. */
export const toPage = (id: string): { view: string | null } => ({ view: id === "dashboard" ? null : id });
