/** Aggregations: ranges of iterations. */
import type { Aggregation } from "../api/types";

/** `5 .. 10`; without a range, how many iterations, or simply `all`. */
export function aggregationLabel({ iter_start: start, iter_stop: stop, iterations }: Aggregation): string {
  if (start !== null && stop !== null) return `${start} .. ${stop}`;
  return iterations === null ? "all" : `all ${iterations}`;
}

/** The aggregation that a URL names, where the profile has it. */
export function chosenAggregation(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
