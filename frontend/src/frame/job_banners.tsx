/** Above every view: what became of the re-aggregations that the user started. */
import { useState } from "preact/hooks";

import { cancelAggregation } from "../api/client";
import type { Aggregation, Job } from "../api/types";
import { Icon } from "../components/icon";
import { Progress } from "../components/progress";
import { asApiError } from "./use_query";
import { isActive, showAggregation, useMyJobs } from "./jobs";

/** `iterations 6 to 10, key node LINEAR_2`. */
function requestText({ kind, request }: Job): string {
  if (kind === "delete") return `aggregation ${request.aggregation ?? ""}`;
  const { iter_start: start, iter_stop: stop, key_op: op, candidate } = request;
  const range = `iterations ${start ?? "first"} to ${stop ?? "last"}`;
  if (op !== null) return `${range}, key node ${op}`;
  return candidate === null ? range : `${range}, by ${candidate}`;
}

interface JobBannersProps {
  profile: string;
  aggregations: readonly Aggregation[];
  /** Whether no newer list is on its way: an older one lacks what was just made. */
  fresh: boolean;
  shown: number | null;
}

export function JobBanners({ profile, aggregations, fresh, shown }: JobBannersProps) {
  const { mine } = useMyJobs();
  // A deletion that went well shows by itself: the entry is gone.
  const reported = mine.filter(({ kind, state }) => kind === "aggregate" || state === "failed" || state === "queued");
  return (
    <>
      {reported.map((job) => (
        <JobBanner key={job.id} job={job} profile={profile} {...{ aggregations, fresh, shown }} />
      ))}
    </>
  );
}

function JobBanner({ job, profile, aggregations, fresh, shown }: JobBannersProps & { job: Job }) {
  const { dismiss, reload } = useMyJobs();
  const [error, setError] = useState("");
  const text = requestText(job);
  const close = (
    <button type="button" class="icon-button" aria-label="Dismiss" data-tip="Dismiss" onClick={() => dismiss(job)}>
      <Icon name="close" />
    </button>
  );
  const here = aggregations.find(({ id }) => id === job.aggregation)?.id;
  const isKnown = here !== undefined || fresh;
  if (isActive(job) || (job.state === "done" && !isKnown)) {
    const queued = job.state === "queued";
    const cancel = (): void => {
      cancelAggregation(profile, job.id).then(reload, (failure: unknown) => setError(asApiError(failure).message));
    };
    return (
      <section class="banner" aria-label="Re-aggregation">
        <div class="banner-text" role="status">
          <strong>{queued ? "Re-aggregation is waiting" : "Re-aggregation underway!"}</strong>{" "}
          {queued ? "for another one to end" : (job.progress?.stage ?? "Starting")} · {text}
          {job.progress !== null && ` · ${Math.round(job.progress.elapsed_s)} s`}
          {error !== "" && <span class="table-error"> {error}</span>}
        </div>
        <Progress fraction={job.progress?.fraction ?? null} label="Re-aggregation" />
        <p class="muted">You can go on using the pages meanwhile, and leave or reload this one.</p>
        <button type="button" class="button" disabled={job.state === "done"} onClick={cancel}>
          Cancel
        </button>
      </section>
    );
  }
  if (job.state === "done") {
    return (
      <section class="banner banner-success" aria-label="Re-aggregation">
        <Icon name="check" />
        <p class="banner-text" role="status">
          <strong>Success!</strong> Aggregated {text}.{" "}
          {here === undefined && aggregations.length > 0 ? "The aggregation has been deleted since." : ""}
          {shown === job.aggregation ? "It is shown now." : ""}
        </p>
        {here !== undefined && shown !== here && (
          <button
            type="button"
            class="button button-primary"
            onClick={() => {
              dismiss(job);
              showAggregation(here);
            }}
          >
            Show it
          </button>
        )}
        {close}
      </section>
    );
  }
  return (
    <section class={job.state === "failed" ? "banner banner-failure" : "banner"} aria-label="Re-aggregation">
      <Icon name={job.state === "failed" ? "warning" : "info"} />
      <p class="banner-text" role={job.state === "failed" ? "alert" : "status"}>
        <strong>
          {job.state === "cancelled"
            ? "Cancelled"
            : job.kind === "delete"
              ? "Deletion failed"
              : "Re-aggregation failed"}
        </strong>{" "}
        {text}. {job.message}
      </p>
      {close}
    </section>
  );
}
