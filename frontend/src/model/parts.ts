/** The parts of a step's time as `dlprof diagnose` tells them: their names, colours, and the pages that show them. */
import { formatShare, shareOf } from "../format/share";
import { formatDuration } from "../format/time";
import type { DashboardResponse, Diagnosis, DiagnosedDevice, DiagnosedPart } from "../api/types";
import { colourOf } from "./resources";
import { shortPath } from "./short_place";
import type { Changes } from "./url_state";

export interface PartKind {
  key: DiagnosedPart;
  label: string;
  colour: string;
  about: string;
  /** What opens when it is clicked. */
  to: Changes;
}

const kind = (key: DiagnosedPart, label: string, colour: string, about: string, to: Changes): PartKind => ({
  key,
  label,
  colour,
  about,
  to,
});

const OPS: Changes = { view: "ops" };
const kernelsThat = (use: "yes" | "no"): Changes => ({
  ...OPS,
  "ops.by": "kernel",
  "allkernels.where.using_tensor_cores": use,
});
const FINDINGS: Changes = { view: "recommendations" };

/** In order of precedence, `unit` is `Tensor Core` or `Matrix Core`. */
export const partKinds = (unit: string): readonly PartKind[] => [
  kind("compute_tensor", `${unit}s`, colourOf("tensor_core"), `A kernel ran that uses ${unit}s.`, kernelsThat("yes")),
  kind(
    "compute_other",
    "Other kernels",
    colourOf("other_kernel"),
    `Kernels ran, none of them on ${unit}s.`,
    kernelsThat("no"),
  ),
  kind(
    "compute_unknown",
    "Unknown kernels",
    colourOf("unknown_kernel"),
    `Kernels ran of which it is not known whether they use ${unit}s, or a CUDA graph that was recorded as a whole.`,
    OPS,
  ),
  kind(
    "communication",
    "Communication, exposed",
    colourOf("communication"),
    "Collectives or transfers between GPUs ran, and nothing was computed meanwhile.",
    FINDINGS,
  ),
  kind(
    "copy",
    "Copies, exposed",
    colourOf("memory"),
    "Copies or memsets ran, and neither kernels nor communication.",
    FINDINGS,
  ),
  kind(
    "data_loader",
    "Data loader",
    colourOf("data_loader"),
    "The GPU was idle while the program waited for the next batch.",
    FINDINGS,
  ),
  kind(
    "blocked",
    "Blocking calls",
    "var(--c-blocked)",
    "The GPU was idle while a call of the CUDA API kept the program waiting: a synchronisation, an allocation, loading code.",
    FINDINGS,
  ),
  kind(
    "launching",
    "Launching",
    "var(--c-launching)",
    "The GPU was idle while work for it was being launched.",
    FINDINGS,
  ),
  kind("host_op", "Ops on the CPU", colourOf("cpu"), "The GPU was idle while an op ran on the CPU.", FINDINGS),
  kind(
    "host_code",
    "Other code on the CPU",
    "var(--c-host-code)",
    "The GPU was idle while the program was in none of the recorded ops and calls, but in a range or function.",
    FINDINGS,
  ),
  kind("io", "I/O", colourOf("io"), "The GPU was idle while files or sockets were read or written.", FINDINGS),
  kind(
    "queued",
    "Queued",
    "var(--c-queued)",
    "Work for the GPU had been launched, and nothing recorded ran: between kernels, or while work ran that was not recorded.",
    FINDINGS,
  ),
  kind(
    "unrecorded",
    "Not recorded",
    colourOf("other"),
    "The GPU was idle, and nothing of the program was recorded.",
    FINDINGS,
  ),
  kind(
    "launch_unknown",
    "Launch not recorded",
    "var(--c-launch-unknown)",
    "The GPU was idle, and the call that launched what ran next was not recorded.",
    FINDINGS,
  ),
];

export const COMPUTE: readonly DiagnosedPart[] = ["compute_tensor", "compute_other", "compute_unknown"];

export const computeOf = (parts: Partial<Record<DiagnosedPart, number>>): number =>
  COMPUTE.reduce((sum, key) => sum + (parts[key] ?? 0), 0);

/** While any kernel ran, also one that only communicates. */
export const kernelsOf = (parts: Partial<Record<DiagnosedPart, number>>): number =>
  computeOf(parts) + (parts.communication ?? 0);

const busyOf = (parts: Partial<Record<DiagnosedPart, number>>): number => kernelsOf(parts) + (parts.copy ?? 0);

/** Share of the busiest GPU's busy time below which a GPU is not one that the program works with. */
const USED_FRACTION = 0.1;

/**
 * The GPU that the headline is about: the one that computes least, but not one that only copies, or gets a kernel now and
 * then, beside one that computes; null where none did any work.
 */
export function mainDevice({ mean }: Pick<Diagnosis, "mean">): [id: string, device: DiagnosedDevice] | null {
  const devices = Object.entries(mean.devices);
  const most = Math.max(...devices.map(([, { parts }]) => busyOf(parts)));
  const computes = devices.some(([, { parts }]) => kernelsOf(parts));
  const working = devices.filter(
    ([, { parts }]) => busyOf(parts) >= USED_FRACTION * most && (kernelsOf(parts) || !computes),
  );
  const least = [...working].sort(([, a], [, b]) => computeOf(a.parts) - computeOf(b.parts))[0];
  return least ?? null;
}

