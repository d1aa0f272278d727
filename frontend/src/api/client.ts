/** Everything that is asked of the server: one function a question. */
import { get, getBytes, post, request } from "./request";
import type {
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
  LaunchStatistics,
  MemoryAt,
  MemoryCurveResponse,
  MemoryResponse,
  MemorySegments,
  SegmentBlocks,
  ProfileEntry,
  ProfilesResponse,
  RankJob,
  RankSummary,
  SeriesResponse,
  TableRequest,
  TableResponse,
  Throughput,
  TimelineGap,
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
}

function scopeQuery({ profile, aggregation, domain }: ProfileScope): URLSearchParams {
  const query = new URLSearchParams({ profile });
  if (aggregation !== null) query.set("aggregation", String(aggregation));
  if (domain !== null) query.set("domain", domain);
  return query;
}

function narrowedQuery(asked: Omit<TableRequest, "offset" | "limit">): URLSearchParams {
  const query = scopeQuery(asked);
  query.set("table", asked.table);
  if (asked.sort !== "") query.set("sort", asked.sort);
  if (asked.search !== "") query.set("search", asked.search);
  for (const [column, filter] of Object.entries(asked.where)) if (filter !== "") query.set(`where.${column}`, filter);
  for (const [name, value] of Object.entries(asked.links)) query.set(name, value);
  return query;
}

/** The query string of a page of a table; what is empty is left out. */
export function tableQuery(asked: TableRequest): string {
  const query = narrowedQuery(asked);
  query.set("offset", String(asked.offset));
  query.set("limit", String(asked.limit));
  return query.toString();
}

export type ExportFormat = "csv" | "xlsx" | "json" | "pdf";

/** The address of a file with the whole filtered table, the shown columns in their order. */
export function exportUrl(
  asked: Omit<TableRequest, "offset" | "limit">,
  format: ExportFormat,
  columns: readonly string[],
): string {
  const query = narrowedQuery(asked);
  query.set("format", format);
  if (columns.length > 0) query.set("columns", columns.join(","));
  return `./export?${query.toString()}`;
}

export async function fetchProfiles(signal: AbortSignal): Promise<ProfilesResponse> {
  return (await get("./profiles", signal)) as ProfilesResponse;
}

export async function fetchDashboard(scope: ProfileScope, signal: AbortSignal): Promise<DashboardResponse> {
  return (await get(`./dashboard?${scopeQuery(scope).toString()}`, signal)) as DashboardResponse;
}

export async function fetchTable(asked: TableRequest, signal: AbortSignal): Promise<TableResponse> {
  return (await get(`./table?${tableQuery(asked)}`, signal)) as TableResponse;
}

/** All rows of an export, for copying and printing. */
export async function fetchExport(url: string): Promise<Pick<TableResponse, "columns" | "rows">> {
  return (await request(url, {})) as Pick<TableResponse, "columns" | "rows">;
}

/** The tree below `group` (empty: all of it), at most `limit` nodes. */
export async function fetchGroups(
  scope: ProfileScope,
  group: string,
  limit: number,
  signal: AbortSignal,
): Promise<GroupsResponse> {
  const query = scopeQuery(scope);
  if (group !== "") query.set("group", group);
  query.set("limit", String(limit));
  return (await get(`./groups?${query.toString()}`, signal)) as GroupsResponse;
}

/** The iterations `from` to `to` (null: all) in at most about `bins` bars. */
export async function fetchIterations(
  scope: ProfileScope,
  from: number | null,
  to: number | null,
  bins: number,
  signal: AbortSignal,
): Promise<IterationsResponse> {
  const query = scopeQuery(scope);
  if (from !== null) query.set("from", String(from));
  if (to !== null) query.set("to", String(to));
  query.set("bins", String(bins));
  return (await get(`./iterations?${query.toString()}`, signal)) as IterationsResponse;
}

export async function fetchFindings(scope: ProfileScope, signal: AbortSignal): Promise<FindingsResponse> {
  return (await get(`./findings?${scopeQuery(scope).toString()}`, signal)) as FindingsResponse;
}

export async function fetchDiagnosis(scope: ProfileScope, signal: AbortSignal): Promise<Diagnosis> {
  return (await get(`./diagnosis?${scopeQuery(scope).toString()}`, signal)) as Diagnosis;
}

/** What the timeline of a profile holds. */
export async function fetchTimeline(profile: string, signal: AbortSignal): Promise<TimelineOverview> {
  return (await get(`./timeline?${new URLSearchParams({ profile }).toString()}`, signal)) as TimelineOverview;
}

