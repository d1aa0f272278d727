/** The job that the profile on screen is a rank of. */
import { fetchRankJob, fetchRankSummary, type JobOrOffer } from "../api/client";
import type { RankSummary } from "../api/types";
import { useScope } from "./scope";
import { useQuery, type Query } from "./use_query";

export function useRankJob(): Query<JobOrOffer> {
  const { profile, round } = useScope();
  return useQuery(`${profile} ${round} job`, (signal) => fetchRankJob(profile, signal));
}

/** What is said of the job beside the numbers of one rank. */
export function useRankSummary(): Query<RankSummary | null> {
  const { profile, round } = useScope();
  return useQuery(`${profile} ${round} rank`, (signal) => fetchRankSummary(profile, signal));
}
