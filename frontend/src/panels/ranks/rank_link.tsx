import type { ComponentChildren } from "preact";

import type { RankJob } from "../../api/types";
import { ViewLink } from "../../components/view_link";
import { rankLabel } from "../../model/ranks";

interface RankLinkProps {
  job: RankJob;
  rank: number;
  /** The page to go to. */
  view?: string | null;
  iteration?: number | null;
  children?: ComponentChildren;
}

/** What a step to a rank's pages changes of the URL; null if its profile is not in the list. */
export function toRank(
  job: RankJob,
  rank: number,
  view: string | null = null,
  iteration: number | null = null,
): Record<string, string | null> | null {
  const member = job.profiles[job.ranks.rank.indexOf(rank)] ?? null;
  if (member === null) return null;
  // Without an iteration, the one that is looked at is kept.
  const at = iteration === null ? {} : { "iterations.from": String(iteration), "iterations.to": String(iteration) };
  return {
    run: member.run,
    capture: member.name,
    profile: null,
    view,
    aggregation: null,
    ...at,
  };
}

/** The name of a rank, which leads to its pages. */
export function RankLink({ job, rank, view = null, iteration = null, children }: RankLinkProps) {
  const to = toRank(job, rank, view, iteration);
  const label = children ?? rankLabel(job, rank);
  return to === null ? (
    <span>{label}</span>
  ) : (
    <ViewLink class="link-button" to={to}>
      {label}
    </ViewLink>
  );
}
