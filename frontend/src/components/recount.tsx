/** One click that has numbers be of other iterations: an aggregation of them is shown, and made first where there is none. */
import { useContext, useEffect, useState } from "preact/hooks";

import { startAggregation } from "../api/client";
import type { DashboardResponse } from "../api/types";
import { formatShare } from "../format/share";
import { isActive, showAggregation, useMyJobs } from "../frame/jobs";
import { ProfilesContext } from "../frame/profiles";
import { asApiError } from "../frame/use_query";
import { currentKey } from "../model/aggregation";

interface RecountProps {
  data: DashboardResponse;
  /** The first and the last iteration to count. */
  start: number;
  stop: number;
  /** What the click does. */
  label: string;
}

export function Recount({ data, start, stop, label }: RecountProps) {
  const { reaggregates } = useContext(ProfilesContext);
  const jobs = useMyJobs();
  const [asked, setAsked] = useState<string | null>(null);
  const [error, setError] = useState("");
  const job = jobs.mine.find(({ id }) => id === asked);
  const made = job?.state === "done" ? data.aggregations.find(({ id }) => id === job.aggregation)?.id : undefined;
  useEffect(() => {
    if (job === undefined || made === undefined) return;
    setAsked(null);
    jobs.dismiss(job);
    showAggregation(made);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, when it is there
  }, [made]);

  const shown = data.aggregations.find(({ id }) => id === data.aggregation);
  const known = data.aggregations.find(
    ({ iter_start: first, iter_stop: last, key_node: node, label: way }) =>
      first === start && last === stop && node === shown?.key_node && way === shown.label,
  );
  if (known === undefined && !reaggregates) return null;
  if (asked !== null && (job === undefined || isActive(job) || job.state === "done"))
    return (
      <span class="muted" role="status">
        Counting again{job?.progress?.fraction == null ? "" : `, ${formatShare(job.progress.fraction)}`} …
      </span>
    );
  const recount = (): void => {
    setError("");
    if (known !== undefined) {
      showAggregation(known.id);
      return;
    }
    const { keyOp, way } = currentKey(data);
    const by = keyOp === "" ? { key_op: null, candidate: way === "" ? null : way } : { key_op: keyOp, candidate: null };
    startAggregation(data.profile.id, { iter_start: start, iter_stop: stop, ...by }).then(
      (started) => {
        setAsked(started.id);
        jobs.follow(started);
      },
      (failure: unknown) => {
        const { message, hint } = asApiError(failure);
        setError(`${message} ${hint}`);
      },
    );
  };
  return (
    <>
      <span class="nowrap">
        <button type="button" class="link-button" onClick={recount}>
          {label}
        </button>
        .
      </span>
      {error !== "" && (
        <span class="table-error" role="alert">
          {" "}
          {error}
        </span>
      )}
    </>
  );
}
