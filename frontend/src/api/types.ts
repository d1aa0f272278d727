/**
 * What the server sends, name for name as in `routes/http_api.md`: `*_ns` are whole nanoseconds, `*_bytes` bytes,
 * `*_fraction` shares from 0 to 1; `null` is "unknown", never 0.
 */

export type ProfileState = "ready" | "not_imported" | "queued" | "importing" | "failed" | "metadata_only";

export interface Headline {
  gpu_names: string[];
  wall_time_ns: number | null;
  iterations: number | null;
  average_iteration_ns: number | null;
  gpu_utilization_fraction: number | null;
  tensor_core_time_fraction: number | null;
}

export interface ImportProgress {
  stage: string;
  fraction: number | null;
  elapsed_s: number;
}

export interface ProfileEntry {
  id: string;
  run: string;
  name: string;
  kind: "database" | "source" | "metadata";
  format: string;
  rank: number | null;
  world_size: number | null;
  captured_at: number | null;
  size_bytes: number | null;
  state: ProfileState;
  /** The error code of `failed`, else empty. */
  code: string;
  message: string;
  progress: ImportProgress | null;
  headline: Headline | null;
}

export interface ProfilesResponse {
  profiles: ProfileEntry[];
  scan: {
    state: "scanning" | "done";
    directories: number;
    finished_at: number | null;
    truncated: boolean;
    /** Links out of the log directory that were not followed. */
    refused: { run: string; name: string }[];
  };
  import_mode: "auto" | "off";
  reaggregate_mode: "on" | "off";
  /** What `dlprofviewer` was started on; `null` in TensorBoard. */
  opened: { name: string; profile: string | null; code: string; message: string } | null;
  version: string;
}

export interface Aggregation {
  id: number;
  iter_start: number | null;
  iter_stop: number | null;
  iterations: number | null;
  key_node: string | null;
  /** The key op, or what the iterations were found by; may be empty. */
  label: string;
}

/** The seven exclusive parts of the wall time, in order of precedence. */
export type Resource = "tensor_core" | "other_kernel" | "memory" | "data_loader" | "io" | "cpu" | "other";

export interface ResourceShare {
  resource: Resource;
  time_ns: number | null;
  fraction: number | null;
}

/** Sums of durations; `names` distinct kernel names, `launches` launches. */
export interface KernelTime {
  time_ns: number | null;
  names: number | null;
  launches: number | null;
}

export interface IterationRow {
  iteration: number;
  stop_iteration: number;
  start_ns: number | null;
  duration_ns: number;
  profiled: boolean;
  /** `null` outside the aggregation. */
  parts: Partial<Record<Resource, number | null>> | null;
}

export interface IterationSource {
  kind: string;
  label: string;
}

export interface TopOp {
  op_id: string;
  name: string;
  op_type: string | null;
  direction: string | null;
  gpu_time_ns: number;
  gpu_time_fraction: number | null;
  calls: number | null;
  eligible: boolean | null;
  using_tensor_cores: boolean | null;
}

export type Severity = "info" | "warning" | "error";

export interface DashboardResponse {
  profile: { id: string; run: string; name: string; format: string };
  aggregations: Aggregation[];
  aggregation: number | null;
  domains: string[];
  domain: string | null;
  /** What the capture holds (`ops`, `shapes`, `modules`, ...); `null` where it does not say. */
  recorded: string[] | null;
  matrix_unit: string;
  model: {
    ops: number | null;
    eligible_ops: number | null;
    eligible_ops_using_tensor_cores: number | null;
    gpu_time_ns: number | null;
    eligible_gpu_time_fraction: number | null;
  };
  gpu_utilization: {
    fraction: number | null;
    busy_ns: number | null;
    wall_ns: number | null;
    devices: { device_id: number; name: string | null; fraction: number | null; busy_ns: number | null }[];
  };
  resource_breakdown: ResourceShare[];
  kernel_time: Record<"total" | "tensor_core" | "unknown" | "other_kernel" | "memory", KernelTime>;
  tensor_core_efficiency: { fraction: number | null; tensor_core_ns: number | null; kernel_ns: number | null };
  performance: {
    wall_clock_ns: number | null;
    total_iterations: number | null;
    profiled_iterations: number | null;
    iter_start: number | null;
    iter_stop: number | null;
    average_iteration_ns: number | null;
    iteration_std_dev_ns: number | null;
  };
  iterations: {
    unit: string;
    binned: boolean;
    rows: IterationRow[];
    source: (IterationSource & { candidates: (IterationSource & { count: number })[] }) | null;
    proposal: { iter_start: number; iter_stop: number; reason: string } | null;
  };
  top_ops: TopOp[];
  system: { key: string; label: string; value: string }[];
  recommendations: { problem: string; recommendation: string }[];
  coverage: { notes: { severity: Severity; message: string; hint: string | null }[] };
}

