/** Everything that is asked of the server: one function a question. */
import { get, getBytes, post, request } from "./request";
import type {
  BaselinesResponse,
  AggregateRequest,
  CompareResponse,
  CompareRowResponse,
  DashboardResponse,
  Diagnosis,
  EfficiencyResponse,
  FindingsResponse,
  GroupsResponse,
  IterationsResponse,
  Job,
  JobCells,
  JobCollective,
  JobCollectiveDetail,
  LargestWork,
  LaunchStatistics,
  MemoryAt,
  MemoryCurveResponse,
  MemoryResponse,
  MemorySegments,
  SegmentBlocks,
  ProfileEntry,
  ProfilesResponse,
  JobOffer,
  RankJob,
  RankSummary,
  SeriesResponse,
  TableRequest,
  TableResponse,
  Throughput,
  TimelineGap,
  TimelineHits,
  TimelineItem,
  TimelineOverview,
  TimelineWindow,
} from "./types";
import type { View } from "../model/timeline_link";

/** What every question about a profile says: of which aggregation and NVTX domain. */
export interface ProfileScope {
  profile: string;
  aggregation: number | null;
  domain: string | null;
  /** What times and calls of tables are of: means of an iteration, or sums over the aggregation, as the server has them. */
  per?: "iteration" | null;
}

/** Parameters of a question; what is null is left out. */
type Parameters = Readonly<Record<string, string | number | null>>;

const ofScope = ({ profile, aggregation, domain }: ProfileScope): Parameters => ({ profile, aggregation, domain });

function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, String(value));
  return query;
}

/** What the server answers at an address. */
async function ask<Answer>(address: string, parameters: Parameters, signal: AbortSignal): Promise<Answer> {
  return (await get(`./${address}?${queryOf(parameters).toString()}`, signal)) as Answer;
}

const narrowed = (asked: Omit<TableRequest, "offset" | "limit">): Parameters => ({
  ...ofScope(asked),
  per: asked.per ?? null,
  table: asked.table,
  sort: asked.sort || null,
  search: asked.search || null,
  ...Object.fromEntries(Object.entries(asked.where).map(([column, filter]) => [`where.${column}`, filter || null])),
  ...asked.links,
});

/** The query string of a page of a table; what is empty is left out. */
export function tableQuery(asked: TableRequest): string {
  return queryOf({ ...narrowed(asked), offset: asked.offset, limit: asked.limit }).toString();
}

export type ExportFormat = "csv" | "xlsx" | "json" | "pdf";

/** The address of a file with the whole filtered table, the shown columns in their order. */
export function exportUrl(
  asked: Omit<TableRequest, "offset" | "limit">,
  format: ExportFormat,
  columns: readonly string[],
): string {
  return `./export?${queryOf({ ...narrowed(asked), format, columns: columns.join(",") || null }).toString()}`;
}

export async function fetchProfiles(signal: AbortSignal): Promise<ProfilesResponse> {
  return (await get("./profiles", signal)) as ProfilesResponse;
}

export const fetchDashboard = (scope: ProfileScope, signal: AbortSignal): Promise<DashboardResponse> =>
  ask("dashboard", ofScope(scope), signal);

export async function fetchTable(asked: TableRequest, signal: AbortSignal): Promise<TableResponse> {
  return (await get(`./table?${tableQuery(asked)}`, signal)) as TableResponse;
}

/** All rows of an export, for copying and printing. */
export async function fetchExport(url: string): Promise<Pick<TableResponse, "columns" | "rows">> {
  return (await request(url, {})) as Pick<TableResponse, "columns" | "rows">;
}

/** The tree below `group` (empty: all of it), at most `limit` nodes. */
export const fetchGroups = (
  scope: ProfileScope,
  group: string,
  limit: number,
  signal: AbortSignal,
): Promise<GroupsResponse> => ask("groups", { ...ofScope(scope), group: group || null, limit }, signal);

/** The iterations `from` to `to` (null: all) in at most about `bins` bars. */
export const fetchIterations = (
  scope: ProfileScope,
  from: number | null,
  to: number | null,
  bins: number,
  signal: AbortSignal,
): Promise<IterationsResponse> => ask("iterations", { ...ofScope(scope), from, to, bins }, signal);

export const fetchFindings = (scope: ProfileScope, signal: AbortSignal): Promise<FindingsResponse> =>
  ask("findings", ofScope(scope), signal);

export const fetchDiagnosis = (scope: ProfileScope, signal: AbortSignal): Promise<Diagnosis> =>
  ask("diagnosis", ofScope(scope), signal);

/** What the timeline of a profile holds. */
export function fetchTimeline(profile: string, signal: AbortSignal): Promise<TimelineOverview> {
  return ask("timeline", { profile }, signal);
}

