/** What the server sends. Made by `python -m scripts.response_types`; change the declarations there. */

/** One choice of key op and iteration range. */
export interface Aggregation {
  id: number;
  iter_start: number | null;
  iter_stop: number | null;
  iterations: number | null;
  key_node: string;
  /** The key op, or how else the iterations were found; empty if NVIDIA's database does not say. */
  label: string;
}

/** One cause. Each list has one item per node: the sum over the ops below it. */
export interface CauseColumns {
  cause: string;
  /** The cause in words, as in the tables. */
  label: string;
  kernel_ns: number[];
  ops: number[];
}

/** Kernel time of the eligible ops that do not use matrix units well for the same cause. */
export interface CauseTime {
  cause: string;
  /** The cause in words, as in the table. */
  label: string;
  ops: number | null;
  kernel_ns: number | null;
}

/** One op on the roofline. */
export interface Dot {
  op_id: string;
  name: string;
  family: string;
  precision: string;
  bound: string;
  kernel_ns: number | null;
  /** Operations per byte. */
  intensity: number | null;
  flops_per_second: number | null;
  peak_fraction: number | null;
}

/** Totals of an aggregation. They are unknown if shapes were not recorded or the peaks of the GPU are unknown. */
export interface EfficiencyResponse {
  product_flops: number | null;
  masked_flops: number | null;
  flops_per_second: number | null;
  mfu_fraction: number | null;
  measured_fraction: number | null;
  hint: string;
  network: NetworkRates;
  peaks: Peak[];
  precisions: PrecisionTime[];
  causes: CauseTime[];
  limits: LimitTime[];
  dots: Dot[];
  left_out_dots: number;
  iterations: IterationRate[];
  missing: Missing[];
}

/** One row behind a finding. */
export interface Evidence {
  /**
   * What `key` is: `op` (its id), `kernel` (short name), `line`, `function`, `call`, `iteration`, `device`, or another
   * word, which nothing opens.
   */
  kind: string;
  key: string;
  time_ns: number | null;
  /** Share of the time that the finding is about. */
  fraction: number | null;
  count: number | null;
  detail: string;
}

/** One piece of advice. */
export interface Finding {
  detector: string;
  severity: "info" | "advice" | "warning";
  confidence: "low" | "medium" | "high";
  area: string;
  problem: string;
  recommendation: string;
  numbers: Record<string, string | number | null>;
  gain: Gain | null;
  link: string;
  evidence: Evidence[];
}

/** All findings about an aggregation, the most worthwhile first. */
export interface FindingsResponse {
  /** Whether our rules were applied; else the findings come from the database's own detectors. */
  judged: boolean;
  /** Whether the capture has iterations; else the whole capture counts as one. */
  marked: boolean;
  iteration_ns: number | null;
  total_low_ns: number | null;
  total_high_ns: number | null;
  findings: Finding[];
  undecided: Undecided[];
}

/** Estimated range of the time that one iteration would save. */
export interface Gain {
  low_ns: number | null;
  high_ns: number | null;
  low_fraction: number | null;
  high_fraction: number | null;
  reasoning: string;
}

/**
 * One list per column, with one item for each node. A parent comes before its children. Where the Tensor Core use of
 * some kernels below a node is unknown, `using_ops` and `tensor_core_time_ns` are lower bounds, and unknown where
 * these would be 0; `unknown_time_ns` is the time of those kernels, and `unknown_ops` counts the ops whose use is
 * unknown. `eligible_ops` is unknown where no op is known to be eligible but some may be; times on the host are, where
 * no call that launched the work was recorded. `gain_ns` is kernel time less the time at the GPU's published rates;
 * the times after it are those of ops bound by compute and by memory. All three are `null` for databases without the
 * efficiency of ops.
 */
