/** Small answers of the server for tests; each test says only what matters to it. */
import type { DashboardResponse, IterationRow, ProfileEntry } from "../api/types";

export function profileEntry(changes: Partial<ProfileEntry> = {}): ProfileEntry {
  return {
    id: "id",
    run: "run",
    name: "trace.json",
    kind: "source",
    format: "pytorch",
    rank: null,
    world_size: null,
    captured_at: null,
    modified_at: null,
    size_bytes: 1,
    state: "ready",
    code: "",
    message: "",
    progress: null,
    headline: null,
    ...changes,
  };
}

/** No time in any part. */
export const PARTS = {
  tensor_core: 0,
  unknown_kernel: 0,
  other_kernel: 0,
  memory: 0,
  data_loader: 0,
  io: 0,
  cpu: 0,
  other: 0,
};

export function iterationRow(changes: Partial<IterationRow> = {}): IterationRow {
  return {
    iteration: 0,
    stop_iteration: changes.iteration ?? 0,
    count: 1,
    start_ns: 0,
    duration_ns: 100,
    profiled: true,
    parts: {
      tensor_core: 30,
      unknown_kernel: 0,
      other_kernel: 20,
      memory: 0,
      data_loader: 0,
      io: 0,
      cpu: 40,
      other: 10,
    },
    ...changes,
  };
}

/** 1 s of wall time on one GPU: 200 ms Tensor Core kernels, 300 ms other kernels, 400 ms CPU, 100 ms nothing. */
export function dashboard(changes: Partial<DashboardResponse> = {}): DashboardResponse {
  const time = (ms: number) => ({ time_ns: ms * 1e6, names: 1, launches: 1 });
  return {
    profile: {
      id: "id",
      run: "run",
      name: "trace.json",
      format: "pytorch",
      rank: null,
      world_size: null,
      captured_at: null,
    },
    aggregations: [{ id: 1, iter_start: 0, iter_stop: 4, iterations: 5, key_node: "", label: "" }],
    aggregation: 1,
    domains: [],
    domain: "default-domain",
    recorded: null,
    matrix_unit: "Tensor Core",
    has_matrix_units: true,
    framework: "PyTorch",
    model: {
      ops: 10,
      eligible_ops: 4,
      eligible_ops_using_tensor_cores: 2,
      eligible_ops_unknown: 0,
      gpu_time_ns: 5e8,
      eligible_gpu_time_fraction: 0.5,
    },
    gpu_utilization: {
      fraction: 0.5,
      busy_ns: 5e8,
      wall_ns: 1e9,
      devices: [{ device_id: 0, cuda_ordinal: null, name: "GPU", in_use: true, fraction: 0.5, busy_ns: 5e8 }],
    },
    resource_breakdown: [
      { resource: "tensor_core", time_ns: 2e8, fraction: 0.2 },
      { resource: "other_kernel", time_ns: 3e8, fraction: 0.3 },
      { resource: "cpu", time_ns: 4e8, fraction: 0.4 },
      { resource: "other", time_ns: 1e8, fraction: 0.1 },
    ],
    kernel_time: {
      total: time(500),
      tensor_core: time(200),
      unknown: time(0),
      other_kernel: time(300),
      memory: time(0),
      graph: time(0),
    },
    graph_launch_fraction: null,
    collective_ns: 0,
    launched_outside: "",
    ran_late: "",
    tensor_core_efficiency: { fraction: 0.8, tensor_core_ns: 2e8, kernel_ns: 2.5e8, unknown_ns: 0 },
    performance: {
      wall_clock_ns: 1e9,
      total_iterations: 5,
      profiled_iterations: 5,
      iter_start: 0,
      iter_stop: 4,
      average_iteration_ns: 2e8,
      iteration_std_dev_ns: 0,
    },
    iterations: {
      unit: "iteration",
      binned: false,
      rows: [iterationRow()],
      source: { kind: "", label: "", candidates: [] },
      proposal: null,
    },
    top_ops: [],
    system: [],
    recommendations: [],
    coverage: { notes: [] },
    throughput: {
      gpus: 1,
      samples_per_iteration: null,
      samples_per_s: null,
      samples_per_s_per_gpu: null,
      samples_from: null,
      tokens_per_iteration: null,
      tokens_per_s: null,
      tokens_per_s_per_gpu: null,
      tokens_from: null,
      basis: "",
    },
    memory: null,
    ...changes,
  };
}
