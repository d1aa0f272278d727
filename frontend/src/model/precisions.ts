/** Precisions: their names, order and colours, and what their shares of kernel time say. */
import type { DashboardResponse, PrecisionTime } from "../api/types";
import { formatCounted } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { formatDuration } from "../format/time";
import { colourOf, COLOURS, type Colours } from "./resources";

/** The palette of the resource classes, which was checked for contrast and colour blindness; several precisions in one have none. */
export const PRECISION_COLOURS = {
  fp64: COLOURS.io,
  fp32: COLOURS.cpu,
  tf32: COLOURS.data_loader,
  fp16: COLOURS.other_kernel,
  bf16: COLOURS.memory,
  fp8: COLOURS.tensor_core,
  fp4: COLOURS.communication,
  int8: COLOURS.unknown_kernel,
  mixed: { light: "#3d3d3d", dark: "#e4e4e4" },
  unknown: COLOURS.outside,
} as const satisfies Readonly<Record<string, Colours>>;

export type PrecisionKey = keyof typeof PRECISION_COLOURS;

export const PRECISION_KEYS = Object.keys(PRECISION_COLOURS) as PrecisionKey[];

/** Which colour a precision of the server has; what is new has that of the unknown. */
export const precisionKey = (precision: string): PrecisionKey =>
  PRECISION_KEYS.find((key) => key === precision.toLowerCase()) ?? "unknown";

export const precisionLabel = (precision: string): string =>
  ({ "": "Unknown precision", mixed: "Mixed", communication: "Communication" })[precision] ?? precision.toUpperCase();

export const precisionColour = (precision: string): string =>
  precision === "communication" ? colourOf("communication") : `var(--p-${precisionKey(precision)})`;

/** The custom properties of a theme, for the style sheet. */
export const precisionProperties = (theme: keyof Colours): string =>
  PRECISION_KEYS.map((key) => `--p-${key}:${PRECISION_COLOURS[key][theme]}`).join(";");

export interface PrecisionPart {
  key: string;
  label: string;
  precision: string;
  matrixUnit: PrecisionTime["matrix_unit"];
  ns: number;
  kernels: number;
  fraction: number;
}

/** Kernel time by precision and matrix unit, the largest part first. */
export function precisionParts(times: readonly PrecisionTime[], matrixUnit: string): PrecisionPart[] {
  const total = times.reduce((sum, { kernel_ns: ns }) => sum + (ns ?? 0), 0);
  const on = { yes: `on ${matrixUnit}s`, no: `not on ${matrixUnit}s`, unknown: `${matrixUnit}s unknown` } as const;
  return times
    .filter(({ kernel_ns: ns }) => (ns ?? 0) > 0)
    .map(({ precision, matrix_unit: unit, kernel_ns: ns, kernels }) => ({
      key: `${precision} ${unit}`,
      label: precision === "communication" ? precisionLabel(precision) : `${precisionLabel(precision)}, ${on[unit]}`,
      precision,
      matrixUnit: unit,
      ns: ns ?? 0,
      kernels: kernels ?? 0,
      fraction: (ns ?? 0) / total,
    }))
    .sort((one, other) => other.ns - one.ns);
}

/** What the bar does not cover, in sentences: kernels of unknown precision, and CUDA graphs without recorded kernels. */
export function unknownSentence(
  { unknown, graph }: Pick<DashboardResponse["kernel_time"], "unknown" | "graph">,
  totalNs: number | null,
  matrixUnit: string,
): string {
  const share = shareOf(unknown.time_ns, totalNs);
  const untold =
    share === null || share === 0
      ? ""
      : `Whether ${matrixUnit}s were used is not known for ${formatShare(share)} of the kernel time: the names of these kernels do not say.`;
  const inGraphs =
    (graph.time_ns ?? 0) === 0
      ? ""
      : `Not included: ${formatDuration(graph.time_ns)} in ${formatCounted(graph.launches ?? 0, "CUDA graph")} recorded as a whole, whose precision is not known.`;
  return [untold, inGraphs].filter(Boolean).join(" ");
}