/** Some tracks of the timeline in a window, for so many pixels. */
export async function fetchTimelineWindow(
  profile: string,
  { from, to }: View,
  width: number,
  tracks: readonly number[],
  signal: AbortSignal,
): Promise<TimelineWindow> {
  const query = new URLSearchParams({ profile, from: String(from), to: String(to), width: String(width) });
  query.set("tracks", tracks.join(","));
  return (await get(`./timeline?${query.toString()}`, signal)) as TimelineWindow;
}

export async function fetchTimelineItem(profile: string, id: number, signal: AbortSignal): Promise<TimelineItem> {
  const query = new URLSearchParams({ profile, id: String(id) });
  return (await get(`./timeline_item?${query.toString()}`, signal)) as TimelineItem;
}

/** What a GPU did at a moment: the gap around it, or its work. */
export async function fetchMoment(
  profile: string,
  device: number,
  at: number,
  signal: AbortSignal,
): Promise<{ gap: TimelineGap } | { item: TimelineItem }> {
  const query = new URLSearchParams({ profile, device: String(device), at: String(at) });
  const answer = (await get(`./timeline_item?${query.toString()}`, signal)) as TimelineGap | TimelineItem;
  return "cause" in answer ? { gap: answer } : { item: answer };
}

/** The launches of a GPU whose calls begin in a window. */
export async function fetchLaunches(
  profile: string,
  device: number,
  { from, to }: View,
  signal: AbortSignal,
): Promise<LaunchStatistics> {
  const query = new URLSearchParams({ profile, device: String(device), from: String(from), to: String(to) });
  return (await get(`./launches?${query.toString()}`, signal)) as LaunchStatistics;
}

/** The next gap after a moment, or the one before it, of at least some length; null where there is none. */
export async function fetchNextGap(
  profile: string,
  device: number,
  at: number,
  forwards: boolean,
  longest: number,
  signal: AbortSignal,
): Promise<TimelineGap | null> {
  const query = new URLSearchParams({ profile, device: String(device), at: String(at), longest: String(longest) });
  query.set("step", forwards ? "next" : "previous");
  return ((await get(`./timeline_item?${query.toString()}`, signal)) as { gap: TimelineGap | null }).gap;
}

/** The item of a track around a moment, where the window holds too many to list them; null where there is none. */
export async function fetchTimelineItemAt(
  profile: string,
  track: number,
  at: number,
  signal: AbortSignal,
): Promise<TimelineItem | null> {
  const query = new URLSearchParams({ profile, track: String(track), at: String(Math.round(at)) });
  return ((await get(`./timeline_item?${query.toString()}`, signal)) as { item: TimelineItem | null }).item;
}

/** The next kernel, op or range after a moment whose name contains a text; null where there is none. */
export async function fetchTimelineSearch(
  profile: string,
  search: string,
  at: number,
  signal: AbortSignal,
): Promise<TimelineItem | null> {
  const query = new URLSearchParams({ profile, search, at: String(at) });
  return ((await get(`./timeline_item?${query.toString()}`, signal)) as { item: TimelineItem | null }).item;
}

/** The address of a window as trace events. */
export const traceUrl = (profile: string, { from, to }: View): string =>
  `./trace?${new URLSearchParams({ profile, from: String(from), to: String(to) }).toString()}`;

/** A window as trace events, for another viewer. */
export const fetchTrace = (profile: string, view: View): Promise<ArrayBuffer> => getBytes(traceUrl(profile, view));

/** Rates with what the user says that an iteration works on; empty: what shapes tell. */
export async function fetchThroughput(
  scope: ProfileScope,
  samples: string,
  tokens: string,
  signal: AbortSignal,
): Promise<Throughput> {
  const query = scopeQuery(scope);
  if (samples !== "") query.set("samples", samples);
  if (tokens !== "") query.set("tokens", tokens);
  return (await get(`./throughput?${query.toString()}`, signal)) as Throughput;
}

export async function fetchMemory(scope: ProfileScope, signal: AbortSignal): Promise<MemoryResponse> {
  return (await get(`./memory?${scopeQuery(scope).toString()}`, signal)) as MemoryResponse;
}

/** Memory over the window `range` (null: all), in `bins` bins. */
export async function fetchMemoryCurve(
  scope: ProfileScope,
  device: number,
  range: readonly [number, number] | null,
  bins: number,
  signal: AbortSignal,
): Promise<MemoryCurveResponse> {
  const query = scopeQuery(scope);
  query.set("device", String(device));
  if (range !== null) {
    query.set("from", String(range[0]));
    query.set("to", String(range[1]));
  }
  query.set("bins", String(bins));
  return (await get(`./memory_curve?${query.toString()}`, signal)) as MemoryCurveResponse;
}

export async function fetchMemorySegments(
  scope: ProfileScope,
  device: number,
  signal: AbortSignal,
): Promise<MemorySegments> {
  const query = scopeQuery(scope);
  query.set("device", String(device));
  return (await get(`./memory_segments?${query.toString()}`, signal)) as MemorySegments;
}

