/** What a recording cannot hold must not read as a measured nothing. */
import type { DashboardResponse, Resource } from "../api/types";
import { ON_GPU } from "./resources";

/** Whether time of this class would have been seen; of Tensor Cores it is not known either where the use of some kernels is unknown. */
export function isRecorded(
  resource: Resource,
  { resource_breakdown: parts }: Pick<DashboardResponse, "resource_breakdown">,
): boolean {
  const timeOf = (of: Resource) => parts.find((part) => part.resource === of)?.time_ns;
  return timeOf(resource) !== null || (resource === "tensor_core" && (timeOf("unknown_kernel") ?? 0) > 0);
}

/** How such time gets into a recording. */
export function notRecordedTip(resource: Resource): string {
  if (ON_GPU.includes(resource))
    return "This recording holds no work of a GPU: there was none, or it was not recorded.";
  return resource === "io"
    ? "Not known here: I/O is recorded only by Nsight Systems with -t osrt."
    : "Not known here: the data loader shows only in the PyTorch profiler's CPU activities, in XPlane profiles and in NVTX ranges.";
}

/** What a recording can contain, in the order of display; other words are not shown. */
const CONTENTS: Readonly<Record<string, string>> = {
  ops: "ops",
  modules: "modules",
  nvtx: "NVTX ranges",
  shapes: "input shapes",
  stacks: "call stacks",
  steps: "iterations",
  memory: "memory events",
  io: "I/O",
  syncs: "waits of the CPU for the GPU",
};

/** "Recorded: ops, input shapes and iterations."; empty where none of it was. */
export function recordedSentence(recorded: readonly string[]): string {
  const words = Object.entries(CONTENTS).flatMap(([key, word]) => (recorded.includes(key) ? [word] : []));
  const last = words.pop();
  if (last === undefined) return "";
  return `Recorded: ${words.length === 0 ? last : `${words.join(", ")} and ${last}`}.`;
}
