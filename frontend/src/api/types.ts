/**
 * What the server sends, name for name as in `routes/http_api.md` (what `responses.ts` holds is made of its declarations): `*_ns` are whole nanoseconds, `*_bytes` bytes,
 * `*_fraction` shares from 0 to 1; `null` is "unknown", never 0.
 */
import type {
  Aggregation,
  Comparison,
  CoverageNote,
  DiagnosedParts,
  Finding,
  GpuUtilization,
  Headline,
  IterationProposal,
  IterationSource,
  JobAnswer,
  JobCollective,
  KernelTime,
  MemoryDevice,
  MemoryHeld,
  MemoryModule,
  MemoryOwner,
  ModelSummary,
  Performance,
  Recommendation,
  ResourceShare,
  SystemFact,
  TensorCoreEfficiency,
  TopOp,
} from "./responses";

export type * from "./responses";

export type ProfileState = "ready" | "not_imported" | "queued" | "importing" | "failed" | "metadata_only";

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
    /** Reports of other tools, which are not read as they are. */
    reports: { run: string; name: string }[];
    /** Databases of jobs of many ranks, whose profiles are in the run and in those below it. */
    jobs: { run: string; name: string }[];
    /** Why log directories in the cloud cannot be searched, or not anew: a sentence for each. */
    remote: string[];
  };
  import_mode: "auto" | "off";
  reaggregate_mode: "on" | "off";
  /** Where windows of the timeline can be handed over to; null offers nothing. */
  perfetto: string | null;
  /** What `dlprofviewer` was started on; `null` in TensorBoard. */
  opened: { name: string; profile: string | null; code: string; message: string } | null;
  version: string;
}

/**
 * The exclusive parts of the wall time, in order of precedence. `unknown_kernel`: kernels whose Tensor Core use is unknown,
 * and CUDA graphs recorded as a whole; where it is not 0, `tensor_core` is a lower bound, and `null` instead of 0.
 */
export type Resource = ResourceShare["resource"];

export interface IterationRow {
  iteration: number;
  stop_iteration: number;
  /** Iterations that the row adds up. */
  count: number;
  start_ns: number | null;
  duration_ns: number;
  profiled: boolean;
  /** `null` outside the aggregation. */
  parts: Partial<Record<Resource, number | null>> | null;
}

export interface DashboardResponse {
  profile: { id: string; run: string; name: string; format: string };
  aggregations: Aggregation[];
  aggregation: number | null;
  domains: string[];
  domain: string | null;
  /** What the capture holds (`ops`, `shapes`, `modules`, ...); `null` where it does not say. */
  recorded: string[] | null;
  matrix_unit: string;
  /** `PyTorch`, `TensorFlow` or `TensorRT`. */
  framework: string | null;
  model: ModelSummary;
  gpu_utilization: GpuUtilization;
  resource_breakdown: ResourceShare[];
  /**
   * `unknown`: kernels whose Tensor Core use is unknown. `graph`: CUDA graphs recorded as a whole, whose kernels are not known;
   * it is not part of `total`. Where either is not 0, `tensor_core` is a lower bound, and `null` instead of 0.
   */
  kernel_time: Record<"total" | "tensor_core" | "unknown" | "other_kernel" | "memory" | "graph", KernelTime>;
  tensor_core_efficiency: TensorCoreEfficiency;
  performance: Performance;
  iterations: {
    unit: string;
    binned: boolean;
    rows: IterationRow[];
    source: IterationSource | null;
    proposal: IterationProposal | null;
  };
  throughput: Throughput;
  /** The GPU that holds most, at its peak; `null` where no memory was recorded. */
  memory: MemoryPeak | null;
  top_ops: TopOp[];
  system: SystemFact[];
  recommendations: Recommendation[];
  coverage: { notes: CoverageNote[] };
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
  told: string;
}

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
  shares: [string, number][];
}

export type ColumnType =
  | "text"
  | "long_text"
  | "kernel_name"
  | "path"
  | "integer"
  | "boolean"
  | "number"
  | "duration_ns"
  | "fraction"
  | "bytes";

