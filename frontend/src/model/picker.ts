/** Runs, ranks and captures: order, colours, names, search. */
import type { NamedFile, OtherFile, ProfileEntry, ProfilesResponse } from "../api/types";
import { formatMoment } from "../format/date";
import { formatCount } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration } from "../format/time";
import { isOfMemory } from "./same_time";

/** TensorBoard's own palette for runs, light and dark theme. */
const RUN_COLOURS = [
  { light: "#425066", dark: "#8e98a3" },
  { light: "#12b5cb", dark: "#12b5cb" },
  { light: "#e52592", dark: "#e52592" },
  { light: "#f9ab00", dark: "#f9ab00" },
  { light: "#9334e6", dark: "#9334e6" },
  { light: "#7cb342", dark: "#7cb342" },
  { light: "#e8710a", dark: "#e8710a" },
] as const;

/**
 * The colour of a run by its place in TensorBoard's list of runs. Runs that TensorBoard does not know (no event file)
 * follow after those that it does.
 */
export function runColour(run: string, runs: readonly string[], theme: "light" | "dark"): string {
  const place = Math.max(runs.indexOf(run), 0);
  return (RUN_COLOURS[place % RUN_COLOURS.length] ?? RUN_COLOURS[0])[theme];
}

/** All runs: TensorBoard's, then those that only have profiles, in the order the server gives. */
export function allRuns(hostRuns: readonly string[] | null, profiles: readonly ProfileEntry[]): string[] {
  return [...new Set([...(hostRuns ?? []), ...profiles.map(({ run }) => run)])];
}

export interface RunGroup {
  run: string;
  profiles: ProfileEntry[];
  /** Whether these are the ranks of one job. */
  job?: boolean;
  /** What these are, where they are not those of the run. */
  title?: string;
}

const isIn = (run: string, folder: string): boolean => folder === "." || run === folder || run.startsWith(`${folder}/`);

/** The profiles by run, in the order of ranks, then newest first; those of ranks by the job whose run is theirs, or the closest above it. */
export function byJob(profiles: readonly ProfileEntry[], jobs: readonly { run: string }[]): RunGroup[] {
  const runs = [...new Set(jobs.map(({ run }) => run))].sort((a, b) => b.length - a.length);
  const groups: RunGroup[] = [];
  const known = new Map<string, RunGroup>();
  for (const profile of profiles) {
    const job = profile.rank === null ? undefined : runs.find((folder) => isIn(profile.run, folder));
    const key = job === undefined ? `run ${profile.run}` : `job ${job}`;
    const group = known.get(key);
    if (group !== undefined) group.profiles.push(profile);
    else {
      const made = { run: job ?? profile.run, profiles: [profile], job: job !== undefined };
      known.set(key, made);
      groups.push(made);
    }
  }
  for (const group of groups) {
    group.profiles.sort(
      (a, b) => (a.rank ?? 0) - (b.rank ?? 0) || (b.captured_at ?? -Infinity) - (a.captured_at ?? -Infinity) || 0,
    );
    group.job = group.job === true && group.profiles.length > 1;
  }
  return groups;
}

/** The ranks of a job that are listed where nothing is searched for: the first ones, and the selected one. */
export function fewRanks(group: RunGroup, selected: ProfileEntry | null, most = 8): ProfileEntry[] {
  if (!group.job || group.profiles.length <= most) return group.profiles;
  return group.profiles.filter((profile, place) => place < most || profile.id === selected?.id);
}

/** The rank of a job on whose page the job is shown: one that is ready, so that nothing has to be imported. */
export const entranceOf = ({ profiles }: RunGroup): ProfileEntry | undefined =>
  profiles.find(({ state }) => state === "ready") ?? profiles[0];

/**
 * What people call the folder that TensorBoard calls `.`: the log directory; in dlprofviewer the folder that was opened, and nothing
 * for a file.
 */
export const topLabel = (opened: ProfilesResponse["opened"] | undefined): string =>
  opened == null ? "log directory" : opened.profile === null ? opened.name : "";

export const runLabel = (run: string, top: string): string => (run === "." ? top : run);

/** Run and file. */
export const titleOf = ({ run, name }: Pick<ProfileEntry, "run" | "name">, top: string, between: string): string =>
  [runLabel(run, top), name].filter(Boolean).join(between);