/** Where no part of the rest takes this share of the time, the Dashboard's sentence blames none. */
const CRUMB = 0.05;

/** What makes computing time a lower bound; launches that are missing do not. */
const MISSING: ReadonlySet<string> = new Set(["missing_work", "launches_without_work"]);

/** Whether computing time is a lower bound, and what is exposed an upper one. */
export const isLowerBound = ({ lower_bound: bounds }: Pick<Diagnosis, "lower_bound">): boolean =>
  bounds.some((why) => MISSING.has(why));

/** For how much of a time kernels run, and the same in words. */
export interface Running {
  share: number;
  said: string;
}

/** The same of the time that the Dashboard's sentence is about; null without GPU work. */
export function runningOf(diagnosis: Diagnosis): Running | null {
  const { marked, mean } = diagnosis;
  const parts = mainDevice(diagnosis)?.[1].parts;
  const share = parts === undefined ? null : shareOf(computeOf(parts) + parts.communication, mean.wall_ns);
  if (share === null) return null;
  const whole = `${formatDuration(mean.wall_ns)} ${marked ? "of an iteration" : "from first to last GPU work"}`;
  return { share, said: `${isLowerBound(diagnosis) ? "at least " : ""}${formatShare(share)} of the ${whole}` };
}

/** The part of the time that the Dashboard's sentence blames; null where it blames none. */
export function blamedPart(diagnosis: Pick<Diagnosis, "mean">): DiagnosedPart | null {
  const parts = mainDevice(diagnosis)?.[1].parts;
  if (parts === undefined) return null;
  const [most] = (Object.entries(parts) as [DiagnosedPart, number][])
    .filter(([key]) => !COMPUTE.includes(key))
    .sort(([, a], [, b]) => b - a);
  return most === undefined || most[1] < CRUMB * diagnosis.mean.wall_ns ? null : most[0];
}

/** Of a stretch of time a sentence names what was exposed that is at least this share. */
export const LEADS = 0.1;

/** What a sentence about a stretch of time names beside its idle time: that the GPU only communicated, or only copied, the longest first. */
export const exposedOf = (
  parts: Partial<Record<DiagnosedPart, number>>,
  wall: number,
): { key: "communication" | "copy"; ns: number }[] =>
  (["communication", "copy"] as const)
    .map((key) => ({ key, ns: parts[key] ?? 0 }))
    .filter(({ ns }) => ns >= LEADS * wall)
    .sort((a, b) => b.ns - a.ns);

/** How far sums of the diagnosis may be from DLProf's of the same time. */
const SAME = 0.01;

/**
 * The communication of the iterations that DLProf's numbers are sums of, while nothing was computed: 0 where the diagnosis is not of
 * the same, which the kernels tell that are on no matrix unit.
 */
export function exposedCommunication(
  { mean, iterations }: Pick<Diagnosis, "mean" | "iterations">,
  { resource_breakdown: resources, performance }: Pick<DashboardResponse, "resource_breakdown" | "performance">,
): number {
  const [device, ...others] = Object.keys(mean.devices);
  const counted = iterations.filter(({ typical }) => typical);
  if (device === undefined || others.length > 0 || counted.length !== performance.profiled_iterations) return 0;
  const sumOf = (part: DiagnosedPart): number =>
    counted.reduce((sum, { devices }) => sum + (devices[device]?.parts[part] ?? 0), 0);
  const all = resources.find(({ resource }) => resource === "other_kernel")?.time_ns ?? 0;
  const exposed = sumOf("communication");
  return Math.abs(exposed + sumOf("compute_other") - all) <= SAME * all ? Math.min(exposed, all) : 0;
}

export interface Share {
  kind: PartKind;
  ns: number;
}

/** A part has a segment of its own from this share of the step on; smaller ones are told together. */
const LEAST_SHARE = 0.01;

/**
 * The parts in order, and what is left of small ones, which are named in the tooltip of the rest; `large` are in any case shown, and
 * communication, as are all streams that communicate, and computing, which the sentence above begins with.
 */
export function shownParts(
  parts: Partial<Record<DiagnosedPart, number>>,
  wall: number,
  unit: string,
  large: ReadonlySet<DiagnosedPart> = new Set(),
): { shown: Share[]; rest: Share[] } {
  const all = partKinds(unit).flatMap((each) => {
    const ns = parts[each.key] ?? 0;
    return ns > 0 ? [{ kind: each, ns }] : [];
  });
  const isLong = (ns: number): boolean => ns >= wall * LEAST_SHARE;
  const computesLittle = !COMPUTE.some((key) => isLong(parts[key] ?? 0));
  const isLarge = ({ kind: { key }, ns }: Share): boolean =>
    large.has(key) || key === "communication" || isLong(ns) || (computesLittle && COMPUTE.includes(key));
  return { shown: all.filter(isLarge), rest: all.filter((share) => !isLarge(share)) };
}

const MOST_CAUSES = 3;

/** The causes of most of a part, each as time, call and path; most time first. */
export const causesOf = (device: DiagnosedDevice, part: string): string[] =>
  device.rows
    .filter((row) => row.part === part && row.path !== "(rest)")
    .sort((a, b) => b.time_ns - a.time_ns)
    .slice(0, MOST_CAUSES)
    .map(
      ({ time_ns: time, call, path }) =>
        `${formatDuration(time)} ${[call, path === "/" ? null : shortPath(path ?? "")].filter(Boolean).join(" in ")}`,
    );
