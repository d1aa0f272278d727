/** What the server sends. Made by `python -m scripts.http_api`; change the declarations there. */

/** A profile on its own pages. */
export interface About {
  id: string;
  run: string;
  name: string;
  format: string;
  rank: number | null;
  world_size: number | null;
  captured_at: number | null;
}

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

/**
 * What is aggregated anew: a range, and the op or the markers, by their label or kind, that separate iterations; or
 * the aggregation that is deleted.
 */
export interface AggregationWish {
  iter_start: number | null;
  iter_stop: number | null;
  key_op: string | null;
  candidate: string | null;
  aggregation: number | null;
}

/** The most likely baselines of a profile, the best first. */
export interface BaselinesResponse {
  baselines: LikelyBaseline[];
  /** Ids of all runs of the same program, the profile's own too. */
  related: string[];
  /** With how many other profiles it was compared; nothing is known of those that are not imported. */
  compared: number;
}

/** What a GPU did before or after an item or a gap: its longest work then; without id a gap, named by its cause. */
export interface Beside {
  id: number | null;
  name: string;
  start: number;
  duration: number;
}

/** The class that takes most of each bin, and how much of it is covered, a letter each. */
export interface Bins {
  class: string;
  share: string;
}

/** The samples of both sides. */
export interface BothSamples {
  a: CompareSamples;
  b: CompareSamples;
}

/** One way to divide the capture into iterations. */
export interface Candidate {
  kind: string;
  label: string;
  count: number | null;
}

/** The bytes of a category in each bin. */
export interface CategoryCurve {
  category: string;
  bytes: number[];
}

/** One cause. Each list has one item per node: the sum over the ops below it. */
export interface CauseColumns {
  cause: string;
  /** The cause in words, as in the tables. */
  label: string;
  kernel_ns: number[];
  ops: number[];
}

/** Kernel time of eligible ops that is off matrix units for the same cause. */
export interface CauseTime {
  cause: string;
  /** The cause in words, as in the table. */
  label: string;
  ops: number | null;
  kernel_ns: number | null;
}

/** A rank in an operation, on the job's common clock. */
export interface CollectiveMember {
  rank: number;
  wait_ns: number;
  start_ns: number;
}

/** A column of a table. */
export interface Column {
  key: string;
  label: string;
  type: "text" | "long_text" | "kernel_name" | "path" | "integer" | "number" | "boolean" | "duration_ns" | "fraction" | "bytes";
  description: string;
  sortable: boolean;
  filterable: boolean;
  searchable: boolean;
  /** Shown when the user asks for it. */
  hidden: boolean;
  /** 0 for what the table is read for; where the page is too narrow for all, a higher one is left out first. */
  tier: number;
}

/** A row of the change; all rows add up to it. */
export interface CompareChangedRow {
  kind: "op" | "ops" | "gone" | "new" | "kernel" | "kernels" | "graphs" | "overlap" | "part";
  name: string;
  matched_by: string | null;
  a_ns: number;
  b_ns: number;
  change_ns: number;
  work_ns: number | null;
  speed_ns: number | null;
  a_calls: number | null;
  b_calls: number | null;
  interval: [number, number] | null;
  op_type: string | null;
  direction: string | null;
  a_op_ids: string[];
  b_op_ids: string[];
  a_kernel: string | null;
  b_kernel: string | null;
  a_tensor_core_fraction: number | null;
  b_tensor_core_fraction: number | null;
  a_precision: string | null;
  b_precision: string | null;
  position: number;
}

/** What an op or line that allocated it holds at the peaks of A and B; the rows add up to the peaks. */
export interface CompareHeldByOpChange {
  op: string;
  a_bytes: number;
  b_bytes: number;
  change_bytes: number;
}

/** What a category of memory holds at the peaks of A and B; the rows add up to the peaks. */
export interface CompareHeldChange {
  category: string;
  a_bytes: number;
  b_bytes: number;
  change_bytes: number;
}

/**
 * One number of both sides, in the unit of its name; `is_least` if they are lower bounds. `a` and `b` are means,
 * `a_median` and `b_median` the medians of what `ratio` and `interval` compare. `input_size_ratio`: how many times as
 * many elements the inputs of B have, if `ratio` and `interval` are of inputs of equal size (kernel time of recordings
 * whose inputs differ); else null.
 */
export interface CompareMeasure {
  a: number | null;
  b: number | null;
  a_median: number | null;
  b_median: number | null;
  is_least: boolean;
  ratio: number | null;
  interval: [number, number] | null;
  a_samples: number;
  b_samples: number;
  input_size_ratio: number | null;
}

/** A part of the time. */
export interface ComparePart {
  part: string;
  label: string;
  a_ns: number;
  b_ns: number;
  change_ns: number;
}

/** What the page shows of a comparison, besides what `dlprof compare` prints. */
export interface CompareResponse extends Comparison {
  /** Largest first. */
  kinds: KindChange[];
  /** Change of the time of kernels of communication, each in full, whatever runs beside them. */
  communication_ns: number;
  /** The rows of `compare_groups` that add up to what the headline names; `null` where it names nothing of them. */
  named: Named | null;
  order: RowColumns;
  iterations: BothSamples;
  modules: ModuleChange[];
  ops: OpChange[];
}

/** What the page shows of a row, besides what `dlprof compare` prints. */
export interface CompareRowResponse extends CompareChangedRow {
  is_changed: boolean;
  a: CompareRowSide;
  b: CompareRowSide;
}

/** A side of a row. */
export interface CompareRowSide {
  ops: ComparedOp[];
  total_ops: number;
  kernels: ComparedKernel[];
}

/** The samples of a side, in columns. */
export interface CompareSamples {
  recording: string[];
  iteration: number[];
  iteration_ns: (number | null)[];
  kernel_ns: number[];
}

/**
 * A side: its recordings, and its time by unit of comparison. `iteration_ns`: its mean iteration, whatever the unit of
 * comparison is; null where iterations are not marked. `recording_ns`: the mean length of its recordings; null where
 * iterations are marked.
 */
export interface CompareSide {
  name: string;
  device: string | null;
  devices_in_use: number;
  iterations: number;
  marked: boolean;
  iterations_label: string;
  first_iteration: number | null;
  last_iteration: number | null;
  aggregation: number;
  recordings: string[];
  value_ns: number;
  iteration_ns: number | null;
  recording_ns: number | null;
  started_ns: number | null;
}

/** A kernel of a row. */
export interface ComparedKernel {
  name: string;
  time_ns: number;
  launches: number;
  tensor_core: boolean | null;
  precision: string | null;
  family: string | null;
  /** With which grids and blocks it is launched; empty where that is not recorded. */
  sizes: LaunchSize[];
}

