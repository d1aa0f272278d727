/**
 * What the boxes of the model are coloured by: each question has a few steps that differ in lightness, so that they can be told
 * apart without any colour vision.
 */
import { formatShare, shareOf } from "../format/share";
import { boundShares as sharesOf, boundTimes, mainBound, sharesInWords, type Bound } from "./bounds";
import type { TreeRow } from "./tree_row";
import {
  LEAST_KNOWN,
  mayBeMoreOps,
  mostlyCommunicates,
  onlyCommunicates,
  ratedShare,
  tensorCoreShare,
} from "./tree_values";
import { COLOURS, GAIN, KEPT_OFF, type ColourClass, type Colours } from "./resources";

/** The fill of a class of time as on every page, with the text that is read on it. */
const ofClass = (name: ColourClass, onLight: string) =>
  ({ light: [COLOURS[name].light, onLight], dark: [COLOURS[name].dark, "#111111"] }) as const;

/**
 * Fill and text of each step; text on it has a contrast of at least 4.5 to 1. What could be on matrix units and is not at all has the
 * colour that it has on every page, and in the dark theme nothing that is well is brighter.
 */
const STEPS = {
  none: { light: ["#e4e5e9", "#1f1f1f"], dark: ["#50535a", "#ffffff"] },
  keptOff: ofClass(KEPT_OFF, "#1f1f1f"),
  eligible: { light: ["#b9e3c4", "#1f1f1f"], dark: ["#276430", "#ffffff"] },
  mid: { light: ["#7cc68f", "#1f1f1f"], dark: ["#265f30", "#ffffff"] },
  high: { light: [COLOURS.tensor_core.light, "#ffffff"], dark: ["#3d9049", "#111111"] },
  memory: ofClass("by_memory", "#ffffff"),
  compute: ofClass("other_kernel", "#1f1f1f"),
  latency: ofClass("cpu", "#1f1f1f"),
  communication: ofClass("communication", "#ffffff"),
  muchLess: { light: ["#1558a8", "#ffffff"], dark: ["#8ab8ff", "#111111"] },
  less: { light: ["#b5cff5", "#1f1f1f"], dark: ["#2c4a78", "#ffffff"] },
  more: { light: ["#fbd3b0", "#1f1f1f"], dark: ["#6b3f16", "#ffffff"] },
  muchMore: { light: ["#b04c00", "#ffffff"], dark: ["#ffab66", "#111111"] },
  gainLeast: { light: ["#c8dcec", "#1f1f1f"], dark: ["#3d5a78", "#ffffff"] },
  gainLow: { light: ["#8fb1cd", "#1f1f1f"], dark: ["#587a9b", "#000000"] },
  gainMid: { light: ["#658dae", "#111111"], dark: ["#84a5c1", "#111111"] },
  gainHigh: { light: ["#466b8e", "#ffffff"], dark: ["#b4cbde", "#111111"] },
  gainMost: { light: [GAIN.low.light, "#ffffff"], dark: ["#f2f7fb", "#111111"] },
  hostLow: { light: ["#fde3c8", "#1f1f1f"], dark: ["#74512f", "#ffffff"] },
  hostMid: { light: ["#f09b4d", "#1f1f1f"], dark: ["#d98a40", "#111111"] },
  hostHigh: { light: ["#8f3b00", "#ffffff"], dark: ["#ffd3a6", "#111111"] },
} as const satisfies Record<string, Record<keyof Colours, readonly [fill: string, text: string]>>;

export type Step = keyof typeof STEPS;

export const STEP_KEYS = Object.keys(STEPS) as Step[];

export const stepColours = (step: Step, theme: keyof Colours): { fill: string; text: string } => {
  const [fill, text] = STEPS[step][theme];
  return { fill, text };
};

export interface Colouring {
  label: string;
  about: string;
  /** The steps in their order, in words. */
  legend: readonly (readonly [step: Step, label: string])[];
  of: (row: TreeRow) => Step;
}

export type ColouringId = "cores" | "bound" | "gain" | "host";

/** Without kernels in the recording nothing tells what is on matrix units: only what could be. */
export const withoutKernels = (unit: string, communicates: boolean): Colouring => ({
  label: "Eligible",
  about: `Whether ops are eligible for ${unit}s; which use them, only kernels would tell`,
  legend: [
    ["none", "not eligible, or not known"],
    ["eligible", `holds ops eligible for ${unit}s`],
    ...(communicates ? ([["communication", "communication"]] as const) : []),
  ],
  of: (row) => (onlyCommunicates(row) ? "communication" : row.values.eligible_ops > 0 ? "eligible" : "none"),
});

const shareOfKernels = (row: TreeRow, ns: number): number | null =>
  row.values.kernel_time_ns > 0 ? ns / row.values.kernel_time_ns : null;

/** Of the kernel time of a row that has some on matrix units. */
export const coreStep = (share: number): Step => (share <= 0.5 ? "mid" : "high");

/** Up to which share of its own kernel time a gain has which step. */
const GAIN_STEPS: readonly (readonly [most: number, step: Step])[] = [
  [0.15, "gainLeast"],
  [0.3, "gainLow"],
  [0.45, "gainMid"],
  [0.6, "gainHigh"],
];

