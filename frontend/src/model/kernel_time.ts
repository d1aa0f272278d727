/** The classes of kernels in the words and colours of the screen. */
import type { DashboardResponse, KernelTime, Row } from "../api/types";
import { colourOf, type ColourClass, type UnknownWork } from "./resources";

export interface KernelClass {
  key: string;
  label: string;
  colour: string;
  time: KernelTime;
}

/** Time of the recorded kernels, without copies and sets, which DLProf's total includes. */
export function kernelNs({ kernel_time: { total, memory } }: DashboardResponse): number | null {
  return total.time_ns === null ? null : Math.max(total.time_ns - (memory.time_ns ?? 0), 0);
}

/** The same with CUDA graphs recorded as a whole, of which the kernels are not; what is not known counts as nothing. */
export const withGraphsNs = (data: DashboardResponse): number =>
  (kernelNs(data) ?? 0) + (data.kernel_time.graph.time_ns ?? 0);

/** What kernel time is called with so much of CUDA graphs: that of recorded kernels alone has no other name. */
export const kernelTimeWith = (graphNs: number): string => (graphNs > 0 ? "kernel and CUDA graph time" : "kernel time");

/** What `withGraphsNs` is called. */
export const kernelTimeName = ({ kernel_time: { graph } }: Pick<DashboardResponse, "kernel_time">): string =>
  kernelTimeWith(graph.time_ns ?? 0);

/** The same in the title of a panel. */
export const kernelTimeTitle = (data: Pick<DashboardResponse, "kernel_time">): string =>
  kernelTimeName(data).replace(/\b[a-z](?!nd)/g, (letter) => letter.toUpperCase());

/** The total, then its parts: kernels that use the matrix unit, kernels for which that is unknown, memory, all others. */
export function kernelClasses(data: DashboardResponse): KernelClass[] {
  const { kernel_time: time, matrix_unit: unit } = data;
  const { kernels, graphs } = unknownWork(data);
  const least = (kernels || graphs) && time.tensor_core.time_ns !== null ? ", at\u00a0least" : "";
  return [
    { key: "total", label: "Total", colour: "transparent", time: time.total },
    { key: "tensor_core", label: `Using ${unit}s${least}`, colour: colourOf("tensor_core"), time: time.tensor_core },
    ...(kernels
      ? [{ key: "unknown", label: "Not known", colour: colourOf("unknown_kernel"), time: time.unknown }]
      : []),
    { key: "memory", label: "Memory", colour: colourOf("memory"), time: time.memory },
    { key: "other_kernel", label: "All other kernels", colour: colourOf("other_kernel"), time: time.other_kernel },
  ];
}

/** The work for which the use of matrix units is unknown. */
export const unknownWork = ({
  kernel_time: { unknown, graph },
}: Pick<DashboardResponse, "kernel_time">): UnknownWork => ({
  kernels: (unknown.time_ns ?? 0) > 0,
  graphs: (graph.time_ns ?? 0) > 0,
});

/** What `total` does not hold: launches of CUDA graphs of which the kernels were not recorded. */
export const wholeGraphs = (data: DashboardResponse): KernelClass => ({
  key: "graphs",
  label: "In CUDA graphs",
  // Beside kernels that have the colour of what is not known, graphs have another.
  colour: colourOf(unknownWork(data).kernels ? "outside" : "unknown_kernel"),
  time: data.kernel_time.graph,
});

/** The classes with collectives in one of their own; in the name of the others' where their time is not known. */
export function withCollectives(
  classes: readonly KernelClass[],
  { collective_ns: ns }: Pick<DashboardResponse, "collective_ns">,
  communicates: boolean,
): KernelClass[] {
  return classes.flatMap((each) => {
    if (each.key !== "other_kernel") return [each];
    if (ns === 0 || each.time.time_ns === null)
      return [communicates ? { ...each, label: `${each.label} and collectives` } : each];
    return [
      { ...each, time: { time_ns: each.time.time_ns - ns, names: null, launches: null } },
      {
        key: "communication",
        label: "Communication",
        colour: colourOf("communication"),
        time: { time_ns: ns, names: null, launches: null },
      },
    ];
  });
}

/**
 * The parts of a time of the Iteration Summary, in the classes of the chart above it. DLProf's other kernels hold collectives, of which
 * the diagnosis tells how long they ran alone: `communication_ns`.
 */
export function gpuTimeParts(key: string, row: Row, communication_ns = 0): [ColourClass, number][] {
  const of = (column: string): number => Number(row[column] ?? 0);
  const [tensorCores, unknown] = [of("tensor_core_time_ns"), of("unknown_kernel_ns")];
  const others = of(key) - tensorCores - unknown;
  const communication = Math.min(communication_ns, others);
  const rest: [ColourClass, number][] = [
    ["unknown_kernel", unknown],
    ["other_kernel", others - communication],
    ["communication", communication],
  ];
  const parts: [ColourClass, number][] = [["tensor_core", tensorCores], ...(key === "gpu_time_ns" ? rest : [])];
  return parts.filter(([, ns]) => ns > 0);
}
