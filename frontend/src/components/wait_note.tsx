/** Where the job of a rank shows for whom its communication waits. */
import { useRankSummary } from "../frame/use_rank_job";
import { COMMUNICATION } from "../model/findings";
import { ViewLink } from "./view_link";

export function WaitNote({ rule }: { rule: string }) {
  return rule === COMMUNICATION ? <OfJob /> : null;
}

function OfJob() {
  const { data: job } = useRankSummary();
  return job?.communication_wait_fraction == null ? null : (
    <ViewLink class="link-button" to={{ view: "gpus" }}>
      See the job
    </ViewLink>
  );
}
