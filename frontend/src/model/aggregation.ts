/** Aggregations: ranges of iterations. */
import type { Aggregation, DashboardResponse, IterationSource } from "../api/types";

/** `5 .. 10`, `6`; without a range, how many iterations, or simply `all`. */
export function aggregationLabel({ iter_start: start, iter_stop: stop, iterations }: Aggregation): string {
  if (start !== null && stop !== null) return start === stop ? String(start) : `${start} .. ${stop}`;
  return iterations === null ? "all" : `all ${iterations}`;
}

/** How the iterations of an aggregation were found: its key node, or what else separates them; empty where nobody says. */
export function iterationsBy({ key_node: node, label }: Aggregation): string {
  if (node !== "") return `key node ${node}`;
  return label;
}

/** What a way to find iterations is called, on screen and to the server: several may be of one kind, as batches and epochs are. */
export const nameOfWay = ({ label, kind }: Pick<IterationSource, "label" | "kind">): string =>
  label === "" ? kind : label;

/** What separates the iterations of the aggregation that is shown: a key op, or else markers by the name of their way. */
export function currentKey(data: Pick<DashboardResponse, "aggregation" | "aggregations" | "iterations">): {
  keyOp: string;
  way: string;
} {
  const shown = data.aggregations.find(({ id }) => id === data.aggregation);
  const keyOp = shown?.key_node ?? "";
  if (keyOp !== "") return { keyOp, way: "" };
  const ways = data.iterations.source.candidates;
  const way = ways.find(({ label }) => label === shown?.label) ?? ways[0];
  return { keyOp: "", way: way === undefined ? "" : nameOfWay(way) };
}
