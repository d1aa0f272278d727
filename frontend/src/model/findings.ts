/** What the analysis found, in the words of the screen, and which view shows its evidence. */
import type { DiagnosedFinding, EvidenceKind, FindingSeverity, Gain } from "../api/types";
import { formatShare } from "../format/share";
import { formatDuration } from "../format/time";
import { amongNeighbours, showingOp, type Changes } from "./url_state";

export const SEVERITY_LABELS: Readonly<Record<FindingSeverity, string>> = {
  info: "For information",
  advice: "Advice",
  warning: "Important",
};

/** `29.6 to 59.3 ms`: the unit once where both ends have the same; `up to 59.3 ms` from nothing. */
export function rangeText(low: string, high: string): string {
  if (low === high) return high;
  if (/^0(?: |$)/.test(low)) return `up to ${high}`;
  const unit = high.slice(high.lastIndexOf(" "));
  return low.endsWith(unit) && /^[\d.,]+ \S+$/.test(low)
    ? `${low.slice(0, -unit.length)} to ${high}`
    : `${low} to ${high}`;
}

export const gainTime = ({ low_ns: low, high_ns: high }: Pick<Gain, "low_ns" | "high_ns">): string =>
  rangeText(formatDuration(low), formatDuration(high));

/** What gains are a share of: without marked iterations there is none to speak of. */
export const wholeOf = (marked: boolean): string => (marked ? "an iteration" : "the recording");

/** What the bars of findings show. */
export function scaleSaid(marked: boolean): string {
  const whole = wholeOf(marked);
  return `A bar is as long as ${whole}. Filled: how much shorter that could become, dark at least so much. Outline: the time in question, gain not known.`;
}

/** What is told in place of a gain: the time that a finding is about, and why nothing can be gained of it for sure. */
export function withoutGain({
  gain,
  per,
  time_ns: time,
  share,
}: Pick<DiagnosedFinding, "gain" | "per" | "time_ns" | "share">): string[] {
  const about = time === null || share === null ? [] : [`${formatDuration(time)}, ${formatShare(share)}`];
  return [
    ...about,
    gain !== null
      ? "gain not known"
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

/** Findings for a list of few: what is told for information and happened once asks for no change, and comes last. */
export function askingFirst<Told extends Pick<DiagnosedFinding, "severity" | "per">>(
  findings: readonly Told[],
): Told[] {
  const asks = ({ severity, per }: Told): boolean => severity !== "info" || per !== "once";
  return [...findings.filter(asks), ...findings.filter((finding) => !asks(finding))];
}

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
