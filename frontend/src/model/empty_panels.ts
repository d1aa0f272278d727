/** Which of DLProf's panels a recording cannot fill, and why. */
import type { DashboardResponse } from "../api/types";
import { hasGpuWork, hasKernels, hasOps } from "./headline";

/** Titles of the panels that are empty for a reason. */
export interface EmptyPanels {
  titles: string[];
  /** A sentence. */
  reason: string;
}

const NO_KERNEL = "the recording holds no kernel.";

/** Why no kernel is known to be, or not to be, on matrix units; empty where it is known. */
function noEfficiency(data: DashboardResponse): string {
  const { matrix_unit: unit, model, tensor_core_efficiency: efficiency } = data;
  if (!data.has_matrix_units) return `this GPU has no ${unit}s.`;
  if (efficiency.fraction !== null || (efficiency.unknown_ns ?? 0) > 0) return "";
  if (!hasKernels(data)) return NO_KERNEL;
  if (!hasOps(data)) return `no ops were recorded, so which kernels could use ${unit}s is not known.`;
  if ((model.eligible_ops ?? 0) > 0) return "no kernel of an eligible op was recorded.";
  const told = model.eligible_ops === null ? ": the recording does not say." : ".";
  return `no op is known to be eligible for ${unit}s${told}`;
}

/** The panels without anything to show, those of one reason together. */
export function emptyPanels(data: DashboardResponse): EmptyPanels[] {
  const reasons = new Map<string, string[]>();
  const tell = (title: string, reason: string): void => {
    if (reason !== "") reasons.set(reason, [...(reasons.get(reason) ?? []), title]);
  };
  tell("GPU Utilization", data.gpu_utilization.fraction === null ? NO_KERNEL : "");
  tell(`${data.matrix_unit} Kernel Efficiency`, noEfficiency(data));
  tell("Total Kernel GPU Time", hasGpuWork(data) ? "" : NO_KERNEL);
  const spent = data.resource_breakdown.some(({ resource, time_ns: time }) => resource !== "other" && time);
  tell("Resource Usage Breakdown", spent ? "" : "what the time was spent on was not recorded.");
  return [...reasons].map(([reason, titles]) => ({ titles, reason }));
}