/**
 * What tells a profile from another that stands beside it: its run without the folders that both are in, and rank or file only
 * where the run holds several.
 */
export function besideOther(
  profile: ProfileEntry,
  other: ProfileEntry | undefined,
  profiles: readonly ProfileEntry[],
  top: string,
): { run: string; rank: string; name: string } {
  const { run, name } = profile;
  const parts = run.split("/");
  const differ = parts.findIndex((part, i) => part !== other?.run.split("/")[i]);
  const own = differ < 0 ? (run === other?.run ? "" : (parts.at(-1) ?? "")) : parts.slice(differ).join("/");
  const neighbours = profiles.filter((each) => each.run === run);
  const shown = own === "" ? "" : runLabel(own, top);
  if (shown !== "" && neighbours.length < 2) return { run: shown, rank: "", name: "" };
  const rank = rankLabel(profile);
  const isTold = rank !== "" && neighbours.every((each) => each.id === profile.id || each.rank !== profile.rank);
  return { run: shown, rank, name: isTold ? "" : name };
}

/** `rank 3 of 8`, `rank 3`, or nothing, as of the only one. */
export function rankLabel(profile: Pick<ProfileEntry, "rank" | "world_size">): string {
  if (profile.rank === null || profile.world_size === 1) return "";
  return profile.world_size === null
    ? `rank ${profile.rank}`
    : `rank ${profile.rank} of ${formatCount(profile.world_size)}`;
}

/** How much the GPUs did, or that nothing of it was recorded; empty where that is not known, or not asked, as of memory. */
export function busyLabel(profile: Pick<ProfileEntry, "headline" | "state" | "format">): string {
  const { computing_fraction: computing = null, gpu_utilization_fraction: ran = null } = profile.headline ?? {};
  if (computing !== null) return `computing ${formatShare(computing)}`;
  if (ran !== null) return `kernels ran ${formatShare(ran)}`;
  return profile.state === "ready" && profile.headline !== null && !isOfMemory(profile) ? "no GPU work recorded" : "";
}

/** `8 × NVIDIA H100 80GB HBM3`: equal names counted. */
export function gpuLabel(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(", ");
}

/** The format as people call it. */
export function formatLabel(format: string): string {
  const known: Record<string, string> = {
    pytorch: "PyTorch profiler",
    nsight_systems: "Nsight Systems",
    nsys: "Nsight Systems",
    dlprof: "DLProf",
    xplane: "XPlane",
    pytorch_memory_snapshot: "PyTorch memory snapshot",
    pytorch_memory_timeline: "PyTorch memory timeline",
  };
  return known[format] ?? format;
}

/** Whether another profile of its run was recorded in the same minute, which then does not tell them apart. */
export const sharesMinute = (profile: ProfileEntry, profiles: readonly ProfileEntry[]): boolean =>
  profile.captured_at !== null &&
  profiles.some(
    ({ id, run, captured_at: at }) =>
      id !== profile.id && run === profile.run && formatMoment(at) === formatMoment(profile.captured_at),
  );

/** How long an iteration takes, or what was recorded; of a recording without times nothing is known. */
export const lengthLabel = ({ headline }: Pick<ProfileEntry, "headline">): string =>
  headline?.average_iteration_ns
    ? `${formatDuration(headline.average_iteration_ns)} ${(headline.marked ?? headline.iterations !== 1) ? "per iteration" : "recorded"}`
    : "";