/** An op of a row. */
export interface ComparedOp {
  op_id: string;
  path: string;
  shapes: string | null;
}

/**
 * What changed from a baseline A to a candidate B. `word`: the verdict for a reader, such as `Other work`; the
 * headline of one that is not sure begins with it. `certainty`: how sure the headline is, or why it is not, or of how
 * much of the kernel time it is; may be empty. `of_medians`: whether the times in the headline are medians, else
 * means. `same_program`: false where the two have few or no ops in common, so that changes tell little.
 * `inputs_differ`: most of the matched time is in ops with other shapes, so a change is one of work and speed, neither
 * better nor worse. `matrix_unit`: the vendors' name, `Tensor Core` or `Matrix Core`; `matrix unit` where that of A is
 * not that of B.
 */
export interface Comparison {
  schema_version: number;
  verdict: "faster" | "slower" | "no_clear_change" | "cannot_tell";
  sentence: string;
  word: string;
  headline: string;
  details: string;
  certainty: string;
  of_medians: boolean;
  per: "iteration" | "call" | "capture";
  same_program: boolean;
  inputs_differ: boolean;
  a: CompareSide;
  b: CompareSide;
  change_ns: number;
  interval: [number, number] | null;
  ratio: number | null;
  comparability: string[];
  matrix_unit: string;
  measures: Record<string, CompareMeasure>;
  memory: CompareHeldChange[];
  memory_by_op: CompareHeldByOpChange[];
  memory_not_recorded: string | null;
  parts: ComparePart[];
  ops_without_gpu_time: number;
  tested_rows: number;
  changed_rows: number;
  tested_groups: number;
  changed_groups: number;
}

/** One sentence for the user. */
export interface CoverageNote {
  severity: "info" | "warning";
  message: string;
  /** What to do about it; may be empty. */
  hint: string;
}

/** What the recording lacks. */
export interface DashboardCoverage {
  notes: CoverageNote[];
}

/** The iterations as bars, and how they were found. */
export interface DashboardIterations {
  unit: string;
  binned: boolean;
  rows: IterationRow[];
  source: IterationSource;
  proposal: IterationProposal | null;
}

/** Everything on the Dashboard. */
export interface DashboardResponse {
  profile: About;
  aggregations: Aggregation[];
  aggregation: number;
  domains: string[];
  domain: string;
  /** What the capture holds (`ops`, `shapes`, `modules`, ...); `null` where it does not say. */
  recorded: string[] | null;
  matrix_unit: string;
  /** False where no GPU has any; true where that is not known. */
  has_matrix_units: boolean;
  /** `PyTorch`, `TensorFlow` or `TensorRT`. */
  framework: string | null;
  model: ModelSummary;
  gpu_utilization: GpuUtilization;
  resource_breakdown: ResourceShare[];
  kernel_time: Record<"total" | "tensor_core" | "unknown" | "other_kernel" | "memory" | "graph", KernelTime>;
  /** The share of the GPU time that a graph launch takes, where that is over half and its kernels were recorded. */
  graph_launch_fraction: number | null;
  /** The part of `kernel_time.other_kernel` that is communication. */
  collective_ns: number;
  /** A sentence, where `resource_breakdown` holds work that is not in `kernel_time`; else empty. */
  launched_outside: string;
  /** A sentence, where much of the kernel time that the iterations launched is of after the last one; else empty. */
  ran_late: string;
  tensor_core_efficiency: TensorCoreEfficiency;
  performance: Performance;
  iterations: DashboardIterations;
  throughput: Throughput;
  /** The GPU that holds most, at its peak; `null` where no memory was recorded. */
  memory: MemoryPeak | null;
  top_ops: TopOp[];
  system: SystemFact[];
  recommendations: Recommendation[];
  coverage: DashboardCoverage;
}

/** A bar of the histogram of delays. */
export interface DelayBin {
  from_ns: number;
  launches: number;
}

/** Kernel time of one GPU. */
export interface DeviceUtilization {
  device_id: number | null;
  /** Its number in CUDA; `null` where the recording does not have it beside `device_id`. */
  cuda_ordinal: number | null;
  name: string;
  /** Whether it has any work in the profile, even just a copy; in NVIDIA's databases, any kernel. */
  in_use: boolean;
  fraction: number | null;
  busy_ns: number | null;
}

/** The unit of times, and what they begin at (ns since 1970, or of the source's own clock) as a text. */
export interface DiagnosedClock {
  unit: string;
  base_ns: string;
}

/** One GPU in an iteration, or in the mean of iterations. */
export interface DiagnosedDevice {
  parts: DiagnosedParts;
  queued: DiagnosedQueued;
  overlap: DiagnosedOverlap;
  of_which_graph_ns: number;
  rows: DiagnosedRow[];
  queue: DiagnosedQueue;
}

/** What shows a finding; times are means of an iteration. */
export interface DiagnosedEvidence {
  path: string;
  call: string | null;
  kind: string;
  op: string | null;
  device: string | null;
  count: number | null;
  time_ns: number | null;
  iteration: number | null;
  from_ns: number | null;
  to_ns: number | null;
  detail: string | null;
}

/** What to change, the most important first. */
export interface DiagnosedFinding {
  rule: string;
  heading: string;
  cause: string;
  title: string;
  action: string;
  severity: "info" | "advice" | "warning";
  confidence: "low" | "medium" | "high";
  part: string | null;
  time_ns: number | null;
  share: number | null;
  per: "iteration" | "once";
  gain: DiagnosedGain | null;
  evidence: DiagnosedEvidence[];
  overlaps_with: string[];
  /** Whether its time lacks GPU work; `throughout` where launches are missing, too. */
  missing_work: "some" | "throughout" | null;
  link: string | null;
  /** True where the recordings of all ranks tell it, as `dlprof distributed`. */
  whole_job?: boolean;
}

/** By how much an iteration would be shorter; null where `cannot_tell` says why. */
export interface DiagnosedGain {
  low_ns: number | null;
  high_ns: number | null;
  share_low: number | null;
  share_high: number | null;
  how: string | null;
  cannot_tell: string | null;
  /** The most that it can be, where no least is known. */
  most_ns: number | null;
  /** What is to be mended before anything is gained: `launching limits`. */
  none_while: string | null;
}

/** A GPU that the program works with. */
export interface DiagnosedGpu {
  id: string;
  name: string | null;
  process: string | null;
  rank: number | null;
}

