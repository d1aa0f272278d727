/** Precisions: their names, order and colours, and what their shares of kernel time say. */
import type { DashboardResponse, PrecisionTime } from "../api/types";
import { formatCounted } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { colourOf, COLOURS, PANEL_BACKGROUND, shortUnit, type Colours } from "./resources";
import { contrast, mixed } from "./shades";
import type { BarSegment } from "./step";

/** The colour of each on every page: none is close to the colour of a class of time, which `resources.test.ts` checks. */
export const PRECISION_COLOURS = {
  fp64: { light: "#1f1147", dark: "#7f6cff" },
  fp32: { light: "#7d12d6", dark: "#c08cff" },
  tf32: { light: "#9c6fd6", dark: "#e6c2ff" },
  fp16: { light: "#2a35f0", dark: "#5078f8" },
  bf16: { light: "#0b3570", dark: "#c9e6ff" },
  fp8: { light: "#a0189c", dark: "#ff2fd0" },
  fp4: { light: "#5c1a6b", dark: "#ffd0ec" },
  int8: { light: "#5a3d33", dark: "#c4a898" },
  mixed: { light: "#2e2e2e", dark: "#f4f4f4" },
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

/** What a gain at the rates of 16 bits is of: what these precisions multiply. */
const MORE_BITS: ReadonlySet<string> = new Set(["fp32", "tf32"]);
const PRODUCTS: ReadonlySet<string> = new Set(["gemm", "convolution", "attention"]);

/** Whether the server compares an op with the rates of 16 bits, as far as it could gain: it multiplies matrices in more. */
export const gainsInFewerBits = ({ precision, family }: { precision?: unknown; family?: unknown }): boolean =>
  MORE_BITS.has(String(precision)) && PRODUCTS.has(String(family));

/** How near to the panel the colour of a precision is, by whether its work is on matrix units. */
const PALER = { yes: 0, unknown: 0.3, no: 0.55 } as const;

/** The colours of precisions in a theme: custom property, fill, and what is read on it. */
export const precisionFills = (theme: keyof Colours): [name: string, fill: string, ink: string][] =>
  PRECISION_KEYS.flatMap((key) =>
    Object.entries(PALER).map(([unit, paler]): [string, string, string] => {
      const fill = mixed(PRECISION_COLOURS[key][theme], PANEL_BACKGROUND[theme], paler);
      const [ink = ""] = ["#ffffff", "#000000"].sort((one, other) => contrast(other, fill) - contrast(one, fill));
      return [unit === "yes" ? `p-${key}` : `p-${key}-${unit}`, fill, ink];
    }),
  );

/** The custom properties of a theme, for the style sheet. */
export const precisionProperties = (theme: keyof Colours): string =>
  precisionFills(theme)
    .map(([name, fill, ink]) => `--${name}:${fill};--on-${name}:${ink}`)
    .join(";");

/** In the order of the bar of a step: on matrix units, not, not known; then what computes nothing. */
const WORK = ["tensor_core", "other_kernel", "unknown_kernel", "communication"] as const;

const workOf = ({ precision, matrix_unit: unit }: PrecisionTime): (typeof WORK)[number] =>
  precision === "communication"
    ? "communication"
    : ({ yes: "tensor_core", no: "other_kernel", unknown: "unknown_kernel" } as const)[unit];

/**
 * Kernel time by precision and matrix unit, in the colours of precisions, those off matrix units paler.
 * `matrixUnit` is empty where the GPU has none, `graphNs` the time in CUDA graphs recorded as a whole.
 */
export function precisionSegments(times: readonly PrecisionTime[], matrixUnit: string, graphNs: number): BarSegment[] {
  const on = { yes: `on ${matrixUnit}s`, no: `not on ${matrixUnit}s`, unknown: `${matrixUnit}s unknown` } as const;
  const core = shortUnit(matrixUnit);
  const often = (precision: string): boolean => times.filter((time) => time.precision === precision).length > 1;
  const segments = WORK.flatMap((work) =>
    times
      .filter((time) => workOf(time) === work && (time.kernel_ns ?? 0) > 0)
      .sort((one, other) => (other.kernel_ns ?? 0) - (one.kernel_ns ?? 0))
      .map(({ precision, matrix_unit: unit, kernel_ns: ns, kernels }) => {
        const name = precisionLabel(precision);
        const fill = `p-${precisionKey(precision)}${matrixUnit === "" || unit === "yes" ? "" : `-${unit}`}`;
        return {
          key: `${precision} ${unit}`,
          label: work === "communication" || matrixUnit === "" ? name : `${name}, ${on[unit]}`,
          // Of several with one name, what tells them apart stays.
          short: often(precision) ? `${name} ${{ yes: `on ${core}`, no: `off ${core}`, unknown: "?" }[unit]}` : name,
          ns: ns ?? 0,
          ...(work === "communication"
            ? { colour: colourOf(work) }
            : { colour: `var(--${fill})`, ink: `var(--on-${fill})` }),
          about: formatCounted(kernels ?? 0, "kernel"),
          to: null,
        };
      }),
  );
  const graphs = {
    key: "graphs",
    label: "In CUDA graphs, not known",
    short: "CUDA graphs",
    ns: graphNs,
    colour: colourOf("unknown_kernel"),
    about: "Recorded as a whole: which kernels ran in them is not known.",
    to: null,
  };
  return graphNs > 0 ? [...segments, graphs] : segments;
}

/** For how much of the kernel time it is not known whether matrix units were used. */
export function unknownSentence(
  { unknown }: Pick<DashboardResponse["kernel_time"], "unknown">,
  totalNs: number | null,
  matrixUnit: string,
): string {
  const share = shareOf(unknown.time_ns, totalNs);
  return share === null || share === 0
    ? ""
    : `Whether ${matrixUnit}s were used is not known for ${formatShare(share)} of the kernel time: the names of these kernels do not say.`;
}