/** A block of a segment of the allocator, and its neighbours. */
export async function fetchMemoryBlock(
  scope: ProfileScope,
  device: number,
  segment: number,
  block: number,
  signal: AbortSignal,
): Promise<SegmentBlocks> {
  const query = scopeQuery(scope);
  query.set("device", String(device));
  query.set("segment", String(segment));
  query.set("block", String(block));
  return (await get(`./memory_block?${query.toString()}`, signal)) as SegmentBlocks;
}

export async function fetchMemoryAt(
  scope: ProfileScope,
  device: number,
  time: number,
  signal: AbortSignal,
): Promise<MemoryAt> {
  const query = scopeQuery(scope);
  query.set("device", String(device));
  query.set("time", String(time));
  return (await get(`./memory_at?${query.toString()}`, signal)) as MemoryAt;
}

export async function fetchEfficiency(scope: ProfileScope, signal: AbortSignal): Promise<EfficiencyResponse> {
  return (await get(`./efficiency?${scopeQuery(scope).toString()}`, signal)) as EfficiencyResponse;
}

/** What the server needs to know of a baseline. */
export interface Baseline {
  base: string;
  /** As in the URL; empty for the first. */
  aggregation: string;
}

/** The baseline as parameters of a table. */
export const baselineLinks = ({ base, aggregation }: Baseline): Record<string, string> =>
  aggregation === "" ? { base } : { base, base_aggregation: aggregation };

const pairQuery = (scope: ProfileScope, baseline: Baseline): URLSearchParams => {
  const query = scopeQuery(scope);
  for (const [name, value] of Object.entries(baselineLinks(baseline))) query.set(name, value);
  return query;
};

export async function fetchCompare(
  scope: ProfileScope,
  baseline: Baseline,
  signal: AbortSignal,
): Promise<CompareResponse> {
  return (await get(`./compare?${pairQuery(scope, baseline).toString()}`, signal)) as CompareResponse;
}

export async function fetchSeries(profiles: readonly string[], signal: AbortSignal): Promise<SeriesResponse> {
  const query = new URLSearchParams({ profiles: profiles.join(",") });
  return (await get(`./compare_series?${query.toString()}`, signal)) as SeriesResponse;
}

export async function fetchCompareRow(
  scope: ProfileScope,
  baseline: Baseline,
  row: string,
  signal: AbortSignal,
): Promise<CompareRowResponse> {
  const query = pairQuery(scope, baseline);
  query.set("row", row);
  return (await get(`./compare_row?${query.toString()}`, signal)) as CompareRowResponse;
}

/** The job that the profile is a rank of; null if none was made. */
export async function fetchRankJob(profile: string, signal: AbortSignal): Promise<RankJob | null> {
  const query = new URLSearchParams({ profile });
  return ((await get(`./job?${query.toString()}`, signal)) as { job: RankJob | null }).job;
}

export async function fetchRankSummary(profile: string, signal: AbortSignal): Promise<RankSummary | null> {
  const query = new URLSearchParams({ profile });
  return ((await get(`./job_rank?${query.toString()}`, signal)) as { job: RankSummary | null }).job;
}

/** A measure of all ranks in the iterations `from` to `to`; null: no limit. */
export async function fetchJobCells(
  profile: string,
  measure: string,
  from: number | null,
  to: number | null,
  signal: AbortSignal,
): Promise<JobCells> {
  const query = new URLSearchParams({ profile, measure });
  if (from !== null) query.set("from", String(from));
  if (to !== null) query.set("to", String(to));
  return (await get(`./job_cells?${query.toString()}`, signal)) as JobCells;
}

/** The operations that a row of statistics sums up, the longest wait first. */
export async function fetchJobCollectives(
  profile: string,
  stats: number,
  signal: AbortSignal,
): Promise<JobCollective[]> {
  const query = new URLSearchParams({ profile, stats: String(stats) });
  const answer = (await get(`./job_collectives?${query.toString()}`, signal)) as { collectives: JobCollective[] };
  return answer.collectives;
}

export async function fetchJobCollective(
  profile: string,
  id: number,
  signal: AbortSignal,
): Promise<JobCollectiveDetail> {
  const query = new URLSearchParams({ profile, id: String(id) });
  const answer = (await get(`./job_collective?${query.toString()}`, signal)) as { collective: JobCollectiveDetail };
  return answer.collective;
}

export async function fetchJobs(profile: string, signal: AbortSignal): Promise<Job[]> {
  const query = new URLSearchParams({ profile });
  return ((await get(`./aggregation_jobs?${query.toString()}`, signal)) as { jobs: Job[] }).jobs;
}

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
