/** The sentence that the Dashboard begins with, and what is said below it. */
import type { Diagnosis } from "../api/types";
import { formatCount } from "../format/number";
import { formatDuration } from "../format/time";
import { rangeText } from "./iterations";
import type { Step } from "./step";

/** Another time is told from this share of the sentence's on. */
const LEAST_SHARE = 0.01;

type Counted = Pick<Diagnosis, "typical" | "mean">;

/** First and last position of the iterations that a user chose to have means of; null where they are the typical ones. */
function chosen({ typical, mean }: Counted): readonly [first: number, last: number] | null {
  const [first, last] = [mean.selected[0], mean.selected.at(-1)];
  if (first === undefined || last === undefined) return null;
  return first === typical.start && last === typical.stop ? null : [first, last];
}

/** That few long iterations make the mean of the typical ones; empty where they do not, or it is of others. */
export const meanSaid = (diagnosis: Counted): string => (chosen(diagnosis) === null ? diagnosis.typical.mean_said : "");

/** Which iterations means are of, and why others are not; `brief` leaves out that few long ones make the mean. */
export function saidOf(diagnosis: Counted, { iterations }: Pick<Step, "iterations">, brief = false): string {
  const { typical } = diagnosis;
  const end = brief ? typical.mean_said.length : 0;
  const said = typical.said.slice(0, typical.said.length - end).trimEnd();
  const count = iterations.length;
  const range = chosen(diagnosis);
  if (range !== null) return saidOfChosen(typical, range, iterations);
  const isAll =
    count > 1 &&
    typical.why.length === 0 &&
    typical.left_out.length === 0 &&
    typical.stop - typical.start + 1 === count;
  return isAll ? said.replace(/^.*? recorded\./, `All ${formatCount(count)} iterations.`) : said;
}

/** The same of iterations that a user chose, with what the typical ones would leave out. */
function saidOfChosen(
  { start, said }: Diagnosis["typical"],
  [first, last]: readonly [number, number],
  iterations: Step["iterations"],
): string {
  const count = iterations.length;
  const sentences = said.split(/(?<=\.) (?=[A-Z\d])/);
  const ends = sentences.filter((sentence) => / took .* the median: /.test(sentence));
  const [atStart = "", atEnd = ""] = start > 0 ? ends : ["", ...ends];
  const included = [first === 0 ? atStart : "", last === count - 1 ? atEnd : ""].filter(Boolean);
  const range = rangeText(iterations[first]?.number ?? first, iterations[last]?.number ?? last);
  return [
    last - first + 1 === count
      ? `All ${formatCount(count)} iterations.`
      : `${first === last ? "Iteration" : "Iterations"} ${range}: ${formatCount(last - first + 1)} of ${formatCount(count)} recorded.`,
    ...included.map((sentence) => `Included: i${sentence.slice(1)}`),
    ...sentences.filter((sentence) => / in no iteration\b| after the last mark\b/.test(sentence)),
  ].join(" ");
}

/** Whether means leave iterations out before or behind them, which a user may include: of two kinds, or of a drift, they are of all. */
export const leavesOut = (diagnosis: Counted, { iterations }: Pick<Step, "iterations">): boolean =>
  chosen(diagnosis) === null && (diagnosis.typical.start > 0 || diagnosis.typical.stop < iterations.length - 1);

/** How many iterations a user included that are not among the typical ones. */
export function includedBesides(diagnosis: Counted): number {
  const [first, last] = chosen(diagnosis) ?? [diagnosis.typical.start, diagnosis.typical.stop];
  return Math.max(diagnosis.typical.start - first, 0) + Math.max(last - diagnosis.typical.stop, 0);
}

/** What an iteration is spent on, in the Dashboard's words, behind how long it takes; empty where they are of another time, or of several. */
export function spentOn(
  { headline, marked, mean }: Pick<Diagnosis, "headline" | "marked" | "mean">,
  wall: number,
): string {
  const isIt = marked && mean.iterations === 1 && formatDuration(mean.wall_ns) === formatDuration(wall);
  return isIt ? headline.replace(/ of an? \S+ \S+ iteration\b/, " of it") : "";
}

/**
 * What the time of the sentence is where no iteration is marked, and which other time DLProf's numbers are shares of; empty where
 * they are of the same.
 */
export function spanOf({ marked, mean }: Pick<Diagnosis, "marked" | "mean">, wall_ns: number | null): string {
  const isOther = wall_ns !== null && Math.abs(wall_ns - mean.wall_ns) > mean.wall_ns * LEAST_SHARE;
  return !marked && isOther ? `DLProf's panels are about all ${formatDuration(wall_ns)} recorded.` : "";
}