/** Whether every word of the search occurs in a text. */
export function matches(text: string, search: string): boolean {
  const searched = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/**
 * Profiles in which every word of the search occurs: in what a row shows of them; those first whose own names
 * have them all.
 */
export function searchProfiles(profiles: readonly ProfileEntry[], search: string): ProfileEntry[] {
  if (search.trim() === "") return [...profiles];
  const has = (texts: readonly string[]): boolean => matches(texts.join(" "), search);
  const named = (profile: ProfileEntry): string[] => [profile.run, profile.name, rankLabel(profile)];
  const others = (profile: ProfileEntry): string[] => [
    busyLabel(profile),
    gpuLabel(profile.headline?.gpu_names ?? []),
    profile.captured_at === null ? "" : formatMoment(profile.captured_at, true),
    formatLabel(profile.format),
    lengthLabel(profile),
  ];
  const byName = profiles.filter((profile) => has(named(profile)));
  const byFacts = profiles.filter(
    (profile) => !byName.includes(profile) && has([...named(profile), ...others(profile)]),
  );
  return [...byName, ...byFacts];
}

/** The profiles beside another, nearest first: by how many folders above its run each has in common with it. */
export function nearestFirst(profiles: readonly ProfileEntry[], other: ProfileEntry | undefined): ProfileEntry[] {
  const folders = other?.run.split("/").slice(0, -1) ?? [];
  const near = ({ run }: ProfileEntry): number => {
    if (run === other?.run) return folders.length;
    const above = run.split("/").slice(0, -1);
    const differ = folders.findIndex((folder, i) => folder !== above[i]);
    return differ < 0 ? folders.length : differ;
  };
  return profiles.filter(({ id }) => id !== other?.id).sort((a, b) => near(b) - near(a));
}

/** Whether a URL names a profile or run of which nothing is here. */
export function profileIsMissing(
  profiles: readonly ProfileEntry[],
  { profile, run }: Readonly<Record<string, string>>,
): boolean {
  if (profile === undefined && run === undefined) return false;
  return !profiles.some((each) => each.id === profile || each.run === run);
}

/** By when it was recorded; of which nobody knows that, behind the others, by when its file was written: a copy is new. */
const newerFirst = (a: ProfileEntry, b: ProfileEntry): number =>
  Number(b.captured_at !== null) - Number(a.captured_at !== null) ||
  (b.captured_at ?? b.modified_at ?? 0) - (a.captured_at ?? a.modified_at ?? 0);

/**
 * What is opened unasked: the newest ready profile with GPU work, else the newest that may have some, not being imported,
 * else the newest that is ready, else the newest that can be read.
 */
function mostTelling(profiles: readonly ProfileEntry[]): ProfileEntry | undefined {
  const newest = [...profiles].sort(newerFirst);
  const ready = newest.filter(({ state }) => state === "ready");
  return (
    ready.find(({ headline }) => headline?.gpu_utilization_fraction !== null) ??
    newest.find(({ state }) => state === "not_imported") ??
    ready[0] ??
    newest.find(({ state }) => state !== "failed") ??
    newest[0]
  );
}

/** Profiles that cannot be read, whose reason is told behind all others. */
export const isUnreadable = ({ state }: ProfileEntry): boolean => state === "failed";

/**
 * The profile that a URL means: its id; else, when the id is gone (another server), the one of that run and file name;
 * else the most telling of that run. Where the URL names none: `preferred` (what the viewer was started on), or the most telling.
 * Null where it names one that is not here.
 */
export function chooseProfile(
  profiles: readonly ProfileEntry[],
  url: Readonly<Record<string, string>>,
  preferred: string | null = null,
): ProfileEntry | null {
  if (profileIsMissing(profiles, url)) return null;
  const ofRun = profiles.filter(({ run }) => run === url.run);
  return (
    profiles.find(({ id }) => id === url.profile) ??
    ofRun.find(({ name }) => name === url.capture) ??
    mostTelling(ofRun) ??
    profiles.find(({ id }) => id === preferred) ??
    mostTelling(profiles) ??
    null
  );
}

/** What is not listed. */
export interface Unlisted {
  /** Why there may be more profiles: a sentence for each. */
  why: readonly string[];
  /** Reports of other tools that have to be exported, or are not supported. */
  reports: readonly NamedFile[];
  /** Files that look like profiles, and are none: the first of so many. */
  others: readonly OtherFile[];
  othersCount: number;
}

export const NONE_UNLISTED: Unlisted = { why: [], reports: [], others: [], othersCount: 0 };

export const unlisted = (
  { truncated, remote, reports, others, others_count: othersCount }: ProfilesResponse["scan"],
  profiles: readonly NamedFile[],
): Unlisted => ({
  why: [
    ...(truncated ? ["There are more files than are searched: name a folder further down as the log directory."] : []),
    ...remote,
  ],
  // What was exported stands beside its report, as a profile.
  reports: reports.filter(({ run, name }) => {
    const exported = name.replace(/\.[^.]*$/, ".");
    return !profiles.some((profile) => profile.run === run && profile.name.startsWith(exported));
  }),
  others,
  othersCount,
});
