/** The main numbers of both sides of a comparison: what they are called and how they are written, on every page. */
import type { CompareMeasure, CompareResponse } from "../api/types";
import { formatBytes } from "../format/bytes";
import { formatCount, significant } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration } from "../format/time";
import { arrowOf, directionOf, isSmall, signedDuration, signedPoints, signedShare, type Direction } from "./change";

export interface MeasureKind {
  key: string;
  label: string;
  format: (value: number) => string;
  /** What of it is better, so that its change has a colour; null where neither is. */
  better: "less" | "more" | null;
}

const kind = (
  key: string,
  label: string,
  format: MeasureKind["format"],
  better: MeasureKind["better"] = null,
): MeasureKind => ({ key, label, format, better });

/** What `Kernel time, summed` is: it may be longer than the iteration beside it. */
export const SUMMED =
  "Each kernel that is launched in an iteration counts in full, also while others run and after the iteration ended.";

/** A mean number of kernels: whole where its parts of one tell nothing. */
const kernelCount = (count: number): string =>
  Number.isInteger(count) || count >= 100 ? formatCount(Math.round(count)) : significant(count);

/** In the order in which they are read; `unit` is `Tensor Core` or `Matrix Core`. */
export const measureKinds = (unit: string): readonly MeasureKind[] => [
  kind("iteration_time", "Iteration", formatDuration, "less"),
  kind("kernel_time", "Kernel time, summed", formatDuration, "less"),
  kind("tensor_core_share", `of it on ${unit}s`, formatShare),
  kind("kernels", "Kernels", kernelCount),
  kind("idle_time", "GPU idle", formatDuration, "less"),
  kind("gpu_utilization", "GPU utilization", formatShare),
  kind("memory_peak", "Peak memory", formatBytes, "less"),
  kind("samples_per_s", "Samples/s", significant, "more"),
  kind("tokens_per_s", "Tokens/s", significant, "more"),
];

/** What a change is called that has no text, be both sides known. */
export const NO_CHANGE = "no change";

/** Less is how an allocator rounds, and neither better nor worse. */
const LEAST_SEEN = 0.001;

export interface MeasuredChange {
  /** `▼ −51.2 ms`; of shares in points, of counts and rates empty. */
  size: string;
  /** `−72.1 %`; of shares empty. */
  share: string;
  /** How it is coloured: the better as less time is; `same` where neither is better. */
  direction: Direction;
}

/** The change of a measure in words; nothing where it would be none, or a side is unknown. */
export function changeOfMeasure({ format, better }: MeasureKind, a: number | null, b: number | null): MeasuredChange {
  const none: MeasuredChange = { size: "", share: "", direction: "same" };
  if (a === null || b === null || a === b) return none;
  const change = b - a;
  const arrow = arrowOf(change);
  if (format === formatShare) {
    const points = signedPoints(change);
    return { ...none, size: points === "" ? "" : `${arrow} ${points}` };
  }
  const fraction = a > 0 ? change / a : null;
  if (fraction !== null && Math.abs(fraction) < LEAST_SEEN && format !== formatDuration) return none;
  const share = signedShare(fraction);
  const direction = better === null || isSmall(a, change) ? "same" : directionOf(better === "less" ? change : -change);
  if (format === significant || format === kernelCount) return { ...none, share: `${arrow} ${share}`, direction };
  const size =
    format === formatDuration ? signedDuration(change) : `${change > 0 ? "+" : "−"}${format(Math.abs(change))}`;
  return { size: `${arrow} ${size}`, share, direction };
}

/** How a change is coloured: one that may be none is neither better nor worse. */
export function colourOfChange({ direction }: MeasuredChange, interval: CompareMeasure["interval"]): string {
  const [low, high] = interval ?? [1, 1];
  if (interval !== null && low <= 1 && high >= 1) return "muted";
  return direction === "same" ? "" : `change-${direction}`;
}

/** Whether no change has a colour: of other work, neither less nor more time is better, and what may be noise is neither. */
export const isNeutral = ({
  inputs_differ: differ,
  per,
  verdict,
}: Pick<CompareResponse, "inputs_differ" | "per" | "verdict">): boolean =>
  differ || per === "capture" || verdict === "cannot_tell";

/** What recordings of other amounts of work have less of is no better. */
const OF_ALL: ReadonlySet<string> = new Set(["kernel_time", "kernels", "idle_time"]);

/** The headline behind its word, which it begins with where no change is to be relied on. */
export const behindWord = ({ word, headline }: Pick<CompareResponse, "word" | "headline">): string =>
  headline.startsWith(`${word}: `) ? headline.slice(word.length + 2) : headline;

/** Whether a measure is the sum over recordings that may have done other amounts of work. */
export const isInTotal = ({ key }: MeasureKind, per: CompareResponse["per"]): boolean =>
  per === "capture" && OF_ALL.has(key);

/** The bounds of an estimate: `−72.4 to −71.8 %`; empty without. */
export function boundsOf({ interval }: Pick<CompareMeasure, "interval">): string {
  if (interval === null) return "";
  const [low, high] = interval.map((bound) => signedShare(bound - 1) || "0 %");
  return `${low?.replace(/ %$/, "") ?? ""} to ${high ?? ""}`;
}