/** By what boxes can be coloured; what is not known of any op of this model is left out. */
export function colourings(
  unit: string,
  rated: boolean,
  communicates: boolean,
): Partial<Record<ColouringId, Colouring>> {
  return {
    cores: {
      label: `${unit}s`,
      about: `Share of the kernel time on ${unit}s`,
      legend: [
        ["none", "not eligible, no kernels, or not known"],
        ["keptOff", "0 %, but could be"],
        ["mid", "to 50 %"],
        ["high", "over 50 %"],
        ...(communicates ? ([["communication", "mostly communication"]] as const) : []),
      ],
      of: (row) => {
        if (mostlyCommunicates(row)) return "communication";
        const share = tensorCoreShare(row);
        if (share === null || (share === 0 && mayBeMoreOps(row))) return "none";
        return share === 0 ? "keptOff" : coreStep(share);
      },
    },
    ...(rated
      ? {
          bound: {
            label: "Bound by",
            about: "What limits most of the kernel time",
            legend: [
              ["none", "not known"],
              ["memory", "memory, or caches"],
              ["compute", "compute"],
              ["latency", "latency"],
              ...(communicates ? ([["communication", "communication"]] as const) : []),
            ],
            of: (row) => {
              const bound = boundOf(row) || "none";
              return bound === "caches" ? "memory" : bound;
            },
          },
          gain: {
            label: "Could gain",
            about: "Kernel time less the time at the GPU's published rates, as a share of its own kernel time",
            legend: [
              ["none", "not known, or of less than half"],
              // Most of what real models spend is between a fifth and two thirds: steps of a third of it would show one colour.
              ["gainLeast", "to 15 % of its own kernel time"],
              ["gainLow", "to 30 %"],
              ["gainMid", "to 45 %"],
              ["gainHigh", "to 60 %"],
              ["gainMost", "over 60 %"],
            ],
            of: (row) => {
              const isKnown = !row.unknown.has("gain_ns") && (ratedShare(row) ?? 0) >= LEAST_KNOWN;
              const share = !isKnown ? null : shareOfKernels(row, row.values.gain_ns);
              if (share === null || onlyCommunicates(row)) return "none";
              return GAIN_STEPS.find(([most]) => share <= most)?.[1] ?? "gainMost";
            },
          },
        }
      : {}),
    host: {
      label: "CPU to GPU",
      about: "CPU time over GPU time: where it is more, the GPU is likely to wait for launches",
      legend: [
        ["none", "no GPU time"],
        ["hostLow", "less than GPU time"],
        ["hostMid", "to 3 times as much"],
        ["hostHigh", "more"],
      ],
      of: ({ values }) => {
        if (values.gpu_time_ns === 0) return "none";
        const ratio = values.cpu_time_ns / values.gpu_time_ns;
        return ratio < 1 ? "hostLow" : ratio <= 3 ? "hostMid" : "hostHigh";
      },
    },
  };
}

/** Kernel time by what bounds it, that of most first; without what takes none. */
export const boundShares = ({ values }: TreeRow): { by: Bound; ns: number }[] => sharesOf(boundTimes(values));

/** What takes most of the kernel time; empty where all that is known does not take half of it. */
export const boundOf = ({ values }: TreeRow): Bound | "" => mainBound(boundTimes(values), values.kernel_time_ns);

/** All bounds with their shares, that of most first. */
export const boundSharesInWords = ({ values }: TreeRow): string =>
  sharesInWords(boundTimes(values), values.kernel_time_ns);

/** Where this share of the kernel time is bound by one, a sentence names no other. */
const NEARLY_ALL = 0.9;

/** What of the kernel time is worth a name in a sentence. */
const LEAST = 0.01;

/** In words, for a sentence: by what most of the kernel time is bound; if not nearly all of it, with the shares of all parts. */
export function boundInWords(row: TreeRow): string {
  const bounds = boundShares(row);
  const [most] = bounds;
  const all = row.values.kernel_time_ns;
  // That it communicates is said of it already.
  if (boundOf(row) === "" || most === undefined || most.by === "communication") return "";
  if (most.ns >= NEARLY_ALL * all) return `bound by ${most.by}`;
  const rest = bounds.reduce((left, { ns }) => left - ns, all);
  const parts = bounds
    .filter(({ ns }) => ns >= LEAST * all)
    .map(({ by, ns }, i) => `${formatShare(shareOf(ns, all))} ${i === 0 ? "bound " : ""}by ${by}`);
  return [...parts, ...(rest >= LEAST * all ? [`${formatShare(shareOf(rest, all))} not known`] : [])].join(", ");
}

/** The same in a few words, of what bounds more than half of it; empty where nothing does. */
export function mainBoundInWords(row: TreeRow): string {
  const [most] = boundShares(row);
  if (boundInWords(row) === "" || most === undefined || 2 * most.ns <= row.values.kernel_time_ns) return "";
  return `${most.ns < NEARLY_ALL * row.values.kernel_time_ns ? "mostly " : ""}bound by ${most.by}`;
}

const channels = (hex: string): number[] => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** A colour on its way to another: all of the way is 1. */
export function mixed(one: string, other: string, part: number): string {
  const to = channels(other);
  return `#${channels(one)
    .map((value, i) =>
      Math.round(value + ((to[i] ?? 0) - value) * part)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** Relative luminance as WCAG 2 defines it. */
export function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = channels(hex).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** A rule for each step of a theme, for the style sheet. */
export function shadeRules(theme: keyof Colours): string {
  return STEP_KEYS.map((key) => {
    const { fill, text } = stepColours(key, theme);
    const scope = `:root[data-theme=${theme}] .shade-${key}`;
    return `${scope}{fill:${fill};background:${fill};color:${text}}${scope} text{fill:${text}}`;
  }).join("");
}