/** One iteration. */
export interface DiagnosedIteration {
  index: number;
  label: string;
  start_ns: number;
  stop_ns: number;
  wall_ns: number;
  typical: boolean;
  devices: Record<string, DiagnosedDevice>;
}

/** What came before the first GPU work. */
export interface DiagnosedLeadIn {
  wall_ns: number;
  queued_ns: number;
  parts: DiagnosedWaitParts;
}

/** The mean of the chosen iterations. */
export interface DiagnosedMean {
  iterations: number;
  selected: number[];
  wall_ns: number;
  devices: Record<string, DiagnosedDevice>;
}

/** Communication and copies with what is hidden behind computing. */
export interface DiagnosedOverlap {
  communication_all_ns: number;
  copy_all_ns: number;
}

/** All of the time of a GPU: these parts add up to it. From `queued` on it is idle. */
export interface DiagnosedParts {
  compute_tensor: number;
  compute_other: number;
  compute_unknown: number;
  communication: number;
  copy: number;
  queued: number;
  blocked: number;
  launching: number;
  host_op: number;
  host_code: number;
  data_loader: number;
  io: number;
  unrecorded: number;
  launch_unknown: number;
}

/** How many launches wait, and how long. */
export interface DiagnosedQueue {
  median: number | null;
  empty_share: number | null;
  start_delay_median_ns: number | null;
  launches: number;
  lag_ns: number;
}

/** Why launched work waited; the parts add up to `queued`. */
export interface DiagnosedQueued {
  turnaround: number;
  dependency: number;
  graph: number;
  unexplained: number;
}

/** A cause of a part of the time; `path` is `(rest)` for what is left of a part. */
export interface DiagnosedRow {
  part: string;
  class: string | null;
  call: string | null;
  path: string | null;
  kind: string | null;
  op: string | null;
  thread: string | null;
  count: number;
  time_ns: number;
}

/** The iterations that means are of, by position from 0; `stop` is inclusive. */
export interface DiagnosedTypical {
  start: number;
  stop: number;
  left_out: number[];
  why: string[];
  said: string;
  /** The end of `said` that tells of a mean that few long iterations make; empty if none do. */
  mean_said: string;
  labels: string[];
}

/** Idle time of a GPU by cause. */
export interface DiagnosedWaitParts {
  blocked: number;
  launching: number;
  host_op: number;
  host_code: number;
  data_loader: number;
  io: number;
  unrecorded: number;
  launch_unknown: number;
}

/** Where the time of an iteration goes, GPU by GPU, and what to change first. */
export interface Diagnosis {
  schema: string;
  source: string;
  format: string;
  marked: boolean;
  clock: DiagnosedClock;
  devices: DiagnosedGpu[];
  lead_in: Record<string, DiagnosedLeadIn>;
  typical: DiagnosedTypical;
  iterations: DiagnosedIteration[];
  mean: DiagnosedMean;
  matrix_unit: string;
  lower_bound: string[];
  host_bound: boolean;
  headline: string;
  findings: DiagnosedFinding[];
}

/** One op on the roofline. */
export interface Dot {
  op_id: string;
  name: string;
  /** With the direction what groups it in the table by path. */
  pattern: string;
  direction: string;
  family: string;
  precision: string;
  bound: string;
  kernel_ns: number | null;
  /** Operations per byte. */
  intensity: number | null;
  flops_per_second: number | null;
  peak_fraction: number | null;
  /** The published rate that it is compared with. */
  peak_flops_per_second: number | null;
  /** What keeps it off matrix units, in words; empty where nothing does. */
  cause: string;
  /** As in the table of ops. */
  gain_ns: number | null;
}