export interface GroupNodes {
  parent: number[];
  name: string[];
  op_id: (string | null)[];
  direction: string[];
  level: (number | null)[];
  children: number[];
  structure: number[];
  ops: number[];
  calls: (number | null)[];
  eligible_ops: (number | null)[];
  using_ops: (number | null)[];
  cpu_time_ns: (number | null)[];
  gpu_time_ns: (number | null)[];
  cpu_overhead_ns: (number | null)[];
  gpu_idle_ns: (number | null)[];
  kernel_time_ns: number[];
  tensor_core_time_ns: (number | null)[];
  unknown_time_ns: number[];
  unknown_ops: number[];
  gain_ns: (number | null)[];
  compute_bound_ns: (number | null)[];
  memory_bound_ns: (number | null)[];
}

/** The tree below `group` (empty: the whole tree); `left_out` of `total` nodes did not fit. */
export interface GroupsResponse {
  group: string;
  nodes: GroupNodes;
  /** Why eligible ops do not use matrix units well, as further columns of `nodes`; `null` if that is unknown. */
  causes: CauseColumns[] | null;
  total: number;
  left_out: number;
}

/** Key numbers of the first aggregation. */
export interface Headline {
  gpu_names: string[];
  wall_time_ns: number | null;
  iterations: number | null;
  average_iteration_ns: number | null;
  gpu_utilization_fraction: number | null;
  /**
   * Share of the wall time. A lower bound if the Tensor Core use of some kernels is unknown, and then `null` instead
   * of 0.
   */
  tensor_core_time_fraction: number | null;
}

/** Model FLOPs utilisation of one iteration. */
export interface IterationRate {
  iteration: number | null;
  product_flops: number | null;
  mfu_fraction: number | null;
  measured_fraction: number | null;
}

/** The kernels of one class. */
export interface KernelTime {
  /** Plain sum of durations. */
  time_ns: number | null;
  /** Number of distinct names. */
  names: number | null;
  launches: number | null;
}

/** A part of the kernel time of the ops, by what limits it; the parts are exclusive, and add up to it. */
export interface LimitTime {
  /**
   * `matrix_unit` (on matrix units), a cause of `CAUSES` (eligible, but not on them; `cause_unknown` for the unknown
   * one), `memory`, `other`, `communication`, `unknown` (whether it is on matrix units).
   */
  limit: string;
  kernel_ns: number;
}

/** Something that is not known about efficiency. */
export interface Missing {
  what: string;
  /** The recording option or the file that would provide it, or why nothing would. */
  hint: string;
}

/** Means over the ops, weighted by kernel time; each over the ops for which it is known. */
export interface NetworkRates {
  /** Share of the peak rate for the precision of each op. */
  peak_fraction: number | null;
  flops_per_second: number | null;
  memory_fraction: number | null;
  bytes_per_second: number | null;
  occupancy_fraction: number | null;
  achieved_fraction: number | null;
}

/** One published peak rate of one GPU. */
export interface Peak {
  device_id: number | null;
  product: string;
  unit: "memory" | "vector" | "matrix";
  precision: string;
  /** Floating-point operations, or bytes for `memory`. */
  per_second: number | null;
  /** Address of the publication. */
  source: string;
  /** Whether an op of the aggregation is compared with it. */
  used: boolean;
}

/** The kernels of one precision that use, or do not use, matrix units. */
export interface PrecisionTime {
  /** Empty if unknown; `communication` for collectives. */
  precision: string;
  matrix_unit: "yes" | "no" | "unknown";
  kernel_ns: number | null;
  kernels: number | null;
}

/** One op among those with the most GPU time. */
export interface TopOp {
  op_id: string;
  name: string;
  op_type: string;
  direction: string;
  gpu_time_ns: number | null;
  gpu_time_fraction: number | null;
  calls: number | null;
  /** `null` (unknown) for CUDA graphs recorded as a whole, and for kernels without an op. */
  eligible: boolean | null;
  /** `null` also if none of its kernels is known to use Tensor Cores but some may. */
  using_tensor_cores: boolean | null;
}

/** A rule that could not decide because data is missing. */
export interface Undecided {
  detector: string;
  missing: string;
  hint: string;
}
