import type { GroupNodes } from "../api/types";

/**
 * /Net/ with Layer[0], Layer[1] (each one conv_N) and a Head (one linear, longer than the layers), and an unassociated op.
 */
export function nodes(): GroupNodes {
  const rows: [parent: number, name: string, op: string | null, structure: number, gpu: number, tc: number][] = [
    [-1, "/", null, 9, 100, 40],
    [-1, "unassociated_k", "UNASSOCIATED_0", 0, 7, 0],
    [0, "Net", null, 8, 100, 40],
    [2, "Layer[0]", null, 1, 20, 20],
    [2, "Layer[1]", null, 1, 20, 20],
    [2, "Head", null, 2, 60, 0],
    [3, "conv_0", "CONV_0", 0, 20, 20],
    [4, "conv_1", "CONV_1", 0, 20, 20],
    [5, "linear", "LINEAR_0", 0, 60, 0],
  ];
  const gpu = rows.map(([, , , , time]) => time);
  const eligible = [3, 0, 3, 1, 1, 1, 1, 1, 1];
  return {
    id: rows.map((_, i) => 100 + i),
    parent: rows.map(([parent]) => parent),
    name: rows.map(([, name]) => name),
    op_id: rows.map(([, , op]) => op),
    direction: rows.map(() => ""),
    level: rows.map(() => 0),
    children: rows.map((_, i) => rows.filter(([parent]) => parent === i).length),
    structure: rows.map(([, , , structure]) => structure),
    ops: eligible,
    calls: eligible,
    eligible_ops: eligible,
    using_ops: [2, 0, 2, 1, 1, 0, 1, 1, 0],
    cpu_time_ns: gpu,
    gpu_time_ns: gpu,
    cpu_overhead_ns: gpu,
    gpu_idle_ns: gpu,
    kernel_time_ns: gpu,
    tensor_core_time_ns: rows.map(([, , , , , time]) => time),
    unknown_time_ns: rows.map(() => 0),
    communication_ns: rows.map(() => 0),
    unknown_ops: rows.map(() => 0),
    unrated_time_ns: rows.map(() => 0),
    gain_ns: gpu.map((time) => time / 4),
    compute_bound_ns: gpu.map(() => 0),
    memory_bound_ns: gpu,
    caches_bound_ns: gpu.map(() => 0),
    latency_bound_ns: gpu.map(() => 0),
  };
}
