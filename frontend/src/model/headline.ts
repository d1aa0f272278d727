/** The sentence the Dashboard begins with: where the GPU's time went, said once, in words. */
import type { DashboardResponse, Resource } from "../api/types";
import { formatCount, formatCounted } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { formatDuration } from "../format/time";
import { kernelNs, withGraphsNs } from "./kernel_time";

/** A piece of a sentence; `resource` gives it that colour, `strong` weight. */
export interface Phrase {
  text: string;
  strong?: boolean;
  resource?: Resource;
}

/** The GPUs that ran anything: a recording of one rank lists all GPUs of its host. */
export function devicesInUse(data: DashboardResponse): DashboardResponse["gpu_utilization"]["devices"] {
  return data.gpu_utilization.devices.filter(({ in_use: used }) => used);
}

/** Whether anything was computed on a GPU: by kernels, or in CUDA graphs recorded as a whole. */
export const hasKernels = (data: DashboardResponse): boolean => withGraphsNs(data) > 0;

/** Whether a GPU did anything at all, be it a copy. */
export const hasGpuWork = (data: DashboardResponse): boolean =>
  hasKernels(data) || (data.kernel_time.memory.time_ns ?? 0) > 0;

/** Whether the capture names ops, by the framework or by NVTX ranges; where it does not say, its ops do. */
export const hasOps = ({ recorded }: DashboardResponse): boolean =>
  recorded === null || recorded.includes("ops") || recorded.includes("nvtx");

/** What was at work while no kernel was running. */
const WITHOUT_KERNEL: Partial<Record<Resource, string>> = {
  memory: "GPU copies and memsets",
  data_loader: "the data loader",
  io: "I/O",
  cpu: "work on the CPU",
  other: "nothing",
};

/** As the server's note says it, too. */
const NO_GPU_WORK = "This recording holds no GPU work.";

/** Why there is no GPU work though it was to be recorded, as a note says; null where nothing tells that it was. */
export function whyNoGpuWork(data: DashboardResponse): string | null {
  const { notes } = data.coverage;
  const note = notes.find(({ message }) => message === NO_GPU_WORK);
  if (note?.hint !== "") return null;
  return notes.find((other) => other !== note)?.message ?? null;
}

/** With which option the profiler of this format records kernels. */
const howToRecordKernels = (format: string): string =>
  `To see kernels, record with ${
    format === "pytorch"
      ? "`ProfilerActivity.CUDA`"
      : format === "nsight_systems"
        ? "`-t cuda,nvtx`"
        : format === "xplane"
          ? "`device_tracer_level=1`"
          : "`ProfilerActivity.CUDA` (PyTorch) or `-t cuda,nvtx` (Nsight Systems)"
  }.`;

/** Why there is no GPU work, or with which option the kernels would be in the recording. */
export const whyNoKernels = (data: DashboardResponse): string =>
  whyNoGpuWork(data) ?? howToRecordKernels(data.profile.format);

/** "The GPU was computing 55.5 % of 1.07 s. The largest part of the rest was work on the CPU: 37.5 %." */
export function utilizationSentence(data: DashboardResponse): Phrase[] {
  const { fraction, wall_ns: wall } = data.gpu_utilization;
  const devices = devicesInUse(data);
  if (fraction === null) {
    const copies = (data.kernel_time.memory.time_ns ?? 0) > 0;
    return [
      {
        text: copies ? "This recording holds GPU copies, but no kernel." : NO_GPU_WORK,
        strong: true,
      },
    ];
  }
  const phrases: Phrase[] = hasKernels(data)
    ? [
        { text: devices.length > 1 ? `The ${devices.length} GPUs were computing ` : "The GPU was computing " },
        { text: formatShare(fraction), strong: true },
        { text: ` of ${formatDuration(wall)}${devices.length > 1 ? " on average" : ""}.` },
      ]
    : [{ text: "No kernel", strong: true }, { text: ` ran in ${formatDuration(wall)}.` }];
  const largest = data.resource_breakdown
    .filter(({ resource, fraction: share }) => resource in WITHOUT_KERNEL && (share ?? 0) >= 0.005)
    .sort((a, b) => (b.fraction ?? 0) - (a.fraction ?? 0))[0];
  if (largest?.resource === "other")
    phrases.push(
      { text: " For " },
      { text: formatShare(largest.fraction), strong: true, resource: largest.resource },
      { text: " of the time no recorded op, API call or GPU work was running." },
    );
  else if (largest !== undefined)
    phrases.push(
      {
        text: ` The largest part of the ${hasKernels(data) ? "rest" : "time"} was ${WITHOUT_KERNEL[largest.resource] ?? ""}: `,
      },
      { text: formatShare(largest.fraction), strong: true, resource: largest.resource },
      { text: "." },
    );
  return phrases;
}

