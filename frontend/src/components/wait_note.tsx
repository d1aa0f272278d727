/** What the job of a rank tells of a finding about communication: waiting for a late rank cannot be overlapped. */
import { formatShare } from "../format/share";
import { useRankSummary } from "../frame/use_rank_job";
import { COMMUNICATION } from "../model/findings";
import { ViewLink } from "./view_link";

export function WaitNote({ rule }: { rule: string }) {
  return rule === COMMUNICATION ? <OfJob /> : null;
}

function OfJob() {
  const { data: job } = useRankSummary();
  const wait = job?.communication_wait_fraction ?? null;
  if (wait === null) return null;
  return (
    <span class="muted">
      Its job was compared: <strong>{formatShare(wait)}</strong> of this time is a wait for other ranks, which no
      overlap hides.{" "}
      <ViewLink class="link-button" to={{ view: "gpus" }}>
        See the job
      </ViewLink>
    </span>
  );
}