/** Some tracks of the timeline in a window, for so many pixels. */
export const fetchTimelineWindow = (
  profile: string,
  { from, to }: View,
  width: number,
  tracks: readonly number[],
  signal: AbortSignal,
): Promise<TimelineWindow> => ask("timeline", { profile, from, to, width, tracks: tracks.join(",") }, signal);

export const fetchTimelineItem = (profile: string, id: number, signal: AbortSignal): Promise<TimelineItem> =>
  ask("timeline_item", { profile, id }, signal);

/** What a GPU did at a moment: the gap around it, or its work. */
export async function fetchMoment(
  profile: string,
  device: number,
  at: number,
  signal: AbortSignal,
): Promise<{ gap: TimelineGap } | { item: TimelineItem }> {
  const answer = await ask<TimelineGap | TimelineItem>("timeline_item", { profile, device, at }, signal);
  return "cause" in answer ? { gap: answer } : { item: answer };
}

/** The launches of a GPU whose calls begin in a window. */
export const fetchLaunches = (
  profile: string,
  device: number,
  { from, to }: View,
  signal: AbortSignal,
): Promise<LaunchStatistics> => ask("launches", { profile, device, from, to }, signal);

/** The next gap after a moment, or the one before it, of at least some length; null where there is none. */
export const fetchNextGap = async (
  profile: string,
  device: number,
  at: number,
  forwards: boolean,
  longest: number,
  signal: AbortSignal,
): Promise<TimelineGap | null> =>
  (
    await ask<{ gap: TimelineGap | null }>(
      "timeline_item",
      { profile, device, at, longest, step: forwards ? "next" : "previous" },
      signal,
    )
  ).gap;

/** The item of a track around a moment, where the window holds too many to list them; null where there is none. */
export const fetchTimelineItemAt = async (
  profile: string,
  track: number,
  { at, slack, span }: { at: number; slack: number; span: number },
  signal: AbortSignal,
): Promise<TimelineItem | null> =>
  (
    await ask<{ item: TimelineItem | null }>(
      "timeline_item",
      { profile, track, at: Math.round(at), slack: Math.round(slack), span },
      signal,
    )
  ).item;

/** The next kernel, op or range after a moment whose name contains a text; null where there is none. */
export const fetchTimelineSearch = async (
  profile: string,
  search: string,
  at: number,
  signal: AbortSignal,
): Promise<TimelineItem | null> =>
  (await ask<{ item: TimelineItem | null }>("timeline_item", { profile, search, at }, signal)).item;

/** Where a text is found in a window of some tracks. */
export const fetchTimelineHits = (
  profile: string,
  search: string,
  { from, to }: View,
  width: number,
  tracks: readonly number[],
  signal: AbortSignal,
): Promise<TimelineHits> =>
  ask("timeline_hits", { profile, search, from, to, width, tracks: tracks.join(",") }, signal);

/** What takes the most time of a GPU in a window. */
export const fetchTimelineWork = (
  profile: string,
  device: number,
  { from, to }: View,
  signal: AbortSignal,
): Promise<LargestWork> => ask("timeline_work", { profile, device, from, to }, signal);

/** The address of a window as trace events. */
export const traceUrl = (profile: string, { from, to }: View): string =>
  `./trace?${queryOf({ profile, from, to }).toString()}`;

/** A window as trace events, for another viewer. */
export const fetchTrace = (profile: string, view: View): Promise<ArrayBuffer> => getBytes(traceUrl(profile, view));

/** Rates with what the user says that an iteration works on; empty: what shapes tell. */
export const fetchThroughput = (
  scope: ProfileScope,
  samples: string,
  tokens: string,
  signal: AbortSignal,
): Promise<Throughput> =>
  ask("throughput", { ...ofScope(scope), samples: samples || null, tokens: tokens || null }, signal);

export const fetchMemory = (scope: ProfileScope, signal: AbortSignal): Promise<MemoryResponse> =>
  ask("memory", ofScope(scope), signal);

/** Memory over the window `range` (null: all), in `bins` bins. */
export function fetchMemoryCurve(
  scope: ProfileScope,
  device: number,
  range: readonly [number, number] | null,
  bins: number,
  signal: AbortSignal,
): Promise<MemoryCurveResponse> {
  const [from, to] = range ?? [null, null];
  return ask("memory_curve", { ...ofScope(scope), device, from, to, bins }, signal);
}

export const fetchMemorySegments = (
  scope: ProfileScope,
  device: number,
  signal: AbortSignal,
): Promise<MemorySegments> => ask("memory_segments", { ...ofScope(scope), device }, signal);