export interface Column {
  key: string;
  label: string;
  type: ColumnType;
  description: string;
  sortable: boolean;
  filterable: boolean;
  searchable: boolean;
  /** Shown when the user asks for it. */
  hidden: boolean;
  /** 0 for what the table is read for; where the page is too narrow for all, a higher one is left out first. */
  tier: number;
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
  /** Sums of the columns that can be summed, over all rows that pass search and filters. */
  totals: Record<string, number | null>;
  /** The columns in which all rows are alike, those too that search and filters leave out. */
  constant: string[];
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

/** One bar: an iteration, or the sums over `count` of them. */
export interface IterationBar extends IterationRow {
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

/** What is aggregated anew: a range, and the op or the markers, by their label or kind, that separate the iterations. */
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

export type FindingSeverity = Finding["severity"];
/** Kinds of evidence that a page opens. */
export type EvidenceKind = "op" | "kernel" | "line" | "function" | "call" | "iteration" | "device";

/** The exclusive parts of a step on one GPU, as `dlprof diagnose` tells them. */
export type DiagnosedPart = keyof DiagnosedParts;

export interface ErrorBody {
  error: { code: string; message: string; hint: string };
}

/** The samples of a side, in columns. */
export interface CompareSamples {
  recording: string[];
  iteration: number[];
  iteration_ns: (number | null)[];
  kernel_ns: number[];
}

export interface CompareResponse extends Comparison {
  order: { name: string[]; kind: string[]; count: number[]; position: number[]; a_ns: number[]; b_ns: number[] };
  iterations: { a: CompareSamples; b: CompareSamples };
  modules: { path: string; level: number; a_ns: number; b_ns: number; rows: number }[];
}

export interface CompareRowSide {
  ops: { op_id: string; path: string; shapes: string | null }[];
  total_ops: number;
  kernels: {
    name: string;
    time_ns: number;
    launches: number;
    tensor_core: boolean | null;
    precision: string | null;
    family: string | null;
    /** With which grids and blocks it is launched; empty where that is not recorded. */
    sizes: { grid: number[]; block: number[] }[];
  }[];
}

export interface CompareRowResponse {
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
  is_changed: boolean;
  a: CompareRowSide;
  b: CompareRowSide;
}

export interface SeriesRun {
  profile: string;
  name: string;
  device: string | null;
  started_ns: number | null;
  iterations: number;
  /** The median of the measure with its 95 % bounds. */
  value: { median: number; low: number | null; high: number | null } | null;
  kernel_time: { median: number; low: number | null; high: number | null } | null;
  /** Kernel time of one iteration and GPU by `SeriesResponse.op_types`, and at the end that of all others. */
  op_type_ns: number[];
}

export interface SeriesResponse {
  measure: "iteration_time" | "kernel_time";
  runs: SeriesRun[];
  /** Place of the first run that became slower; null if none did. */
  regression: number | null;
  op_types: string[];
}

export interface JobCollectiveDetail extends JobCollective {
  members: { rank: number; wait_ns: number; start_ns: number }[];
}

/** The job that a profile is a rank of; `ranks` in columns. */
export interface RankJob extends JobAnswer {
  rank: number;
  ranks: {
    rank: number[];
    host: string[];
    coordinates: string[];
    window_ns: (number | null)[];
    compute_ns: (number | null)[];
    exposed_communication_ns: (number | null)[];
    exposed_transfer_ns: (number | null)[];
    exposed_wait_ns: (number | null)[];
    exposed_unmatched_ns: (number | null)[];
    exposed_copy_ns: (number | null)[];
    idle_ns: (number | null)[];
    overlapped_ns: (number | null)[];
    own_delay_ns: (number | null)[];
    last: number[];
  };
  profiles: ({ run: string; name: string } | null)[];
  iterations_by_number: { iteration: number[]; median_ns: number[] };
}

/** What the pages of a single rank say of its job. */
export interface RankSummary {
  name: string;
  rank: number;
  world_size: number;
  knows_ranks: boolean;
  wait_fraction: number | null;
  own_delay_ns: number | null;
  sentence: string;
}

/** A measure of all ranks in all iterations. */
export interface JobCells {
  rows: number;
  columns: number;
  /** How many ranks and iterations a cell stands for. */
  ranks: number;
  iterations: number;
  unit_ns: number;
  unknown: number;
  /** Base64 of little-endian 32-bit numbers, row after row. */
  cells: string;
}

export interface MemoryResponse {
  headline: string;
  devices: Record<string, MemoryDevice>;
}

export interface MemoryCurveResponse {
  unit: "ns" | "events";
  from: number;
  to: number;
  in_use_min_bytes: number[];
  in_use_max_bytes: number[];
  reserved_max_bytes: number[] | null;
  /** What `in_use_max_bytes` consists of, from below; null of too many events. */
  categories: { category: string; bytes: number[] }[] | null;
  capacity_bytes: number | null;
}

export interface MemorySegment {
  total_bytes: number;
  pool: string;
  stream: number;
  blocks: [size: number, state: string][];
}

export interface MemorySegments {
  segments: MemorySegment[];
  segments_left_out: number;
  blocks_left_out: number;
}

export interface MemoryAt {
  at_ns: number | null;
  in_use_bytes: number;
  at_peak: MemoryHeld[];
  by_owner: MemoryOwner[];
  by_module: MemoryModule[];
}
