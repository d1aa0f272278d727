/** What the analysis found, in the words of the screen, and which view shows its evidence. */
import type { DiagnosedFinding, DiagnosedGain, Diagnosis, EvidenceKind, Gain } from "../api/types";
import { formatShare } from "../format/share";
import { formatCounted, UNKNOWN } from "../format/number";
import { formatDuration, formatRange } from "../format/time";
import { amongNeighbours, showingOp, type Changes } from "./url_state";

export const CONFIDENCE =
  "How sure the estimate is. High: measured; medium: modelled from what was measured; low: inferred from a symptom.";

export const WHOLE_JOB = "The recordings of all ranks tell it: see GPUs and Ranks";

/** Why nobody can tell a gain, or why there is none yet, as a sentence; empty where there is a gain, or none to be had. */
export function withoutGainWhy(gain: Pick<DiagnosedGain, "cannot_tell" | "most_ns" | "none_while"> | null): string {
  const reason = (gain?.cannot_tell ?? "").replace(/\.$/, "");
  if (gain === null || reason === "") return "";
  if (gain.none_while !== null) return `No gain${reason.slice("none".length)}.`;
  return gain.most_ns === null ? `Gain not known: ${reason}.` : `Gains ${reason}.`;
}

/** Of the findings before one, those about the same time: their gains do not add up. */
export const sameTime = (
  { overlaps_with: overlaps }: DiagnosedFinding,
  before: readonly DiagnosedFinding[],
): readonly DiagnosedFinding[] => before.filter(({ rule }) => overlaps.includes(rule));

/** Shares from one to another, the unit once: `1.5 to 3.2 %`; `up to 3.2 %` from nothing. */
export function rangeText(low: string, high: string): string {
  if (low === high) return high;
  if (/^0(?: |$)/.test(low)) return `up to ${high}`;
  const unit = high.slice(high.lastIndexOf(" "));
  return low.endsWith(unit) && /^[\d.,]+ \S+$/.test(low)
    ? `${low.slice(0, -unit.length)} to ${high}`
    : `${low} to ${high}`;
}

/** In the unit of the sentence beside it, which names the same time; bars compare findings. */
export const gainTime = ({ low_ns: low, high_ns: high }: Pick<Gain, "low_ns" | "high_ns">): string =>
  low === null || high === null ? UNKNOWN : formatRange(low, high);

/** What gains are a share of: without marked iterations there is none to speak of. */
export const wholeOf = (marked: boolean): string => (marked ? "an iteration" : "the recording");

/** What the bars of findings show. */
export function scaleSaid(marked: boolean): string {
  const whole = wholeOf(marked);
  return `A bar is as long as ${whole}. Filled: how much shorter that could become, by the first part at least, by both at most. Outline: the time in question, gain not known. What gains most for sure comes first; what is to be weighed for more than time, such as FP8, last.`;
}

const UP_TO_SHARE = /^[^:;]*?\([\d.]+ %(?=[),;])/;

/** What a sentence says before its details: `488 elementwise, normalisation and copy kernels take 29.4 ms of each iteration (17 %)`. */
export function firstClause(sentence: string): string {
  const [start = ""] = UP_TO_SHARE.exec(sentence) ?? [];
  const rest = start === "" ? sentence : sentence.slice(start.length).replace(/^[^)]*\)/, "");
  const [clause = ""] =
    (start === "" ? /^.*?(?=[:;] |\.(?: |$)|$)/ : /^.*?(?=[,:;] | \(|\.(?: |$)|$)/).exec(rest) ?? [];
  return start === "" ? clause : `${start})${clause}`;
}

/** The finding that GPU work is missing from the time that shares are of, and for how much of it; null without one. */
export function missingWork({
  findings,
  marked,
  mean,
}: Pick<Diagnosis, "findings" | "marked" | "mean">): { rule: string; when: string } | null {
  const finding = findings.find(({ missing_work: missing }) => missing !== null);
  if (finding === undefined) return null;
  const { rule, time_ns: time, share } = finding;
  const whole = marked ? `${mean.iterations > 1 ? "an" : "the"} iteration` : formatDuration(mean.wall_ns);
  return { rule, when: `in ${formatDuration(time)} of ${whole}, ${formatShare(share)}` };
}

/** The server's name of the rule that finds communication which nothing hides. */
export const COMMUNICATION = "communication_detector";

/** Whether the moments of a finding are those in which nothing hides what it is about. */
export const isExposed = ({ part }: Pick<DiagnosedFinding, "part">): boolean =>
  part === "communication" || part === "copy";

function gainInShort({ none_while: limits, most_ns: most }: Pick<DiagnosedGain, "none_while" | "most_ns">): string {
  if (limits !== null) return `none while ${limits}`;
  return most === null ? "gain not known" : `at most ${formatDuration(most)} of launches`;
}

/** What is gained at most where no more is known, as a share of the step; 0 where that is not known either. */
export const mostShare = ({
  gain,
  time_ns: time,
  share,
}: Pick<DiagnosedFinding, "gain" | "time_ns" | "share">): number =>
  gain?.most_ns == null || !time || share === null ? 0 : (share * gain.most_ns) / time;

