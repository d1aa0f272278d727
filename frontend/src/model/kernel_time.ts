/** The classes of kernels in the words and colours of the screen. */
import type { DashboardResponse, KernelTime } from "../api/types";
import { colourOf } from "./resources";

export interface KernelClass {
  key: string;
  label: string;
  colour: string;
  time: KernelTime;
}

/** Time of the kernels that were recorded: copies and sets are none, though DLProf's total holds them. */
export function kernelNs({ kernel_time: { total, memory } }: DashboardResponse): number | null {
  return total.time_ns === null ? null : Math.max(total.time_ns - (memory.time_ns ?? 0), 0);
}

/** The whole, then the parts they fall into: using the matrix unit, memory, all other. */
export function kernelClasses({ kernel_time: time, matrix_unit: unit }: DashboardResponse): KernelClass[] {
  return [
    { key: "total", label: "Total", colour: "transparent", time: time.total },
    { key: "tensor_core", label: `Using ${unit}s`, colour: colourOf("tensor_core"), time: time.tensor_core },
    { key: "memory", label: "Memory", colour: colourOf("memory"), time: time.memory },
    { key: "other_kernel", label: "All other kernels", colour: colourOf("other_kernel"), time: time.other_kernel },
  ];
}

/** Whether CUDA graphs were recorded as a whole. */
export const hasGraphs = ({ kernel_time: { graph } }: DashboardResponse): boolean => (graph.time_ns ?? 0) > 0;

/** What `total` does not hold: launches of CUDA graphs of which the kernels were not recorded. */
export const wholeGraphs = (time: KernelTime): KernelClass => ({
  key: "graphs",
  label: "In CUDA graphs",
  colour: colourOf("outside"),
  time,
});
