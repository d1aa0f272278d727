/** The sentence the Dashboard begins with: where the GPU's time went, said once, in words. */
import type { DashboardResponse, Resource } from "../api/types";
import { formatCount, formatCounted } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { formatDuration } from "../format/time";

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

/** Whether any kernel ran: copies and sets alone are no computing. */
export function hasKernels({ kernel_time: time }: DashboardResponse): boolean {
  return (time.total.time_ns ?? 0) > (time.memory.time_ns ?? 0);
}

/** What was at work while no kernel was running. */
const WITHOUT_KERNEL: Partial<Record<Resource, string>> = {
  memory: "GPU copies and sets",
  data_loader: "the data loader",
  io: "reading and writing",
  cpu: "work on the CPU",
  other: "nothing",
};

/** "The GPU was computing 55.5 % of 1.07 s. The largest part of the rest was work on the CPU: 37.5 %." */
export function utilizationSentence(data: DashboardResponse): Phrase[] {
  const { fraction, wall_ns: wall } = data.gpu_utilization;
  const devices = devicesInUse(data);
  if (fraction === null) {
    const copies = (data.kernel_time.memory.time_ns ?? 0) > 0;
    return [
      {
        text: copies ? "This recording holds GPU copies, but no kernel." : "This recording holds no GPU work.",
        strong: true,
      },
    ];
  }
  const phrases: Phrase[] = [
    { text: devices.length > 1 ? `The ${devices.length} GPUs were computing ` : "The GPU was computing " },
    { text: formatShare(fraction), strong: true },
    { text: ` of ${formatDuration(wall)}${devices.length > 1 ? " on average" : ""}.` },
  ];
  const largest = data.resource_breakdown
    .filter(({ resource, fraction: share }) => resource in WITHOUT_KERNEL && (share ?? 0) >= 0.005)
    .sort((a, b) => (b.fraction ?? 0) - (a.fraction ?? 0))[0];
  if (largest?.resource === "other")
    phrases.push(
      { text: " For " },
      { text: formatShare(largest.fraction), strong: true, resource: largest.resource },
      { text: " of the time nothing that was recorded was running." },
    );
  else if (largest !== undefined)
    phrases.push(
      { text: ` The largest part of the rest was ${WITHOUT_KERNEL[largest.resource] ?? ""}: ` },
      { text: formatShare(largest.fraction), strong: true, resource: largest.resource },
      { text: "." },
    );
  return phrases;
}

/** "Tensor Core kernels took 28.4 % of the kernel time in eligible ops." */
export function matrixSentence(data: DashboardResponse): Phrase[] {
  const unit = data.matrix_unit;
  const { total, tensor_core: used, unknown } = data.kernel_time;
  if ((total.time_ns ?? 0) === 0) return [];
  const { fraction: efficiency, unknown_ns: untold, kernel_ns: eligible } = data.tensor_core_efficiency;
  const doubt = (untold ?? 0) > 0;
  if (efficiency === 0 && !doubt) return [{ text: "No eligible op", strong: true }, { text: ` used ${unit}s.` }];
  if (efficiency !== null)
    return [
      { text: doubt ? `${unit} kernels took at least ` : `${unit} kernels took ` },
      { text: formatShare(efficiency), strong: true, resource: "tensor_core" },
      { text: " of the kernel time in eligible ops" },
      { text: doubt ? `; of ${formatShare(shareOf(untold, eligible))} it cannot be told.` : "." },
    ];
  const share = shareOf(used.time_ns, total.time_ns);
  if (share === null) return [{ text: `Whether ${unit}s were used is not known.` }];
  if (share === 0 && (unknown.time_ns ?? 0) > 0)
    return [
      { text: `No kernel is known to use ${unit}s; of ` },
      { text: formatShare(shareOf(unknown.time_ns, total.time_ns)), strong: true },
      { text: " of the kernel time it cannot be told." },
    ];
  return [
    { text: `${unit} kernels took ` },
    { text: formatShare(share), strong: true, resource: "tensor_core" },
    { text: " of all kernel time; no op is known to be eligible." },
  ];
}

/** "480 ops, 107 of them eligible for Tensor Cores, 0 using them; 604 ms of GPU time, 66.0 % of it in eligible ops." */
export function modelLine(data: DashboardResponse): string {
  const { ops, eligible_ops: eligible, eligible_ops_using_tensor_cores: using, gpu_time_ns: time } = data.model;
  const first: string[] = [];
  if (ops !== null) first.push(formatCounted(ops, "op"));
  if (eligible !== null) first.push(`${formatCount(eligible)} eligible for ${data.matrix_unit}s`);
  if (using !== null && eligible !== null && eligible > 0) first.push(`${formatCount(using)} of these using them`);
  const second: string[] = [];
  if (time !== null) second.push(`${formatDuration(time)} of GPU time`);
  if (data.model.eligible_gpu_time_fraction !== null)
    second.push(`${formatShare(data.model.eligible_gpu_time_fraction)} of it in eligible ops`);
  return [first.join(", "), second.join(", ")].filter(Boolean).join("; ");
}
