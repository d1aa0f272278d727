/** Aggregations: ranges of iterations. */
import type { Aggregation } from "../api/types";

/** `5 .. 10`; without a range, how many iterations, or simply `all`. */
export function aggregationLabel({ iter_start: start, iter_stop: stop, iterations }: Aggregation): string {
  if (start !== null && stop !== null) return `${start} .. ${stop}`;
  return iterations === null ? "all" : `all ${iterations}`;
}

/** How the iterations of an aggregation were found: its key node, or what else separates them; empty where nobody says. */
export function iterationsBy({ key_node: node, label }: Aggregation): string {
  if (node !== null && node !== "") return `key node ${node}`;
  return label;
}

/** The aggregation that a URL names; null where it names none, or something that is no number. */
export function chosenAggregation(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
