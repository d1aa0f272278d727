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
  /** What it answers, for the help. */
  about: string;
  /** The views of DLProf's guide that stand here. */
  holds: readonly string[];
  Show: FunctionComponent<PageProps>;
}

export const PAGES: readonly Page[] = [
  {
    id: "dashboard",
    label: "Dashboard",
    group: "Answer",
    about: "Why a step takes as long as it does, and what to change first.",
    holds: ["Dashboard"],
    Show: Dashboard,
  },
  {
    id: "recommendations",
    label: "Recommendations",
    group: "Answer",
    about: "What to change, how much shorter an iteration could become, and what shows it.",
    holds: ["Recommendations"],
    Show: lazyView(
      "the recommendations",
      async () => (await import("../panels/recommendations/recommendations")).Recommendations,
    ),
  },
  {
    id: "modules",
    label: "Modules",
    group: "Where",
    about: "The model's modules as icicle, tree and graph; each level adds up the one below.",
    holds: ["Group Ops", "Graphs"],
    Show: lazyView("the modules", async () => (await import("../panels/modules/modules")).Modules),
  },
  {
    id: "ops",
    label: "Ops",
    group: "Where",
    about: "Where GPU time goes, by type of op or op by op; the selected op's kernels below.",
    holds: ["Ops and Kernels", "Op Type Summary"],
    Show: lazyView("the ops", async () => (await import("../panels/ops/ops")).Ops),
  },
  {
    id: "efficiency",
    label: "Efficiency",
    group: "Where",
    about: "How close each op comes to what the GPU can do, what limits it, and what it could gain.",
    holds: [],
    Show: lazyView("efficiency", async () => (await import("../panels/efficiency/efficiency")).Efficiency),
  },
  {
    id: "iterations",
    label: "Iterations",
    group: "When",
    about: "All iterations as bars, which of them are aggregated, and what the selected one launched.",
    holds: ["Iterations View", "Kernels by Iteration", "Kernels by Op"],
    Show: lazyView("the iterations", async () => (await import("../panels/iterations/iterations")).Iterations),
  },
  {
    id: "timeline",
    label: "Timeline",
    group: "When",
    about: "What happened when on the GPU, its streams and the host, and why the GPU waited, gap by gap.",
    holds: [],
    Show: lazyView("the timeline", async () => (await import("../panels/timeline/timeline")).Timeline),
  },
  {
    id: "memory",
    label: "Memory",
    group: "When",
    about: "What holds the GPU's memory at its peak or at any moment, by category and op, and whether it leaks.",
    holds: [],
    Show: lazyView("the memory", async () => (await import("../panels/memory/memory")).Memory),
  },
  {
    id: "gpus",
    label: "GPUs and Ranks",
    group: "Across",
    about: "What each GPU did, and what it is.",
    holds: ["GPUs"],
    Show: lazyView("the GPUs", async () => (await import("../panels/gpus/gpus")).Gpus),
  },
  {
    id: "compare",
    label: "Compare",
    group: "Across",
    about: "What changed from a baseline to this profile, where, and whether it is more than noise.",
    holds: [],
    Show: lazyView("the comparison", async () => (await import("../panels/compare/compare")).Compare),
  },
];

/** The page that a URL names: the Dashboard where it names none, null where it names one that we do not know. */
export const pageOf = (id: string | undefined): Page | null =>
  PAGES.find((page) => page.id === (id ?? "dashboard")) ?? null;

/** What a step to a page changes of the URL. */
export const toPage = (id: string): { view: string | null } => ({ view: id === "dashboard" ? null : id });