/** Totals of an aggregation. They are unknown if shapes were not recorded or the peaks of the GPU are unknown. */
export interface EfficiencyResponse {
  product_flops: number | null;
  masked_flops: number | null;
  flops_per_second: number | null;
  mfu_fraction: number | null;
  measured_fraction: number | null;
  /** What all ops could gain, those of which it is known. */
  gain_ns: number | null;
  hint: string;
  network: NetworkRates;
  peaks: Peak[];
  precisions: PrecisionTime[];
  causes: CauseTime[];
  limits: LimitTime[];
  /** The types of the ops with most of the time of the limit `other`, at most three. */
  other_types: string[];
  dots: Dot[];
  left_out_dots: number;
  /** `null` where all ops have dots. */
  undrawn: Undrawn | null;
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

/** A rank's exposed communication in each of the job's iterations; null where it lacks one. */
export interface ExposedByIteration {
  exposed_transfer_ns: (number | null)[];
  exposed_wait_ns: (number | null)[];
  exposed_unmatched_ns: (number | null)[];
}

/** One piece of advice. */
export interface Finding {
  detector: string;
  /** What it is called, in a few words. */
  heading: string;
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

/** A part of a gap with one cause. */
export interface GapPart {
  start: number;
  duration: number;
  part?: string;
  detail?: string;
  call?: string;
  path?: string;
  op_id?: string;
  thread?: string;
}

/** Time with at least one kernel running over wall time. */
export interface GpuUtilization {
  fraction: number | null;
  busy_ns: number | null;
  wall_ns: number | null;
  devices: DeviceUtilization[];
}

/**
 * One list per column, with one item for each node. A parent comes before its children. Where the Tensor Core use of
 * some kernels below a node is unknown, `using_ops` and `tensor_core_time_ns` are lower bounds, and unknown where
 * these would be 0; `unknown_time_ns` is the time of those kernels, and `unknown_ops` counts the ops whose use is
 * unknown. `eligible_ops` is unknown where no op is known to be eligible but some may be; times on the host are, where
 * no call that launched the work was recorded. `gain_ns` is kernel time less the time at the GPU's published rates, of
 * the ops of which that is known: `unrated_time_ns` is the kernel time of the others. The times after it are those of
 * ops by what bounds them. All of these are `null` where they are known of no op below, and for databases without the
 * efficiency of ops.
 */
export interface GroupNodes {
  id: number[];
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
  communication_ns: number[];
  unknown_ops: number[];
  unrated_time_ns: number[];
  gain_ns: (number | null)[];
  compute_bound_ns: (number | null)[];
  memory_bound_ns: (number | null)[];
  caches_bound_ns: (number | null)[];
  latency_bound_ns: (number | null)[];
}

/** The tree below `group` (empty: the whole tree); `left_out` of `total` nodes did not fit. */
export interface GroupsResponse {
  group: string;
  nodes: GroupNodes;
  /** Why eligible ops do not use matrix units well, as further columns of `nodes`; `null` if that is unknown. */
  causes: CauseColumns[] | null;
  /** What was not recorded, without which nothing tells what some or all nodes could gain. */
  missing: Missing[];
  total: number;
  left_out: number;
}

/** Key numbers of the first aggregation. */
export interface Headline {
  gpu_names: string[];
  wall_time_ns: number | null;
  iterations: number | null;
  average_iteration_ns: number | null;
  /** Whether iterations are marked; else the whole recording counts as one. `null` where that is not known. */
  marked: boolean | null;
  /** Share of the wall time with a kernel running, which may be a collective that waits. */
  gpu_utilization_fraction: number | null;
  /** Share of a mean iteration in which the GPU computes, the least of all GPUs; `null` where no diagnosis is stored. */
  computing_fraction: number | null;
  /**
   * Share of the wall time. A lower bound if the Tensor Core use of some kernels is unknown, and then `null` instead
   * of 0.
   */
  tensor_core_time_fraction: number | null;
}

/** An item that was searched for. */
export interface Hit {
  id: number;
  start: number;
  duration: number;
}

/** Stretches of a track with hits, from the start of the window; those that touch on the screen are one. */
export interface HitTrack {
  id: number;
  start: number[];
  duration: number[];
}

/** How far an import is. */
export interface ImportProgress {
  stage: string;
  fraction: number | null;
  elapsed_s: number;
}

/** With the extremes of its iterations. */
export interface IterationBar extends IterationRow {
  shortest_ns: number;
  longest_ns: number;
}

/** The iterations of a job, in columns; empty where none were found. */
export interface IterationColumns {
  iteration: number[];
  median_ns: number[];
}

/** A range of iterations without warm-up. */
export interface IterationProposal {
  iter_start: number;
  iter_stop: number;
  reason: string;
}

/** Model FLOPs utilisation of one iteration. */
export interface IterationRate {
  iteration: number | null;
  /** Launched in it. */
  product_flops: number | null;
  /** Of what ran in it, whichever iteration launched it. */
  mfu_fraction: number | null;
  /** Of the time of the products that ran in it, the part whose shapes are known. */
  measured_fraction: number | null;
}

/** One iteration, or several: sums over `count` iterations from `iteration` to `stop_iteration`. */
export interface IterationRow {
  iteration: number;
  stop_iteration: number;
  /** Number of iterations, which does not follow from the numbers if there are gaps between them. */
  count: number;
  start_ns: number | null;
  duration_ns: number;
  /** Whether the iterations are aggregated. */
  profiled: boolean;
  /**
   * Exclusive times (ns) that add up to the duration; `null` for iterations that are not aggregated. If
   * `unknown_kernel` is not 0, `tensor_core` is a lower bound, and `null` instead of 0.
   */
  parts: Record<"tensor_core" | "unknown_kernel" | "other_kernel" | "memory" | "data_loader" | "io" | "cpu" | "other", number | null> | null;
}

/** How the iterations were found, and the other ways to find them. Texts are empty if the database does not say. */
export interface IterationSource {
  kind: string;
  label: string;
  candidates: Candidate[];
}

/** When an iteration begins and ends. */
export interface IterationWindow {
  iteration: number;
  start: number;
  stop: number;
}

/** `first` to `last` are the numbers of all iterations, `from` to `to` those that the bars cover. */
export interface IterationsResponse {
  first: number | null;
  last: number | null;
  total: number | null;
  profiled: number | null;
  iter_start: number | null;
  iter_stop: number | null;
  from: number | null;
  to: number | null;
  bin_size: number;
  binned: boolean;
  rows: IterationBar[];
}

/** A job of aggregating; times are in seconds since 1970. */
export interface Job {
  id: string;
  kind: "aggregate" | "delete";
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  message: string;
  progress: ImportProgress | null;
  request: AggregationWish;
  /** The new aggregation once `done`. */
  aggregation: number | null;
  started_at: number | null;
  finished_at: number | null;
}

/** Which rank of a job costs time, and why. */
export interface JobAnswer {
  job: string;
  world_size: number;
  ranks_present: number;
  knows_ranks: boolean;
  hosts: number | null;
  gpus: string[];
  iterations: number;
  /** Numbers of the iterations of the warm-up, which are left out of `iterations` and of all that is said. */
  warm_up: number[];
  median_iteration_ns: number;
  wait_fraction: number | null;
  exposed_communication_fraction: number | null;
  own_delay_fraction: number | null;
  dimensions: JobDimension[];
  matched_by: string;
  operations: number;
  verdict: JobVerdict;
  missing: JobMissing;
  clocks: JobClocks;
  left_out: JobLeftOut;
  left_out_texts: string[];
  warnings: string[];
  first_iteration: number | null;
  /** Numbers of the iterations that numbers of ranks are of; null: from their first to their last GPU work. */
  last_iteration: number | null;
  groups: JobGroup[];
  collectives: JobCollectiveStats[];
  pairs: JobPair[];
  findings: JobFinding[];
}

/** A measure of all ranks in all iterations. */
export interface JobCells {
  rows: number;
  columns: number;
  /** The place of the first column's iteration among all iterations, from 0. */
  first: number;
  /** How many ranks a cell stands for. */
  ranks: number;
  /** How many iterations a cell stands for. */
  iterations: number;
  unit_ns: number;
  unknown: number;
  /** Base64 of little-endian 32-bit numbers, row after row. */
  cells: string;
}

/** Whether times of different ranks can be compared. */
export interface JobClocks {
  aligned: boolean;
  islands: number;
  pairs: number;
  samples: number;
  residual_ns: number | null;
  residual_p90_ns: number | null;
  sentence: string;
}

/** A collective, of those with the longest waits. */
export interface JobCollective {
  id: number;
  group_id: number;
  iteration: number | null;
  kind: string;
  bytes: number | null;
  ranks: number;
  start_ns: number;
  transfer_ns: number;
  skew_ns: number;
  wait_ns: number;
  last_rank: number;
  own_delay_ns: number;
  cause: string;
}

/** The ranks in an operation. */
export interface JobCollectiveDetail extends JobCollective {
  members: CollectiveMember[];
}

/** Sums over collectives of one dimension, kind, size and number of ranks. */
export interface JobCollectiveStats {
  id: number;
  group_kind: string;
  kind: string;
  bytes: number | null;
  ranks: number;
  operations: number;
  transfer_ns: number;
  transfer_median_ns: number;
  transfer_p95_ns: number;
  wait_ns: number;
  skew_p95_ns: number;
  bus_bandwidth: number | null;
  peak_bandwidth: number | null;
  bandwidth_reason: string;
  imbalance: number | null;
  last_rank: number | null;
  last_fraction: number | null;
}

/** A dimension of parallelism. */
export interface JobDimension {
  kind: string;
  size: number;
}

/** What to change; `evidence` holds the numbers of its rule. */
export interface JobFinding {
  id: number;
  rule: string;
  severity: 1 | 2 | 3;
  title: string;
  text: string;
  action: string;
  ranks: string;
  gain_ns: number | null;
  evidence: Record<string, unknown>;
}

/** A process group; `ranks` is a text such as `0-7` or `0-24/8`. */
export interface JobGroup {
  id: number;
  name: string;
  description: string;
  kind: string;
  inferred: boolean;
  ranks: string;
  size: number | null;
  believed: boolean;
  reason: string;
  matched: number;
  transfer_ns: number;
  wait_ns: number;
  spread_ns: number | null;
  slow: boolean;
}

/** Operations that could not be used, by reason. */
export interface JobLeftOut {
  without_group: number;
  missing_ranks: number;
  incomplete: number;
  inconsistent: number;
  not_paired: number;
  not_believed: number;
  not_synchronising: number;
  unknown_type: number;
  graphs: number;
  fused: number;
}

/** Ranks without a profile: the first of them, and how many. */
export interface JobMissing {
  ranks: number[];
  count: number;
}

/** The ranks of a job that nobody has compared yet. */
export interface JobOffer {
  /** The folder that they are all below, as TensorBoard names it. */
  run: string;
  /** How many would be read. */
  files: number;
  /** Whether any of them is a source; else all are databases. */
  has_sources: boolean;
  /** How many ranks are in the profile itself. */
  processes: number;
  /** The sizes of the files together. */
  size_bytes: number;
  /** Whether comparing them takes a second or two, so that nobody need ask for it. */
  is_quick: boolean;
  /** Whether this server compares them: it may import, and they are not too many. */
  is_possible: boolean;
  /** `done` where they were compared, but the profile is not among those that could be. */
  state: "offered" | "queued" | "running" | "done" | "failed";
  /** Why it failed or was cancelled. */
  message: string;
  progress: ImportProgress | null;
}

/** What one rank sends to another; not `directed` where only is known that they exchange. */
export interface JobPair {
  id: number;
  source: number;
  destination: number;
  directed: boolean;
  operations: number;
  bytes: number | null;
  transfer_ns: number | null;
  bandwidth: number | null;
  slow: boolean;
}

/** A rank that costs time, but less than the one that is named. */
export interface JobSuspect {
  rank: number;
  cause: string;
  detail: string;
  own_delay_ns: number;
  /** What of it the others waited for while they computed nothing, at most. */
  cost_ns: number;
  share: number;
  iterations: number;
  ratio: number | null;
}

/** Who costs time, and why; null where nobody stands out, or not `judged`. */
export interface JobVerdict {
  rank: number | null;
  cause: string | null;
  detail: string | null;
  own_delay_ns: number | null;
  /** What of it the others waited for while they computed nothing, at most. */
  cost_ns: number | null;
  share: number | null;
  sentence: string;
  judged: boolean;
  /** Why slow links of some or all ranks could not be told. */
  unjudged_links: string;
  stage: number | null;
  host: string | null;
  ratio: number | null;
  runners_up: JobSuspect[];
}

/** The kernels of one class. */
export interface KernelTime {
  /** Plain sum of durations. */
  time_ns: number | null;
  /** Number of distinct names. */
  names: number | null;
  launches: number | null;
}

/** The change of an op type, or of CUDA graphs recorded as a whole. */
export interface KindChange {
  name: string;
  change_ns: number;
}

/** What takes the most time of a GPU in a window, the largest first. */
export interface LargestWork {
  device: number;
  from: number;
  to: number;
  works: WindowWork[];
  ops: WindowOp[];
}

/** How long kernels wait after their calls. */
export interface LaunchDelays {
  median_ns: number | null;
  p95_ns: number | null;
  before_call: number;
  bins: DelayBin[];
}

/** The grid and the block of a launch, three dimensions each. */
export interface LaunchSize {
  grid: number[];
  block: number[];
}

/** How launches reach a GPU: how long they wait, which take longer than their work, and how many wait at a time. */
export interface LaunchStatistics {
  device: number;
  from: number;
  to: number;
  launches: number;
  /** Kernels' launches whose work begins in the window, and whose calls began before it. */
  earlier: number;
  /** CUDA graphs recorded as a whole, whose launches are not told. */
  graphs: number;
  unrecorded: number;
  host_ahead_ns: number | null;
  delay: LaunchDelays;
  short: ShortLaunches;
  queue: QueueLengths;
}

/** All that an op or range launched. */
export interface Launched {
  count: number;
  ns: number;
}

/** A profile that is worth comparing with. */
export interface LikelyBaseline {
  /** Its id. */
  profile: string;
  /**
   * Share of the GPU time of the profile that was asked about in groups of ops that both have; where one names no ops,
   * of the kernel time of both that kernels of one name take alike.
   */
  shared_fraction: number;
  /** Whether that is most of the time of both, so that they are runs of one program. */
  same_program: boolean;
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

/** A median with the bounds that are 95 % sure. */
export interface Median {
  median: number;
  low: number | null;
  high: number | null;
}

/** What is in use at a moment, for pages: sums, and the largest blocks. */
export interface MemoryAt {
  at_ns: number | null;
  in_use_bytes: number;
  at_peak: MemoryHeld[];
  by_owner: MemoryOwner[];
  by_module: MemoryModule[];
  by_stack: MemoryHeldByStack[];
  by_size: MemoryHeldBySize[];
  blocks: MemoryHeldBlock[];
}

/**
 * Memory over time in bins; `unit` is `ns` or `events`. `categories` say what `in_use_max_bytes` consists of, from
 * below. `phases` last from their first to their last event; there are none where they are unknown, or too many.
 * `peak_at` is the first moment in the window when most is in use; `segments_*` are the numbers of the bins in which
 * the allocator took memory from the driver, and gave some back.
 */
export interface MemoryCurveResponse {
  device: number;
  unit: string;
  from: number;
  to: number;
  in_use_min_bytes: number[];
  in_use_max_bytes: number[];
  reserved_max_bytes: number[] | null;
  categories: CategoryCurve[];
  capacity_bytes: number | null;
  phases: MemoryPhase[];
  peak_at: number;
  segments_taken: number[];
  segments_returned: number[];
}

/**
 * The memory of a GPU. `at_peak` and `by_*` are of the moment `at_ns`, when `in_use_bytes` were in use; `by_stack` is
 * empty where no stacks were recorded.
 */
export interface MemoryDevice {
  peak_bytes: number;
  peak_of: string;
  relative: boolean;
  peak_ns: number | null;
  peak_event: number | null;
  peak_reserved_bytes: number | null;
  capacity_bytes: number | null;
  end_bytes: number;
  events: number;
  at_ns: number | null;
  in_use_bytes: number;
  at_peak: MemoryHeld[];
  /** What was probably held before the recording, in one sentence; `null` where nothing tells it. */
  held_before: string | null;
  by_owner: MemoryOwner[];
  by_module: MemoryModule[];
  by_stack: MemoryHeldByStack[];
  by_size: MemoryHeldBySize[];
  fragmentation: MemoryFragmentation;
  iterations: MemoryIteration[];
  leak: MemoryLeak;
  lost_frees: number;
  out_of_memory: MemoryFailure[];
  findings: MemoryFinding[];
}

/** What holds memory. */
export interface MemoryEvidence {
  path: string;
  call: string;
  kind: string;
  count: number | null;
  bytes: number;
  device: string;
  time_ns?: number;
}

/** An allocation that failed. */
export interface MemoryFailure {
  event: number;
  time_ns: number | null;
  asked_bytes: number;
  free_bytes: number | null;
}

/** What to change. */
export interface MemoryFinding {
  rule: string;
  cause: "memory";
  title: string;
  action: string;
  severity: "info" | "advice" | "warning";
  confidence: "low" | "medium" | "high";
  part: null;
  time_ns: null;
  share: null;
  gain: null;
  evidence: MemoryEvidence[];
  overlaps_with: string[];
}

/** What is reserved and not in use at the end. */
export interface MemoryFragmentation {
  cached_bytes: number | null;
  cached_fraction: number | null;
  largest_free_block_bytes: number | null;
  free_bytes: number | null;
  segments: number | null;
}

/** What a category holds; the categories add up to the memory in use. */
export interface MemoryHeld {
  category: string;
  bytes: number;
  blocks: number | null;
}

/** A block that is in use at a moment. */
export interface MemoryHeldBlock {
  size_bytes: number;
  category: string;
  owner: string | null;
  stack: string | null;
  allocated_event: number | null;
  allocated_ns: number | null;
  lasts_ns: number | null;
  /** Whether it is not freed before the recording ends. */
  stays: boolean;
  op_gpu_time_average_ns: number | null;
  op_input_shapes: string | null;
}

/** What blocks of about a size hold. */
export interface MemoryHeldBySize {
  size: string;
  bytes: number;
  blocks: number | null;
}

/** What a line of the program and those that called it (after `<`) hold. */
export interface MemoryHeldByStack {
  stack: string;
  bytes: number;
  blocks: number | null;
}

/** The memory of an iteration. */
export interface MemoryIteration {
  index: number;
  number: number;
  start_ns: number;
  peak_bytes: number;
  peak_ns: number | null;
  end_bytes: number;
}

/** Whether memory grows from iteration to iteration. */
export interface MemoryLeak {
  verdict: "leak" | "none" | "cannot_tell";
  bytes_per_iteration: number | null;
  low_bytes: number | null;
  high_bytes: number | null;
  iterations_until_full: number | null;
}

/** What an op, or a place in the program, holds. */
export interface MemoryModule {
  module: string;
  bytes: number;
  blocks: number | null;
}

/** What an op, or a place in the program, holds. */
export interface MemoryOwner {
  owner: string;
  bytes: number;
  blocks: number | null;
}

/** The GPU that holds most, at its peak. */
export interface MemoryPeak {
  device: string;
  peak_bytes: number;
  /** `allocated`, or `requested` where a snapshot tells only that. */
  peak_of: string;
  peak_reserved_bytes: number | null;
  capacity_bytes: number | null;
  /** Whether bytes count from the start of the recording. */
  relative: boolean;
  /** The largest categories, in percent. */
  shares: ([string, number])[];
}

/** A part of training steps: forward, backward, zero_grad or optimizer. */
export interface MemoryPhase {
  phase: string;
  from: number;
  to: number;
}

/** What holds the memory of each GPU; no devices where none was recorded. */
export interface MemoryResponse {
  schema: string;
  devices: Record<string, MemoryDevice>;
  headline: string;
}

/**
 * A segment of the allocator, with the size, the state and the category of each block: its number in
 * `MemorySegments.categories`, -1 of what is free.
 */
export interface MemorySegment {
  number: number;
  total_bytes: number;
  pool: string;
  stream: number;
  blocks: ([number, string, number])[];
}

/** What the allocator holds at the end of a snapshot, the largest first. */
export interface MemorySegments {
  categories: string[];
  segments: MemorySegment[];
  segments_left_out: number;
  blocks_left_out: number;
}

/** Something that is not known about efficiency. */
export interface Missing {
  what: string;
  /** The recording option or the file that would provide it, or why nothing would. */
  hint: string;
}

/** Numbers of ops as their table has them: kernels outside ops count, as eligible where they use matrix units. */
export interface ModelSummary {
  ops: number | null;
  /** `null` if no op is known to be eligible but some may be. */
  eligible_ops: number | null;
  /** A lower bound; `null` if no op is known to use them but some may. */
  eligible_ops_using_tensor_cores: number | null;
  /** Eligible ops whose Tensor Core use is unknown: up to this many more may use them. */
  eligible_ops_unknown: number | null;
  gpu_time_ns: number | null;
  eligible_gpu_time_fraction: number | null;
}

/** The times of a module. */
export interface ModuleChange {
  path: string;
  level: number;
  a_ns: number;
  b_ns: number;
  rows: number;
}

/** What the headline names: the groups of ops with a value in a column. */
export interface Named {
  column: "op_type" | "name";
  value: string;
}

/** A file, or a profile, by its run and its name. */
export interface NamedFile {
  run: string;
  name: string;
}

/** Means by kernel time: rates over the ops, occupancy over their kernels, each over those for which it is known. */
export interface NetworkRates {
  /** What the ops computed, as their shapes tell, of what they could at the peak rate for the precision of each. */
  peak_fraction: number | null;
  /** The kernel time of these ops; likewise below. */
  peak_known_ns: number | null;
  /** Over the ops that have a share of the peak; over all where none has. */
  flops_per_second: number | null;
  /** What the peaks of these ops allow for their mix of work. */
  peak_flops_per_second: number | null;
  memory_fraction: number | null;
  memory_known_ns: number | null;
  bytes_per_second: number | null;
  peak_bytes_per_second: number | null;
  occupancy_fraction: number | null;
  occupancy_known_ns: number | null;
  achieved_fraction: number | null;
  achieved_known_ns: number | null;
  /** Theoretical occupancy of the kernels whose achieved one is known. */
  occupancy_of_achieved_fraction: number | null;
}

/** The times of an op of B that alone is a row. */
export interface OpChange {
  op_id: string;
  a_ns: number;
  b_ns: number;
}

/** What `dlprofviewer` was started on, and why it cannot be opened. */
export interface OpenedFile {
  name: string;
  profile: string | null;
  code: string;
  message: string;
}

/** A file that is no profile. */
export interface OtherFile {
  run: string;
  name: string;
  /** What it is, as the rest of a sentence that begins with its name. */
  reason: string;
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

/** Wall clock and iterations. */
export interface Performance {
  wall_clock_ns: number | null;
  total_iterations: number | null;
  profiled_iterations: number | null;
  iter_start: number | null;
  iter_stop: number | null;
  average_iteration_ns: number | null;
  iteration_std_dev_ns: number | null;
}

/** The kernels of one precision that use, or do not use, matrix units. */
export interface PrecisionTime {
  /** Empty if unknown; `communication` for collectives. */
  precision: string;
  matrix_unit: "yes" | "no" | "unknown";
  kernel_ns: number | null;
  kernels: number | null;
}

/** A profile below the log directory; `captured_at`, and when its file was written, in seconds since 1970. */
export interface ProfileEntry {
  id: string;
  run: string;
  name: string;
  kind: "database" | "source" | "metadata";
  format: string;
  rank: number | null;
  world_size: number | null;
  captured_at: number | null;
  modified_at: number | null;
  size_bytes: number | null;
  state: "ready" | "not_imported" | "queued" | "importing" | "failed" | "metadata_only";
  /** The error code of `failed`, else empty. */
  code: string;
  message: string;
  progress: ImportProgress | null;
  headline: Headline | null;
}

/** With how the server was started. */
export interface ProfilesResponse {
  profiles: ProfileEntry[];
  scan: Scan;
  import_mode: "auto" | "off";
  version: string;
  reaggregate_mode: "on" | "off";
  /** Where windows of the timeline can be handed over to; `null` offers nothing. */
  perfetto: string | null;
  /** `null` in TensorBoard. */
  opened: OpenedFile | null;
}

/** For how long so many launches wait, or more. */
export interface QueueBin {
  from: number;
  ns: number;
}

/** How many launches wait at a time. */
export interface QueueLengths {
  mean: number;
  most: number;
  bins: QueueBin[];
}

/**
 * What the page shows of the ranks, in columns: sums over `iterations`, those that the rank has; 0 where none are in
 * the job: then of the time from its first to its last GPU work.
 */
export interface RankColumns {
  rank: number[];
  iterations: number[];
  host: string[];
  coordinates: string[];
  window_ns: (number | null)[];
  overlapped_ns: (number | null)[];
  last: number[];
  compute_ns: (number | null)[];
  exposed_communication_ns: (number | null)[];
  exposed_transfer_ns: (number | null)[];
  exposed_wait_ns: (number | null)[];
  exposed_unmatched_ns: (number | null)[];
  exposed_copy_ns: (number | null)[];
  idle_ns: (number | null)[];
  compute_tensor_ns: (number | null)[];
  compute_other_ns: (number | null)[];
  compute_unknown_ns: (number | null)[];
  data_loader_ns: (number | null)[];
  queued_ns: (number | null)[];
  blocked_ns: (number | null)[];
  launching_ns: (number | null)[];
  host_op_ns: (number | null)[];
  host_code_ns: (number | null)[];
  io_ns: (number | null)[];
  launch_unknown_ns: (number | null)[];
  unrecorded_ns: (number | null)[];
  own_delay_ns: (number | null)[];
  cost_ns: (number | null)[];
}

/** What the page of a job shows, besides what `dlprof distributed` prints. */
export interface RankJob extends JobAnswer {
  rank: number;
  ranks: RankColumns;
  profiles: (NamedFile | null)[];
  iterations_by_number: IterationColumns;
  /** Of the profile's rank. */
  exposed_by_iteration: ExposedByIteration;
  /**
   * The row of `collectives` at which most of the own delay of the verdict's rank was seen; null where the verdict
   * names no rank by its own delay, or the delay was seen at none.
   */
  delayed_at: number | null;
}

/** What the pages of a single rank say of its job. */
export interface RankSummary {
  name: string;
  rank: number;
  world_size: number;
  knows_ranks: boolean;
  /** How much of its exposed communication waits for other ranks. */
  communication_wait_fraction: number | null;
  own_delay_ns: number | null;
  sentence: string;
}

/** One recommendation of DLProf's expert system. */
export interface Recommendation {
  problem: string;
  recommendation: string;
}

/**
 * One exclusive part of the wall time; `null` if the recording could not contain it. If `unknown_kernel` is not 0,
 * `tensor_core` is a lower bound, and `null` instead of 0.
 */
export interface ResourceShare {
  resource: "tensor_core" | "unknown_kernel" | "other_kernel" | "memory" | "data_loader" | "io" | "cpu" | "other";
  time_ns: number | null;
  fraction: number | null;
}

/** Rows in the order of the program, in columns; `count` rows are summed in each. */
export interface RowColumns {
  name: string[];
  kind: string[];
  count: number[];
  position: number[];
  a_ns: number[];
  b_ns: number[];
}

/** The search for profiles. */
export interface Scan {
  state: "scanning" | "done";
  directories: number;
  finished_at: number | null;
  truncated: boolean;
  /** Links out of the log directory that were not followed. */
  refused: NamedFile[];
  /** Reports of other tools, which are not read as they are. */
  reports: NamedFile[];
  /** Databases of jobs of many ranks, whose profiles are in the run and in those below it. */
  jobs: NamedFile[];
  /** Files that could be profiles by the ends of their names and are none: the first of them. */
  others: OtherFile[];
  /** How many there are of them. */
  others_count: number;
  /** Why log directories in the cloud cannot be searched, or not anew: a sentence for each. */
  remote: string[];
}

/** A block of a segment at the end of a snapshot. */
export interface SegmentBlock {
  size_bytes: number;
  /** From the begin of the segment. */
  offset_bytes: number;
  state: string;
  /** `null`: it is free. */
  category: string | null;
  owner: string | null;
  stack: string | null;
  allocated_event: number | null;
  allocated_ns: number | null;
}

/** A block of a segment with its neighbours, by address. */
export interface SegmentBlocks {
  total_bytes: number;
  pool: string;
  stream: number;
  /** Of the block in `blocks`. */
  place: number;
  blocks: SegmentBlock[];
}

/** Runs of one program in the order of time. */
export interface SeriesResponse {
  measure: "iteration_time" | "kernel_time";
  runs: SeriesRun[];
  /** Place of the first run that became slower; `null` if none did. */
  regression: number | null;
  /** Places of runs that, or those before which, have too few iterations for a test. */
  untested: number[];
  op_types: string[];
}

/** A run of a series. */
export interface SeriesRun {
  profile: string;
  name: string;
  device: string | null;
  started_ns: number | null;
  iterations: number;
  /** Of the measure. */
  value: Median | null;
  kernel_time: Median | null;
  /** Kernel time of one iteration and GPU by `op_types` of the series, and at the end that of all others. */
  op_type_ns: number[];
}

/** Launches that take longer than their work. */
export interface ShortLaunches {
  launches: number;
  work_ns: number;
  call_ns: number;
  ops: ShortOp[];
}

/** An op with launches that take longer than their work. */
export interface ShortOp {
  op: string;
  op_id: string;
  launches: number;
  work_ns: number;
  call_ns: number;
}

/** One line of the system configuration. */
export interface SystemFact {
  key: string;
  label: string;
  value: string;
}

/** A page of a table. */
export interface TableResponse {
  table: string;
  columns: Column[];
  rows: (Record<string, string | number | boolean | null>)[];
  /** Key of the column that names a row. */
  key: string;
  offset: number;
  total: number;
  filtered: number;
  sort: string;
  /** Sums of the columns that can be summed, over all rows that pass search and filters. */
  totals: Record<string, number | null>;
  /** The columns in which all rows are alike, those too that search and filters leave out. */
  constant: string[];
  /** The columns that say the same as another one in all these rows, by its key. */
  repeated: Record<string, string>;
  /** What the rows do not tell by themselves, in a sentence; empty if nothing. */
  note: string;
}

/** GPU time of Tensor Core kernels over that of all kernels, both in eligible ops. */
export interface TensorCoreEfficiency {
  /** `null` if no kernel is known to use Tensor Cores but some may. */
  fraction: number | null;
  tensor_core_ns: number | null;
  kernel_ns: number | null;
  /** The part of `kernel_ns` whose Tensor Core use is unknown; if it is not 0, `fraction` is a lower bound. */
  unknown_ns: number | null;
}

/** Samples and tokens of all GPUs; `null` where neither shapes nor the user tell. */
export interface Throughput {
  gpus: number;
  samples_per_iteration: number | null;
  samples_per_s: number | null;
  samples_per_s_per_gpu: number | null;
  samples_from: "given" | "shapes" | null;
  tokens_per_iteration: number | null;
  tokens_per_s: number | null;
  tokens_per_s_per_gpu: number | null;
  tokens_from: "given" | "shapes" | null;
  /** Where the numbers come from, or what would tell them. */
  basis: string;
}

/** A gap of a GPU: its causes, and what ended it. */
export interface TimelineGap {
  device: number;
  start: number;
  duration: number;
  cause: string;
  label: string;
  parts: GapPart[];
  ended_by: TimelineItem | null;
  before: Beside | null;
  after: Beside | null;
}

/** Where a text is found in a window. */
export interface TimelineHits {
  from: number;
  to: number;
  /** `null` where there is too much to search. */
  count: number | null;
  /** The first ones, by start. */
  listed: Hit[];
  tracks: HitTrack[];
}

/** One item, with what launched it, or what it launched. */
export interface TimelineItem {
  id: number;
  track: number;
  kind: "stream" | "op" | "call" | "range" | "device" | "queue" | "memory";
  class: string;
  name: string;
  start: number;
  duration: number;
  facts: Record<string, unknown>;
  device?: number;
  stream?: number;
  process?: number;
  thread?: number;
  call?: TimelineItem | null;
  op?: TimelineItem | null;
  works?: TimelineItem[];
  launched?: Launched | null;
  delay_ns?: number;
  starts_before_call?: boolean;
  before?: Beside | null;
  after?: Beside | null;
}

/** The iterations, of many the first ones. */
export interface TimelineIterations {
  count: number;
  typical: IterationWindow | null;
  longest: IterationWindow | null;
  list: IterationWindow[];
}

/** All tracks, the range of the capture, and its iterations. */
export interface TimelineOverview {
  /** Another number means other tracks: the database was replaced. */
  state: number;
  start: number;
  stop: number;
  tracks: TrackInfo[];
  /** The classes of items, by kind of track. */
  classes: Record<string, string[]>;
  iterations: TimelineIterations;
}

/** Some tracks in a window. */
export interface TimelineWindow {
  state: number;
  from: number;
  to: number;
  tracks: TrackData[];
  /** What each GPU did in the window, by part. */
  parts: Record<string, Record<string, number>>;
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

/** A track in a window. */
export interface TrackData {
  id: number;
  count: number;
  items?: TrackItems;
  names?: string[];
  bins?: Bins;
  idle_bins?: Bins;
  bins_from?: number;
  bins_to?: number;
  /** Mean number of waiting launches in each bin. */
  depth?: number[];
  in_use_bytes?: number[];
  capacity_bytes?: number | null;
}

/** A track. */
export interface TrackInfo {
  id: number;
  kind: "stream" | "op" | "call" | "range" | "device" | "queue" | "memory";
  name: string;
  items: number;
  sum_ns: number;
  launches: number;
  level: number;
  device?: number;
  stream?: number;
  process?: number;
  thread?: number;
  /** Of ops: whether most are of a backward pass. */
  backward?: boolean;
}

/** Items of a track, as columns; times count from the start of the window. */
export interface TrackItems {
  start: number[];
  duration: number[];
  class: number[];
  id?: number[];
  /** Index of `names`; -1 for items too narrow for one. */
  name?: number[];
  /** Of idle time: the gap that it is in, which may have several causes. */
  gap_start?: number[];
  gap_duration?: number[];
}

/** A rule that could not decide because data is missing. */
export interface Undecided {
  detector: string;
  heading: string;
  missing: string;
  hint: string;
}

/**
 * Ops of one name without dots, as they have no FLOPs, or these or their bytes are not known: those with the most
 * kernel time.
 */
export interface Undrawn {
  /** Without the path. */
  name: string;
  ops: number | null;
  kernel_ns: number | null;
}

/** The work in a window of ops that do the same; empty for work without one. */
export interface WindowOp {
  op: string;
  /** If it is one op. */
  op_id: string;
  count: number;
  ns: number;
}

/** What of one name a GPU runs in a window, cut to it. */
export interface WindowWork {
  name: string;
  class: string;
  count: number;
  ns: number;
}