/** What is told in place of a gain: the time that a finding is about, and why nothing can be gained of it for sure. */
export function withoutGain({
  gain,
  per,
  time_ns: time,
  share,
}: Pick<DiagnosedFinding, "gain" | "per" | "time_ns" | "share">): string[] {
  const about =
    time === null ? [] : [[formatDuration(time), share === null ? "" : formatShare(share)].filter(Boolean).join(", ")];
  return [
    ...about,
    gain !== null
      ? gainInShort(gain)
      : per === "once"
        ? "happens once"
        : about.length > 0
          ? "gain not known"
          : "no gain in time",
  ];
}

export const EVIDENCE_LABELS: Readonly<Record<EvidenceKind, { head: string; opens: string }>> = {
  op: { head: "Op", opens: "Ops" },
  kernel: { head: "Kernel", opens: "Iterations" },
  line: { head: "Source line", opens: "Ops" },
  function: { head: "Python function", opens: "" },
  call: { head: "API call", opens: "" },
  iteration: { head: "Iteration", opens: "Iterations" },
  device: { head: "GPU", opens: "GPUs and Ranks" },
};

/** Whether a finding asks for a change: what is told for information and happened once does not. */
export const asks = ({ severity, per }: Pick<DiagnosedFinding, "severity" | "per">): boolean =>
  severity !== "info" || per !== "once";

/** Whether a finding is told in a line: it gains nothing and is no fault. */
export const isNote = ({ severity, gain }: Pick<DiagnosedFinding, "severity" | "gain">): boolean =>
  severity === "info" && gain === null;

/** Whether a finding is to be weighed for more than the time that it gains: it changes results, too. */
export const isToWeigh = ({ severity, gain }: Pick<DiagnosedFinding, "severity" | "gain">): boolean =>
  severity === "info" && gain !== null;

/** How many findings are cards, and how many a line: `6 changes, 1 note`. */
export function countedFindings(findings: readonly Pick<DiagnosedFinding, "severity" | "gain">[]): string {
  const notes = findings.filter(isNote).length;
  const changes = findings.length - notes;
  return [changes > 0 ? formatCounted(changes, "change") : "", notes > 0 ? formatCounted(notes, "note") : ""]
    .filter(Boolean)
    .join(", ");
}

/** Whether time is saved, or may be: a gain is told, or the time in question of what asks for a change. */
const mayGain = (finding: DiagnosedFinding): boolean =>
  finding.gain?.high_ns != null ||
  (finding.time_ns !== null && asks(finding) && (finding.gain?.none_while ?? null) === null);

/** Findings for a list of few: what asks for no change comes last. */
export function askingFirst<Told extends Pick<DiagnosedFinding, "severity" | "per">>(
  findings: readonly Told[],
): Told[] {
  return [...findings.filter(asks), ...findings.filter((finding) => !asks(finding))];
}

/** Whether a finding is another way to gain the time of one before it: all of it, not a part. */
const isOtherWay = (finding: DiagnosedFinding, before: readonly DiagnosedFinding[]): boolean =>
  sameTime(finding, before).some(({ part, time_ns: time }) => part === finding.part && time === finding.time_ns);

/** A finding of a list of few, and the findings that are other ways to the same gain. */
export interface FirstFinding {
  finding: DiagnosedFinding;
  others: readonly DiagnosedFinding[];
}

/**
 * The first findings by which time may be gained, for a list of so few: of those that are ways to the same gain only the first,
 * with the others beside it. The last place is for what the Dashboard's sentence blames (a part of the time), where none of them
 * is about that. Where nothing gains: what asks for a change, else what there is.
 */
export function firstOf(
  findings: readonly DiagnosedFinding[],
  count: number,
  blamed: string | null,
): readonly FirstFinding[] {
  const ranked = askingFirst(findings);
  const every = ranked.filter((finding, i) => !isOtherWay(finding, ranked.slice(0, i)));
  const all = every.some(mayGain) ? every.filter(mayGain) : every;
  const first = (all.some(asks) ? all.filter(asks) : all).slice(0, count);
  const about = blamed === null ? undefined : all.find(({ part }) => part === blamed);
  const shown =
    about === undefined || first.some(({ part }) => part === blamed) ? first : [...first.slice(0, count - 1), about];
  return shown.map((finding) => ({
    finding,
    others: ranked.filter((other) => !every.includes(other) && isOtherWay(other, [finding])),
  }));
}

/** The rule that says how iterations are to be marked. */
export const NOT_MARKED = "no_iterations_detector";

/** What the Dashboard says beside its chart of iterations, and below its sentence. */
const SAID_BESIDE: readonly string[] = [NOT_MARKED, "iteration_range_detector"];

/** Findings of a line each, for so many places beside those that are told. */
export const notesBeside = (
  findings: readonly DiagnosedFinding[],
  told: readonly DiagnosedFinding[],
  places: number,
): readonly DiagnosedFinding[] =>
  findings.filter((finding) => !told.includes(finding) && !SAID_BESIDE.includes(finding.rule)).slice(0, places);

/** What the URL becomes where a piece of evidence is opened; null where no view shows it. */
export function opening(
  { kind, key }: { kind: EvidenceKind; key: string },
  firstIteration: number | null,
): Changes | null {
  switch (kind) {
    case "op":
      return showingOp("ops", key);
    case "line":
      return { view: "ops", "ops.by": "none", "ops.where.stack_trace": key };
    case "kernel":
      return firstIteration === null
        ? null
        : { view: "iterations", "iters.row": String(firstIteration), "iters.by": "kernel", "ikernels.search": key };
    case "iteration":
      return amongNeighbours(Number(key), Number(key));
    case "device":
      return { view: "gpus" };
    case "function":
    case "call":
      return null;
  }
}
