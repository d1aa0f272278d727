/**
 * The classes that time is split into, and the one colour each has on every page.
 *
 * The hues are DLProf Viewer's: dark green, light green, blue, orange, grey; its pink is communication's, as what is none of all that
 * must not be the loudest. Of the greens, that of Tensor Cores stands out: the darkest on white, the brightest on black. The exact
 * colours were searched for, so that every one but the quiet ones, of the rest and of kernels of which nothing is known, has a
 * contrast of at least 3 to 1 to both themes' panels, and no two look alike to people with protanopia, deuteranopia or tritanopia;
 * `resources.test.ts` checks both.
 */
import type { Resource } from "../api/types";

/** Every colour class: the resources, communication, kernels limited by memory, and what is grey because it is outside the aggregation or idle. */
export type ColourClass = Resource | "communication" | "by_memory" | "outside";

export interface Colours {
  readonly light: string;
  readonly dark: string;
}

export const COLOURS: Readonly<Record<ColourClass, Colours>> = {
  tensor_core: { light: "#1c4e20", dark: "#9feda0" },
  unknown_kernel: { light: "#a3bca3", dark: "#72817b" },
  other_kernel: { light: "#38a754", dark: "#45934d" },
  memory: { light: "#407ada", dark: "#47b1fb" },
  data_loader: { light: "#695ba2", dark: "#b262d9" },
  io: { light: "#8a4e42", dark: "#ba7206" },
  cpu: { light: "#e4741c", dark: "#f0ae4e" },
  communication: { light: "#cb3872", dark: "#ef73cc" },
  by_memory: { light: "#3c7981", dark: "#6edae7" },
  other: { light: "#c6c9d0", dark: "#5d6068" },
  outside: { light: "#939393", dark: "#929192" },
};

/** What could be gained, at least and at most: a part of no bar, so that it has the colour of none. */
export const GAIN: Readonly<Record<"low" | "high", Colours>> = {
  low: { light: "#263248", dark: "#dbe7ef" },
  high: { light: "#9db4c0", dark: "#7d909d" },
};

/** What memory holds, in colours of no class of time. */
export const HELD = {
  parameter: { light: "#204ac5", dark: "#677bf5" },
  optimizer: { light: "#81328e", dark: "#eca4fe" },
  gradient: { light: "#b52f2d", dark: "#e8562a" },
  activation: { light: "#129ecb", dark: "#0cc3c2" },
  output: { light: "#21485a", dark: "#d2ebf8" },
  input: { light: "#ae8037", dark: "#b6b530" },
} as const satisfies Readonly<Record<string, Colours>>;

/** The class whose colour marks, among kernels, those of ops that could be on matrix units and are not. */
export const KEPT_OFF: ColourClass = "cpu";

/** The background that the colours are drawn on. */
export const PANEL_BACKGROUND: Colours = { light: "#ffffff", dark: "#383838" };

/** In order of precedence: a moment counts for the first that was busy. */
export const RESOURCES: readonly Resource[] = [
  "tensor_core",
  "unknown_kernel",
  "other_kernel",
  "memory",
  "data_loader",
  "io",
  "cpu",
  "other",
];

/** Those that are work of a GPU. */
export const ON_GPU: readonly Resource[] = ["tensor_core", "unknown_kernel", "other_kernel", "memory"];

/** The work in a profile for which the use of matrix units is unknown: kernels, and CUDA graphs recorded as a whole. */
export interface UnknownWork {
  kernels: boolean;
  graphs: boolean;
}

/** The abbreviation in headings of columns: `TC` or `MC`. */
export const shortUnit = (matrixUnit: string): string => (matrixUnit === "Tensor Core" ? "TC" : "MC");

/** What a class is called on screen; `matrixUnit` is `Tensor Core`, or `Matrix Core` on AMD GPUs. */
export function resourceLabel(resource: Resource, matrixUnit: string, unknown: UnknownWork): string {
  switch (resource) {
    case "tensor_core":
      return `${matrixUnit}s`;
    case "unknown_kernel":
      return !unknown.graphs ? "Unknown kernels" : unknown.kernels ? "Unknown kernels, graphs" : "In CUDA graphs";
    case "other_kernel":
      return "Other kernels";
    case "memory":
      return "Memory";
    case "data_loader":
      return "Data loader";
    case "io":
      return "I/O";
    case "cpu":
      return "CPU";
    case "other":
      return "Other";
  }
}

/** What a class contains, for its tooltip. */
export function resourceMeaning(resource: Resource, matrixUnit: string, unknown: UnknownWork): string {
  switch (resource) {
    case "tensor_core":
      return unknown.kernels || unknown.graphs
        ? `A kernel that is known to use ${matrixUnit}s was running.`
        : `A kernel that uses ${matrixUnit}s was running.`;
    case "unknown_kernel": {
      const kernels = `kernels whose names do not tell whether they use ${matrixUnit}s`;
      const graphs = `CUDA graphs recorded as a whole, in which kernels may use ${matrixUnit}s,`;
      const what = !unknown.graphs ? kernels : unknown.kernels ? `${kernels}, or ${graphs}` : graphs;
      return `${what.charAt(0).toUpperCase()}${what.slice(1)} were running, and no kernel that is known to.`;
    }
    case "other_kernel":
      return `Kernels were running, none of them on ${matrixUnit}s.`;
    case "memory":
      return "Only GPU copies and memsets were running.";
    case "data_loader":
      return "The GPU had nothing to do while the data loader was working.";
    case "io":
      return "The GPU had nothing to do while the program was reading or writing.";
    case "cpu":
      return "The GPU had nothing to do while operators were running on the CPU.";
    case "other":
      return "No recorded op, API call or GPU work was running.";
  }
}

/** The CSS value of a class: a custom property, so that the theme can change under a drawn chart. */
export const colourOf = (name: ColourClass): string => `var(--c-${name.replace("_", "-")})`;

/** On these colours of the light theme white is read best, on all others black; those of the dark theme are light. */
const UNDER_WHITE: ReadonlySet<string> = new Set([
  ...(["tensor_core", "data_loader", "io", "communication", "by_memory"] as const).map(colourOf),
  "var(--c-blocked)",
]);

/** The class of a text that stands on a colour of a chart, with a contrast of at least 4.5 to 1. */
export const textOn = (colour: string): "on-dark" | "on-light" => (UNDER_WHITE.has(colour) ? "on-dark" : "on-light");

/** The custom properties of both themes, for the style sheet. */
export function colourProperties(theme: keyof Colours): string {
  return [
    ...Object.entries(COLOURS).map(([name, colours]) => `--c-${name.replace("_", "-")}:${colours[theme]}`),
    ...Object.entries(HELD).map(([name, colours]) => `--held-${name}:${colours[theme]}`),
    ...Object.entries(GAIN).map(([name, colours]) => `--gain-${name}:${colours[theme]}`),
  ].join(";");
}
