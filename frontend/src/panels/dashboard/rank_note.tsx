/** What the job of this rank says of it: a busy GPU may only wait for others. */
import { ViewLink } from "../../components/view_link";
import { formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import { useRankSummary } from "../../frame/use_rank_job";

export function RankNote() {
  const job = useRankSummary();
  if (job === null) return null;
  const name = job.knows_ranks ? `Rank ${job.rank}` : `Process ${job.rank + 1}`;
  return (
    <p class="rank-note" data-tip={job.sentence}>
      {name} of {formatCount(job.world_size)}
      {job.wait_fraction !== null && (
        <>
          {" "}
          waits for others <strong>{formatShare(job.wait_fraction)}</strong> of the GPU's time.
        </>
      )}{" "}
      <ViewLink class="link-button" to={{ view: "gpus" }}>
        See the job
      </ViewLink>
    </p>
  );
}
