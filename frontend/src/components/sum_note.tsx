/** Of how many iterations the times below are, beside a title; nothing where there is one. Times are means of one, or sums: a click changes it for all. */
import { formatCount, ofIterations } from "../format/number";
import { navigate } from "../frame/url";
import { useScope } from "../frame/scope";

export function SumNote() {
  const { iterations, summed } = useScope();
  if (iterations <= 1) return null;
  const isSum = summed > 1;
  return (
    <button
      type="button"
      class="link-button sum-note"
      data-tip={`${isSum ? "Sums over all aggregated iterations, as DLProf has them. A click shows means of an iteration" : "Times and calls are means of an iteration. A click shows sums, as DLProf has them"}, here and on all pages.`}
      onClick={() => navigate({ per: isSum ? null : "aggregation" })}
    >
      {isSum ? ofIterations("sum of", iterations) : `per iteration, mean of ${formatCount(iterations)}`}
    </button>
  );
}

/** The title of a table, or of what has the tools of one. */
export function TableTitle({ title, id = "", summed = false }: { title: string; id?: string; summed?: boolean }) {
  return (
    <div class="table-title">
      <h2 data-tip={title}>
        {title} {id !== "" && <small class="muted">{id}</small>}
      </h2>
      {summed && <SumNote />}
    </div>
  );
}