export type ColumnType =
  "text" | "long_text" | "kernel_name" | "path" | "integer" | "boolean" | "duration_ns" | "fraction" | "bytes";

export interface Column {
  key: string;
  label: string;
  type: ColumnType;
  description: string;
  sortable: boolean;
  filterable: boolean;
  searchable: boolean;
  hidden: boolean;
}

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;

export interface TableResponse {
  table: string;
  columns: Column[];
  rows: Row[];
  key: string;
  offset: number;
  total: number;
  filtered: number;
  sort: string;
}

/** What is asked of `./table`. `links` are the parameters of the table itself, such as `op`. */
export interface TableRequest {
  profile: string;
  table: string;
  aggregation: number | null;
  domain: string | null;
  offset: number;
  limit: number;
  sort: string;
  search: string;
  where: Record<string, string>;
  links: Record<string, string>;
}

/** The tree of groups and ops by columns: every list has one item for each node. */
export interface GroupNodes {
  /** Position of the parent in these lists; -1 for a root. */
  parent: number[];
  name: string[];
  /** `null` for a group. */
  op_id: (string | null)[];
  direction: string[];
  level: number[];
  /** Direct children in the profile; fewer may have been sent. */
  children: number[];
  /** Equal for nodes whose subtrees are alike but for numbers in names. */
  structure: number[];
  ops: (number | null)[];
  calls: (number | null)[];
  eligible_ops: (number | null)[];
  using_ops: (number | null)[];
  cpu_time_ns: (number | null)[];
  gpu_time_ns: (number | null)[];
  cpu_overhead_ns: (number | null)[];
  gpu_idle_ns: (number | null)[];
  kernel_time_ns: (number | null)[];
  tensor_core_time_ns: (number | null)[];
}

export interface GroupsResponse {
  /** The path of the first node where a subtree was asked for, else empty. */
  group: string;
  nodes: GroupNodes;
  total: number;
  left_out: number;
}

/** One bar: an iteration, or the sums over `count` of them. */
export interface IterationBar extends IterationRow {
  count: number;
  shortest_ns: number;
  longest_ns: number;
}

export interface IterationsResponse {
  first: number | null;
  last: number | null;
  total: number;
  profiled: number;
  iter_start: number | null;
  iter_stop: number | null;
  from: number | null;
  to: number | null;
  bin_size: number;
  binned: boolean;
  rows: IterationBar[];
}

export type JobState = "queued" | "running" | "done" | "failed" | "cancelled";

/** What is aggregated anew: a range, and the op or the kind of markers that separate the iterations. */
export interface AggregateRequest {
  iter_start: number | null;
  iter_stop: number | null;
  key_op: string | null;
  candidate: string | null;
}

export interface Job {
  id: string;
  kind: "aggregate" | "delete";
  state: JobState;
  message: string;
  progress: ImportProgress | null;
  request: AggregateRequest & { aggregation: number | null };
  /** The new aggregation once `done`. */
  aggregation: number | null;
  started_at: number | null;
  finished_at: number | null;
}

export interface ErrorBody {
  error: { code: string; message: string; hint: string };
}
