/** What the job of this rank says of it: a busy GPU may only wait for others. */
import type { DashboardResponse } from "../../api/types";
import { ViewLink } from "../../components/view_link";
import { formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import { useRankJob, useRankSummary } from "../../frame/use_rank_job";

export function RankNote({ profile }: { profile: DashboardResponse["profile"] }) {
  const { data: job } = useRankSummary();
  if (job === null) return <CompareNote profile={profile} />;
  const name = job.knows_ranks ? `Rank ${job.rank}` : `Process ${job.rank + 1}`;
  return (
    <span class="rank-note" data-tip={job.sentence}>
      {name} of {formatCount(job.world_size)}
      {job.communication_wait_fraction !== null && (
        <>
          {" "}
          waits for others in <strong>{formatShare(job.communication_wait_fraction)}</strong> of its exposed
          communication.
        </>
      )}{" "}
      <ViewLink class="link-button" to={{ view: "gpus" }}>
        See the job
      </ViewLink>
    </span>
  );
}

/** What comparing the ranks would add; nothing where they were compared. */
export function CompareNote({ profile: { rank, world_size: world } }: Pick<DashboardResponse, "profile">) {
  const { data: job, dataKey, error } = useRankSummary();
  const known = dataKey !== null && error === null && job === null;
  return known && rank !== null && world !== null && world > 1 ? <Offer /> : null;
}

/** Nothing where no other rank is here. */
function Offer() {
  const { data } = useRankJob();
  return data?.offer == null ? null : (
    <span class="rank-note">
      <ViewLink class="link-button" to={{ view: "gpus" }}>
        Compare the ranks
      </ViewLink>{" "}
      to see what holds up the whole job.
    </span>
  );
}
