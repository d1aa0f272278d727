/** Which part of the ranks and iterations of a job is shown. */
import type { JobCells, RankJob } from "../../api/types";
import { formatCount, formatCounted } from "../../format/number";
import { navigate } from "../../frame/url";
import type { Changes } from "../../model/url_state";

/** What the URL has where all are shown. */
export const ALL: Changes = { "ranks.from": null, "ranks.to": null, "ranks.rows": null };

export interface Shown {
  job: RankJob;
  cells: JobCells;
  values: Float64Array;
  /** Those that are shown, in their order. */
  rows: readonly number[];
  /** Place of the first of them among all. */
  top: number;
  /** How many there are. */
  count: number;
  /** The largest value of those that are shown, in ns. */
  largest: number;
}

/** What is shown, of what; nothing where all is. */
export function ShownPart({ job, cells, rows, count }: Omit<Shown, "values" | "top" | "largest">) {
  const of = job.iterations_by_number.iteration.length;
  const iterations = Math.min(cells.columns * cells.iterations, of - cells.first);
  const parts = [
    rows.length < count
      ? `${formatCount(rows.length)} of ${formatCounted(count, cells.ranks > 1 ? "row" : "rank")}`
      : "",
    iterations < of ? `${formatCount(iterations)} of ${formatCounted(of, "iteration")}` : "",
  ].filter((part) => part !== "");
  if (parts.length === 0) return null;
  return (
    <span>
      {parts.join(", ")}{" "}
      <button type="button" class="link-button" onClick={() => navigate(ALL, true)}>
        Show all
      </button>
    </span>
  );
}
