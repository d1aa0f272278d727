/** Which iterations of A are compared: one of its aggregations, or a new one of other iterations. */
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import { fetchDashboard, startAggregation } from "../../api/client";
import type { Aggregation, DashboardResponse } from "../../api/types";
import { useJobs } from "../../frame/jobs";
import { ProfilesContext } from "../../frame/profiles";
import { useScope } from "../../frame/scope";
import { navigate } from "../../frame/url";
import { asApiError, useQuery } from "../../frame/use_query";
import { aggregationLabel, iterationsBy } from "../../model/aggregation";

const OTHER = "other";
const WHOLE = "Whole recording";

/** The range; how it was found, too, where that alone tells it from another. */
function nameOf(each: Aggregation, all: readonly Aggregation[]): string {
  const range = rangeOf(each);
  const isOnly = all.every((other) => other === each || rangeOf(other) !== range);
  return [range, !isOnly && iterationsBy(each)].filter(Boolean).join(" · ");
}

function rangeOf(each: Aggregation): string {
  // Its one iteration has a number that nothing marks.
  if (each.label === WHOLE) return WHOLE.toLowerCase();
  const range = aggregationLabel(each).replace("..", "to");
  return each.iter_start === null ? range : `iteration${each.iter_start === each.iter_stop ? "" : "s"} ${range}`;
}

const choose = (aggregation: number): void =>
  navigate({ base_aggregation: String(aggregation), "compare.row": null, "compare.page": null }, true);

interface BaselineIterationsProps {
  base: string;
  shown: number;
  /** Which they are, where there is no choice. */
  children: ComponentChildren;
}

export function BaselineIterations({ base, shown, children }: BaselineIterationsProps) {
  const { round } = useScope();
  const { reaggregates } = useContext(ProfilesContext);
  const [asking, setAsking] = useState(false);
  const query = useQuery<DashboardResponse>(`${base} ${round}`, (signal) =>
    fetchDashboard({ profile: base, aggregation: null, domain: null }, signal),
  );
  const aggregations = query.data?.aggregations ?? [];
  if (aggregations.length === 0 || (aggregations.length === 1 && !reaggregates))
    return <span class="clip">{children}</span>;
  return (
    <>
      <select
        class="input compare-aggregation"
        aria-label="Iterations of A"
        value={asking ? OTHER : String(shown)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          setAsking(value === OTHER);
          if (value !== OTHER) choose(Number(value));
        }}
      >
        {aggregations.map((each) => (
          <option key={each.id} value={String(each.id)}>
            {nameOf(each, aggregations)}
          </option>
        ))}
        {reaggregates && <option value={OTHER}>others…</option>}
      </select>
      {asking && (
        <OtherIterations
          base={base}
          onDone={(aggregation) => {
            setAsking(false);
            query.reload();
            if (aggregation !== null) choose(aggregation);
          }}
        />
      )}
    </>
  );
}

/** A range of iterations of A, which are aggregated beside the server. */
function OtherIterations({ base, onDone }: { base: string; onDone: (aggregation: number | null) => void }) {
  const [range, setRange] = useState({ iter_start: "", iter_stop: "" });
  const [started, setStarted] = useState("");
  const [error, setError] = useState("");
  const { mine, busy, follow } = useJobs(base, () => undefined);
  const job = mine.find(({ id }) => id === started);
  const done = job?.state === "done";
  useEffect(() => {
    if (done) onDone(job.aggregation);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- told once
  }, [done]);
  const start = (): void => {
    setError("");
    const numbers = Object.fromEntries(
      Object.entries(range).map(([end, text]) => [end, text === "" ? null : Number(text)]),
    ) as Record<keyof typeof range, number | null>;
    startAggregation(base, { ...numbers, key_op: null, candidate: null }).then(
      (next) => {
        setStarted(next.id);
        follow(next);
      },
      (failure: unknown) => setError(asApiError(failure).message),
    );
  };
  return (
    <form
      class="compare-iterations"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      {(["iter_start", "iter_stop"] as const).map((end) => (
        <input
          key={end}
          type="number"
          class="input"
          min={0}
          step={1}
          aria-label={end === "iter_start" ? "First iteration of A" : "Last iteration of A"}
          placeholder={end === "iter_start" ? "first" : "last"}
          value={range[end]}
          onInput={(event) => setRange({ ...range, [end]: event.currentTarget.value })}
        />
      ))}
      <button type="submit" class="button" disabled={busy}>
        {busy ? "Aggregating…" : "Compare"}
      </button>
      {(error !== "" || job?.state === "failed") && (
        <span class="table-error" role="alert">
          {error || job?.message}
        </span>
      )}
    </form>
  );
}
