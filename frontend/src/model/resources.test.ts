import { describe, expect, it } from "vitest";

import { PRECISION_COLOURS } from "./precisions";
import {
  colourOf,
  COLOURS,
  GAIN,
  HELD,
  colourProperties,
  PANEL_BACKGROUND,
  resourceLabel,
  RESOURCES,
  textOn,
  type ColourClass,
} from "./resources";

type Rgb = [number, number, number];

function linear(hex: string): Rgb {
  const channel = (at: number): number => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const dot = (row: Rgb, rgb: Rgb): number => row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2];
const times = (matrix: [Rgb, Rgb, Rgb], rgb: Rgb): Rgb => [
  dot(matrix[0], rgb),
  dot(matrix[1], rgb),
  dot(matrix[2], rgb),
];

/** WCAG 2 contrast of two colours. */
function contrast(one: string, other: string): number {
  const luminance = (hex: string): number => dot([0.2126, 0.7152, 0.0722], linear(hex));
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Björn Ottosson's OKLab, in which distances are about as large as they look. */
function oklab(rgb: Rgb): Rgb {
  const lms = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  ).map((value) => Math.cbrt(Math.max(value, 0))) as Rgb;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    lms,
  );
}

/** What people see: everyone else, then protanopia, deuteranopia, tritanopia (Machado and others, 2009, severity 1). */
const VISION = {
  trichromacy: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} satisfies Record<string, [Rgb, Rgb, Rgb]>;

describe.each(["light", "dark"] as const)("the colours of the %s theme", (theme) => {
  it("stand out from the panel, but for the quiet ones", () => {
    for (const [name, colours] of Object.entries(COLOURS))
      if (name === "other" || name === "unknown_kernel") {
        const [, a, b] = oklab(linear(colours[theme]));
        expect(Math.hypot(a, b)).toBeLessThan(0.05);
        expect(contrast(colours[theme], PANEL_BACKGROUND[theme])).toBeLessThan(3);
      } else expect(contrast(colours[theme], PANEL_BACKGROUND[theme])).toBeGreaterThanOrEqual(3);
  });

  it.each(Object.entries(VISION))("differ from each other for %s", (_vision, matrix) => {
    const seen = Object.values(COLOURS).map((colours) =>
      oklab(times(matrix as [Rgb, Rgb, Rgb], linear(colours[theme]))),
    );
    for (const [i, one] of seen.entries())
      for (const other of seen.slice(i + 1))
        expect(Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2])).toBeGreaterThan(0.06);
  });

  it("of precisions are those of no class of time, and none looks like another", () => {
    const far = (one: string, other: string): number => {
      const [a, b] = [oklab(linear(one)), oklab(linear(other))];
      return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    };
    const all = Object.entries(PRECISION_COLOURS).filter(([precision]) => precision !== "unknown");
    for (const [i, [precision, { [theme]: colour }]] of all.entries()) {
      for (const [name, { [theme]: other }] of Object.entries(COLOURS))
        expect(far(colour, other), `${precision} and ${name}`).toBeGreaterThan(0.09);
      for (const [other, { [theme]: second }] of all.slice(i + 1))
        expect(far(colour, second), `${precision} and ${other}`).toBeGreaterThan(0.06);
    }
  });

  it.each(Object.entries(VISION))("of what memory holds differ from each other for %s", (vision, matrix) => {
    const seen = (colours: { light: string; dark: string }) => oklab(times(matrix, linear(colours[theme])));
    const far = (a: Rgb, b: Rgb): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    const held = Object.values(HELD);
    for (const [i, one] of held.entries()) {
      expect(contrast(one[theme], PANEL_BACKGROUND[theme])).toBeGreaterThanOrEqual(3);
      for (const other of [...held.slice(i + 1), COLOURS.outside])
        expect(far(seen(one), seen(other))).toBeGreaterThan(0.06);
      for (const other of Object.values(COLOURS))
        if (vision === "trichromacy") expect(far(seen(one), seen(other))).toBeGreaterThan(0.06);
    }
  });

  it("of a gain stand out from the panel and from each other, and look like no part of a bar", () => {
    const [low, high] = [GAIN.low[theme], GAIN.high[theme]];
    expect(contrast(low, PANEL_BACKGROUND[theme])).toBeGreaterThanOrEqual(3);
    expect(contrast(low, high)).toBeGreaterThanOrEqual(2.5);
    for (const matrix of Object.values(VISION))
      for (const { [theme]: other } of Object.values(COLOURS)) {
        const [one, two] = [low, other].map((each) => oklab(times(matrix as [Rgb, Rgb, Rgb], linear(each)))) as [
          Rgb,
          Rgb,
        ];
        expect(Math.hypot(one[0] - two[0], one[1] - two[1], one[2] - two[2])).toBeGreaterThan(0.06);
      }
  });

  it("are read under the text of a bar", () => {
    const white = (name: string): boolean =>
      theme === "light" ? textOn(colourOf(name as ColourClass)) === "on-dark" : name === "other";
    for (const [name, colours] of Object.entries(COLOURS))
      expect(contrast(colours[theme], white(name) ? "#ffffff" : "#111111"), name).toBeGreaterThanOrEqual(4.5);
  });

  it("reach the style sheet as custom properties", () => {
    expect(colourProperties(theme)).toContain(`--c-tensor-core:${COLOURS.tensor_core[theme]}`);
    expect(colourProperties(theme)).toContain(`--gain-low:${GAIN.low[theme]}`);
  });
});

it("names what may be on matrix units: kernels, graphs that were recorded as a whole, or both", () => {
  const called = (kernels: boolean, graphs: boolean) =>
    resourceLabel("unknown_kernel", "Tensor Core", { kernels, graphs });
  expect(called(true, false)).toBe("Unknown kernels");
  expect(called(false, true)).toBe("In CUDA graphs");
  expect(called(true, true)).toBe("Unknown kernels, graphs");
});

it("names the matrix unit of the vendor", () => {
  const unknown = { kernels: true, graphs: true };
  expect(resourceLabel("tensor_core", "Matrix Core", unknown)).toBe("Matrix Cores");
  expect(new Set(RESOURCES.map((resource) => resourceLabel(resource, "Tensor Core", unknown))).size).toBe(
    RESOURCES.length,
  );
});
