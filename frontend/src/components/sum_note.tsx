/** Over how many iterations the times below are sums, beside a title; nothing where there is one. */
import { ofIterations } from "../format/number";
import { useScope } from "../frame/scope";

export function SumNote({ words = "sum of" }: { words?: string }) {
  const text = ofIterations(words, useScope().iterations);
  return text === "" ? null : <span class="muted sum-note">{text}</span>;
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