/** "Tensor Core kernels took 28.4 % of the kernel time, 80.0 % in eligible ops." Of kernels alone: copies are none. */
export function matrixSentence(data: DashboardResponse): Phrase[] {
  if (!data.has_matrix_units) return [];
  const unit = data.matrix_unit;
  const { tensor_core: used, unknown, graph } = data.kernel_time;
  const kernels = kernelNs(data);
  const graphNs = graph.time_ns ?? 0;
  const all = (kernels ?? 0) + graphNs;
  if (all === 0) return [];
  const { fraction: efficiency, unknown_ns: untoldInEligible } = data.tensor_core_efficiency;
  const untold = (unknown.time_ns ?? 0) + graphNs;
  if (kernels === null || (used.time_ns === null && untold === 0))
    return [{ text: `Whether ${unit}s were used is not known.` }];
  const cannot = graphNs > untold / 2 ? "is not known, as CUDA graphs were recorded as a whole." : "is not known.";
  if (used.time_ns === null)
    return [
      { text: `No kernel is known to use ${unit}s; for ` },
      { text: formatShare(shareOf(untold, all)), strong: true },
      { text: ` of the kernel time it ${cannot}` },
    ];
  const none = hasOps(data) && (data.model.eligible_ops ?? 0) === 0 ? "; no op is known to be eligible" : "";
  if (used.time_ns === 0)
    return [
      { text: efficiency === null ? "No kernel" : "No eligible op", strong: true },
      { text: ` used ${unit}s${none}.` },
    ];
  const phrases: Phrase[] = [
    { text: `${unit} kernels took ${untold > 0 ? "at least " : ""}` },
    { text: formatShare(shareOf(used.time_ns, all)), strong: true, resource: "tensor_core" },
    { text: " of the kernel time" },
  ];
  if (efficiency !== null)
    phrases.push(
      { text: (untoldInEligible ?? 0) > 0 ? ", at least " : ", " },
      { text: formatShare(efficiency), strong: true },
      { text: " in eligible ops" },
    );
  else if (none !== "") phrases.push({ text: none });
  if (untold > 0) phrases.push({ text: `; for ${formatShare(shareOf(untold, all))} it ${cannot}` });
  else phrases.push({ text: "." });
  return phrases;
}

/** "480 ops, 107 of them eligible for Tensor Cores, 0 using them; 604 ms of GPU time, 66.0 % of it in eligible ops." */
export function modelLine(data: DashboardResponse): string {
  const { ops, eligible_ops: eligible, eligible_ops_using_tensor_cores: using, gpu_time_ns: time } = data.model;
  const gpuTime = time === null || !hasGpuWork(data) ? "" : `${formatDuration(time)} of GPU time`;
  // Kernels outside of ops are counted as if they were some, which helps nobody where there are no others.
  if (!hasOps(data)) return ["No ops were recorded", gpuTime].filter(Boolean).join("; ");
  const first: string[] = [];
  if (ops !== null) first.push(formatCounted(ops, "op"));
  if (eligible !== null) first.push(`${formatCount(eligible)} eligible for ${data.matrix_unit}s`);
  const untold = data.model.eligible_ops_unknown ?? 0;
  if (eligible !== null && eligible > 0 && hasGpuWork(data)) {
    if (using !== null) first.push(`${untold > 0 ? "at least " : ""}${formatCount(using)} of these using them`);
    else if (untold > 0) first.push(`for ${formatCount(untold)} of these it is not known whether they use them`);
  }
  const second = gpuTime === "" ? [] : [gpuTime];
  if (data.model.eligible_gpu_time_fraction !== null && gpuTime !== "")
    second.push(`${formatShare(data.model.eligible_gpu_time_fraction)} of it in eligible ops`);
  return [first.join(", "), second.join(", ")].filter(Boolean).join("; ");
}
