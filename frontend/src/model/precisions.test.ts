import { describe, expect, it } from "vitest";

import type { PrecisionTime } from "../api/types";
import { dashboard } from "../testing/builders";
import {
  gainsInFewerBits,
  PRECISION_COLOURS,
  PRECISION_KEYS,
  precisionKey,
  precisionFills,
  precisionProperties,
  precisionSegments,
  unknownSentence,
} from "./precisions";
import { PANEL_BACKGROUND } from "./resources";
import { contrast } from "./shades";

describe("precisions", () => {
  it("adds up to all kernel time", () => {
    const times = [
      { precision: "fp16", matrix_unit: "yes", kernel_ns: 100, kernels: 1 },
      { precision: "", matrix_unit: "no", kernel_ns: 300, kernels: 2 },
      { precision: "communication", matrix_unit: "no", kernel_ns: 50, kernels: 2 },
      { precision: "fp32", matrix_unit: "no", kernel_ns: 400, kernels: 1 },
      { precision: "fp8", matrix_unit: "no", kernel_ns: 0, kernels: 1 },
    ] as const;
    expect(precisionSegments(times, "Tensor Core", 700).map(({ label, ns, colour }) => [label, ns, colour])).toEqual([
      ["FP16, on Tensor Cores", 100, "var(--p-fp16)"],
      ["FP32, not on Tensor Cores", 400, "var(--p-fp32-no)"],
      ["Unknown precision, not on Tensor Cores", 300, "var(--p-unknown-no)"],
      ["Communication", 50, "var(--c-communication)"],
      ["In CUDA graphs, not known", 700, "var(--c-unknown-kernel)"],
    ]);
    expect(precisionSegments(times, "", 0).map(({ label }) => label)).toEqual([
      "FP16",
      "FP32",
      "Unknown precision",
      "Communication",
    ]);
  });

  it("gives a precision one colour, whatever else there is, which its text is read on", () => {
    const colours = (times: PrecisionTime[]) =>
      Object.fromEntries(precisionSegments(times, "Tensor Core", 0).map(({ label, colour }) => [label, colour]));
    const time = { precision: "fp16", matrix_unit: "no", kernel_ns: 1, kernels: 1 } as const;
    const more: PrecisionTime = { ...time, precision: "fp32", kernel_ns: 9 };
    expect(colours([time, more])).toMatchObject(colours([time]));
    for (const theme of ["light", "dark"] as const)
      for (const [name, fill, ink] of precisionFills(theme)) {
        expect(contrast(fill, ink), `${name} ${theme}`).toBeGreaterThanOrEqual(4.5);
        expect(precisionProperties(theme)).toContain(`--${name}:${fill};--on-${name}:${ink}`);
      }
  });

  it("has a colour for every precision that can be seen on the panel", () => {
    expect(precisionKey("BF16")).toBe("bf16");
    expect(precisionKey("fp6")).toBe("unknown");
    for (const key of PRECISION_KEYS)
      for (const theme of ["light", "dark"] as const)
        expect(contrast(PRECISION_COLOURS[key][theme], PANEL_BACKGROUND[theme]), `${key} ${theme}`).toBeGreaterThan(3);
  });

  it("says what is not known, and only then", () => {
    const { kernel_time: all } = dashboard();
    const left = (ns: number | null) => ({ unknown: { ...all.unknown, time_ns: ns } });
    expect(unknownSentence(left(5), 100, "Tensor Core")).toContain("5.0 % of the kernel time");
    expect(unknownSentence(left(0), 100, "Tensor Core")).toBe("");
    expect(unknownSentence(left(null), 100, "Tensor Core")).toBe("");
  });

  it("counts the rates of 16 bits for what is multiplied in more", () => {
    expect(gainsInFewerBits({ precision: "tf32", family: "gemm" })).toBe(true);
    expect(gainsInFewerBits({ precision: "bf16", family: "gemm" })).toBe(false);
    expect(gainsInFewerBits({ precision: "fp32", family: "elementwise" })).toBe(false);
  });
});