/** A block of a segment of the allocator, and its neighbours. */
export const fetchMemoryBlock = (
  scope: ProfileScope,
  device: number,
  segment: number,
  block: number,
  signal: AbortSignal,
): Promise<SegmentBlocks> => ask("memory_block", { ...ofScope(scope), device, segment, block }, signal);

export const fetchMemoryAt = (
  scope: ProfileScope,
  device: number,
  moment: { time?: number; from?: number; to?: number },
  signal: AbortSignal,
): Promise<MemoryAt> => ask("memory_at", { ...ofScope(scope), device, ...moment }, signal);

export const fetchEfficiency = (scope: ProfileScope, signal: AbortSignal): Promise<EfficiencyResponse> =>
  ask("efficiency", ofScope(scope), signal);

/** What the server needs to know of a baseline. */
export interface Baseline {
  base: string;
  /** As in the URL; empty for the first. */
  aggregation: string;
}

/** The baseline as parameters of a table. */
export const baselineLinks = ({ base, aggregation }: Baseline): Record<string, string> =>
  aggregation === "" ? { base } : { base, base_aggregation: aggregation };

const ofPair = (scope: ProfileScope, baseline: Baseline): Parameters => ({
  ...ofScope(scope),
  ...baselineLinks(baseline),
});

export function fetchCompare(scope: ProfileScope, baseline: Baseline, signal: AbortSignal): Promise<CompareResponse> {
  return ask("compare", ofPair(scope, baseline), signal);
}

export const fetchBaselines = (profile: string, signal: AbortSignal): Promise<BaselinesResponse> =>
  ask("compare_baselines", { profile }, signal);

export const fetchSeries = (profiles: readonly string[], signal: AbortSignal): Promise<SeriesResponse> =>
  ask("compare_series", { profiles: profiles.join(",") }, signal);

export const fetchCompareRow = (
  scope: ProfileScope,
  baseline: Baseline,
  row: string,
  signal: AbortSignal,
): Promise<CompareRowResponse> => ask("compare_row", { ...ofPair(scope, baseline), row }, signal);

/** The job that the profile is a rank of; null if none was made, and then what could be compared. */
export interface JobOrOffer {
  job: RankJob | null;
  offer: JobOffer | null;
}

export const fetchRankJob = (profile: string, signal: AbortSignal): Promise<JobOrOffer> =>
  ask("job", { profile }, signal);

export const compareRanks = (profile: string): Promise<unknown> => post("./compare_ranks", { profile });

export const cancelCompareRanks = (profile: string): Promise<unknown> => post("./cancel_compare_ranks", { profile });

export const fetchRankSummary = async (profile: string, signal: AbortSignal): Promise<RankSummary | null> =>
  (await ask<{ job: RankSummary | null }>("job_rank", { profile }, signal)).job;

/** A measure of all ranks in the iterations `from` to `to`; null: no limit. */
export const fetchJobCells = (
  profile: string,
  measure: string,
  from: number | null,
  to: number | null,
  signal: AbortSignal,
): Promise<JobCells> => ask("job_cells", { profile, measure, from, to }, signal);

/** The operations that a row of statistics sums up, the longest wait first. */
export async function fetchJobCollectives(
  profile: string,
  stats: number,
  signal: AbortSignal,
): Promise<JobCollective[]> {
  return (await ask<{ collectives: JobCollective[] }>("job_collectives", { profile, stats }, signal)).collectives;
}

export async function fetchJobCollective(
  profile: string,
  id: number,
  signal: AbortSignal,
): Promise<JobCollectiveDetail> {
  return (await ask<{ collective: JobCollectiveDetail }>("job_collective", { profile, id }, signal)).collective;
}

export const fetchJobs = async (profile: string, signal: AbortSignal): Promise<Job[]> =>
  (await ask<{ jobs: Job[] }>("aggregation_jobs", { profile }, signal)).jobs;

const jobOf = async (answer: Promise<unknown>): Promise<Job> => ((await answer) as { job: Job }).job;

/** Aggregates anew; what is `null` is left to the server. */
export function startAggregation(profile: string, asked: AggregateRequest): Promise<Job> {
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
  return jobOf(post("./aggregate", { profile, ...given }));
}

export function deleteAggregation(profile: string, aggregation: number): Promise<Job> {
  return jobOf(post("./delete_aggregation", { profile, aggregation }));
}

export function cancelAggregation(profile: string, job: string): Promise<Job> {
  return jobOf(post("./cancel_aggregation", { profile, job }));
}

export async function startImport(profile: string): Promise<ProfileEntry> {
  return (await post("./import", { profile })) as ProfileEntry;
}

export async function cancelImport(profile: string): Promise<ProfileEntry> {
  return (await post("./cancel", { profile })) as ProfileEntry;
}
