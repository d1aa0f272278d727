/** Whether one launch of a CUDA or HIP graph holds most GPU time, so that groups of ops tell next to nothing. */
import type { DashboardResponse, TableResponse } from "../api/types";

const LAUNCH = /(?:^|\/|_)(?:cuda|cu|hip)GraphLaunch\w*$/;
const MOST = 0.5;

/**
 * The share of the GPU time that a graph launch takes, where that is over half and its kernels were recorded; else null. Ops are in
 * the order of that time.
 */
export function graphLaunchShare(
  { rows, totals }: Pick<TableResponse, "rows" | "totals">,
  { kernel_time: { graph, total } }: Pick<DashboardResponse, "kernel_time">,
): number | null {
  const [row] = rows;
  const [time, all] = [row?.gpu_time_ns, totals.gpu_time_ns];
  if (typeof time !== "number" || !all || !LAUNCH.test(String(row?.name ?? ""))) return null;
  // Of a graph that was recorded as a whole no kernel is known.
  const isWhole = 2 * (graph.time_ns ?? 0) > (total.time_ns ?? 0);
  return time > MOST * all && !isWhole ? time / all : null;
}
