/** What the user has chosen for a new aggregation; everything not chosen is as in the one that is shown. */
import type { AggregateRequest, DashboardResponse, IterationsResponse } from "../../api/types";
import { navigateStep, useUrl } from "../../frame/url";
import { currentKey } from "../../model/aggregation";
import { rangeProblem } from "../../model/iteration_window";
import { wholeNumber } from "../../model/url_state";

export interface Choice {
  start: number | null;
  stop: number | null;
  /** The op that ends iterations; empty for none. */
  keyOp: string;
  /** The name of the way in which iterations are found; empty where a key op ends them, or where it is not known. */
  way: string;
  /** Whether the numbers of iterations are those on screen. */
  sameIterations: boolean;
  changed: boolean;
  problem: string;
  request: AggregateRequest;
  setRange: (range: { start?: number | null; stop?: number | null }) => void;
  setKeyOp: (op: string) => void;
  setWay: (way: string) => void;
  reset: () => void;
}

export function useChoice(data: DashboardResponse, iterations: IterationsResponse): Choice {
  const url = useUrl();
  const current = currentKey(data);
  const keyOp = url["iterations.key"] ?? (url["iterations.by"] === undefined ? current.keyOp : "");
  const way = url["iterations.key"] === undefined ? (url["iterations.by"] ?? current.way) : "";
  const sameIterations = keyOp === current.keyOp && way === current.way;
  const first = iterations.first ?? 0;
  const last = iterations.last ?? 0;
  const start = wholeNumber(url["iterations.start"]) ?? (sameIterations ? iterations.iter_start : null);
  const stop = wholeNumber(url["iterations.stop"]) ?? (sameIterations ? iterations.iter_stop : null);
  const problem = sameIterations
    ? rangeProblem(start, stop, first, last)
    : rangeProblem(start, stop, 0, Number.MAX_SAFE_INTEGER);
  const changed = !sameIterations || start !== iterations.iter_start || stop !== iterations.iter_stop;
  const text = (value: number | null | undefined, own: number | null): string | null =>
    value === null || value === undefined || (sameIterations && value === own) ? null : String(value);
  const reset = { "iterations.start": null, "iterations.stop": null };
  return {
    start,
    stop,
    keyOp,
    way,
    sameIterations,
    changed,
    problem,
    request: {
      iter_start: start,
      iter_stop: stop,
      key_op: keyOp === "" ? null : keyOp,
      candidate: keyOp === "" && way !== "" ? way : null,
    },
    setRange: (range) =>
      navigateStep({
        ...("start" in range ? { "iterations.start": text(range.start, iterations.iter_start) } : {}),
        ...("stop" in range ? { "iterations.stop": text(range.stop, iterations.iter_stop) } : {}),
      }),
    setKeyOp: (op) =>
      navigateStep({ ...reset, "iterations.key": op === current.keyOp ? null : op, "iterations.by": null }),
    setWay: (way) =>
      navigateStep({ ...reset, "iterations.key": null, "iterations.by": way === current.way ? null : way }),
    reset: () => navigateStep({ ...reset, "iterations.key": null, "iterations.by": null }),
  };
}
