import { describe, expect, it } from "vitest";

import type { EfficiencyResponse, Peak, PrecisionTime } from "../api/types";
import { formatPart, formatScaled } from "../format/number";
import { divided } from "./causes";
import { attainableAbout, efficiencySentence, workInWords, iterationsShown, whileKernels } from "./efficiency_sentence";
import { limitSegments, limitsSentence, precisionsSentence } from "./limits";

it("does not count what nobody knows among what keeps work off matrix units", () => {
  const [dimension, unknown] = [{ label: "Dimension" }, { label: "Unknown kernels" }];
  expect(divided([unknown, dimension])).toEqual({ keptOff: [dimension], untold: [unknown] });
});

describe("limits of the kernel time", () => {
  it("splits all kernel time by what limits it", () => {
    const limits = [
      { limit: "matrix_unit", kernel_ns: 50 },
      { limit: "layout", kernel_ns: 30 },
    ];
    const causes = [{ cause: "layout", label: "Layout", ops: 1, kernel_ns: 40 }];
    const segments = limitSegments({ limits, causes, other_types: [] }, 100, "Tensor Core");
    expect(segments.map(({ label, ns }) => [label, ns])).toEqual([
      ["On Tensor Cores", 50],
      ["Not on Tensor Cores: Layout", 30],
      ["In no op", 20],
    ]);
    const said = limitsSentence(segments, 100, "Tensor Core").map(({ text }) => text);
    expect(said.join("")).toBe(
      "Of the kernel time, 50.0 % is on Tensor Cores, 30.0 % could use Tensor Cores but does not (Layout) and 20.0 % is in no op.",
    );
    const most = { limits: [{ limit: "other", kernel_ns: 46 }, ...limits], causes, other_types: ["mul", "add"] };
    const other = limitSegments(most, 126, "Tensor Core");
    expect(other[0]?.label).toBe("Other");
    expect(other[0]?.about).toContain("Most is of mul, add.");
    const last = limitsSentence(other, 126, "Tensor Core").map(({ text }) => text);
    expect(last.join("")).toMatch(/does not \(Layout\) and 36.5 % is other work\.$/);
    expect(limitsSentence(segments.slice(2), 100, "Tensor Core")).toEqual([]);
    expect(segments[1]?.to).toEqual({ "eff.where.cause": "Layout", "eff.page": null });
  });

  it("tells precisions where nothing else is known, and nothing where most of them are not known either", () => {
    const times = [
      { precision: "fp32", matrix_unit: "no", kernel_ns: 999, kernels: 9 },
      { precision: "", matrix_unit: "no", kernel_ns: 1, kernels: 1 },
    ] as const;
    const said = (some: readonly PrecisionTime[], unit: string): string =>
      precisionsSentence(some, 1000, unit)
        .map(({ text }) => text)
        .join("");
    expect(said(times, "Tensor Core")).toBe("Of the kernel time, 99.9 % is FP32, not on Tensor Cores.");
    expect(said(times, "")).toBe("Of the kernel time, 99.9 % is FP32.");
    expect(said([{ ...times[1], kernel_ns: 999 }], "Tensor Core")).toBe("");
  });
});

describe("what was computed while kernels ran", () => {
  const rates = { mfu_fraction: 0.2, flops_per_second: 2e12, product_flops: 4e9, measured_fraction: 1, peaks: [] };
  const said = (changes: Partial<EfficiencyResponse>, kernels: number | null): string =>
    efficiencySentence({ ...rates, ...changes }, 1, "Tensor Core", kernels, 1)
      .map(({ text }) => text)
      .join("");

  it("is the second share of the sentence", () => {
    expect(whileKernels(rates, 0.5)).toEqual({ share: 0.4, rate: 4e12, able: 1e13 });
    expect(said({}, 0.5)).toContain("40.0 % over 1.00 ms of kernel time");
    expect(whileKernels(rates, 1)).toEqual({ share: 0.2, rate: 2e12, able: 1e13 });
  });
  it("is a rate alone where the peak is not known, and nothing where shapes cover too little", () => {
    expect(whileKernels({ ...rates, mfu_fraction: null }, 0.5)).toEqual({ share: null, rate: 4e12, able: null });
    expect(whileKernels({ ...rates, measured_fraction: 0.1 }, 0.5).rate).toBeNull();
    expect(whileKernels({ ...rates, product_flops: null }, 0.5).rate).toBeNull();
  });
});

describe("scaled numbers", () => {
  it.each([
    [0, "0"],
    [0.125, "0.125"],
    [999.4, "999"],
    [999_600, "1.00 M"],
    [4_447_597_376_245, "4.45 T"],
  ])("%d reads %s", (value, text) => {
    expect(formatScaled(value)).toBe(text);
  });

  it("stand beside what they are of, with one unit where both have the same", () => {
    expect(formatPart(1.22e14, 9.89e14, "FLOP/s")).toBe("122 of 989 TFLOP/s");
    expect(formatPart(7.66e9, 9.1e12, "FLOP/s")).toBe("7.66 GFLOP/s of 9.10 TFLOP/s");
  });
  it("carries a unit and never makes a number of what is not known", () => {
    expect(formatScaled(1.25e14, "FLOP/s")).toBe("125 TFLOP/s");
    expect(formatScaled(null, "FLOP/s")).toBe("unknown");
  });
});

describe("the sentence about efficiency", () => {
  const peak = {
    device_id: 0,
    product: "GPU",
    unit: "vector",
    precision: "fp32",
    per_second: 1e13,
    source: "",
    used: true,
  } as const;
  const rates = {
    mfu_fraction: 0.25,
    flops_per_second: 4e12,
    product_flops: 8e12,
    measured_fraction: 1,
    peaks: [peak],
  };
  const said = (
    changes: Partial<EfficiencyResponse>,
    gpus = 1,
    kernels: number | null = null,
    iterations = 1,
  ): string =>
    efficiencySentence({ ...rates, ...changes }, gpus, "Tensor Core", kernels, iterations)
      .map(({ text }) => text)
      .join("");

  it("names numerator and denominator", () => {
    expect(said({})).toBe("The model used 25.0 % of what the GPU could compute over 2.00 s.");
    expect(said({}, 2)).toContain("what the GPUs could");
    // The peak by its name, where it is one.
    const fp32 = { ...peak, per_second: 16e12 };
    const fp16 = { ...peak, unit: "matrix", precision: "fp16", per_second: 16e12 } as const;
    expect(said({ peaks: [fp32] })).toBe("The model used 25.0 % of the FP32 peak over 2.00 s.");
    expect(said({ peaks: [{ ...fp32, per_second: 8e12 }] }, 2)).toContain("of the GPUs' FP32 peak");
    expect(said({ peaks: [fp16] })).toContain("of the FP16 Tensor Core peak");
    expect(said({ peaks: [fp16, { ...fp16, precision: "bf16" }] })).toContain("of the 16-bit Tensor Core peak");
    // Each share says over what time it is.
    expect(said({}, 1, 0.5)).toContain("compute over 2.00 s, 50.0 % over 1.00 s of kernel time.");
    expect(said({}, 2, 0.5, 4)).toContain("over 500 ms an iteration, 50.0 % over 250 ms of kernel time a GPU.");
  });

  it("is made of what is counted below it", () => {
    expect(workInWords(rates, 4)).toBe("2.00 TFLOP an iteration, 4.00 of 16.0 TFLOP/s.");
    expect(workInWords({ ...rates, mfu_fraction: null }, 1)).toBe("8.00 TFLOP.");
    expect(workInWords({ ...rates, measured_fraction: 0.1 }, 1)).toBe("8.00 TFLOP in those whose shapes are known.");
    expect(workInWords({ ...rates, product_flops: 0 }, 1)).toBe("");
  });

  it("says of a rate compared with that is no peak that it is of a mix of them", () => {
    const about = (peaks: Peak[], gpus = 1): string => attainableAbout({ ...rates, peaks }, gpus, "Tensor Core");
    const fp32: Peak = { ...peak, per_second: 8e12 };
    const fp16 = (rate: number): Peak => ({ ...peak, unit: "matrix", precision: "fp16", per_second: rate });
    expect(about([fp16(16e12), fp32])).toBe("");
    expect(about([fp32], 2)).toBe("");
    // Of a peak far below that of matrix units, how little it is of theirs.
    expect(about([fp16(64e12), fp32], 2)).toBe("Of the FP16 Tensor Core peak, 128 TFLOP/s, the model used 3.1 %.");
    expect(about([fp16(65e12), fp32])).toMatch(
      /^16\.0 TFLOP\/s is what the published peaks allow for this mix of precisions\.$/,
    );
    expect(attainableAbout({ ...rates, mfu_fraction: null }, 1, "Tensor Core")).toBe("");
  });

  it("says at least where shapes are missing", () => {
    expect(said({ measured_fraction: 0.5 })).toMatch(/^The model used at least 25.0 % of/);
    expect(said({ measured_fraction: 0.5, mfu_fraction: 0.0001, flops_per_second: 4e8 })).toBe(
      "The model computed at least 400 MFLOP/s over 5 h 33 min; the GPU could compute 4.00 TFLOP/s.",
    );
  });

  it("says nothing of the whole where shapes cover little", () => {
    expect(said({ measured_fraction: 0.017 })).toMatch(/^How much was computed is not known: shapes cover 1.7 %/);
  });

  it("says why there is no share", () => {
    expect(said({ mfu_fraction: null })).toBe(
      "The model computed 4.00 TFLOP/s over 2.00 s; for some of it the precision, or whether it ran on Tensor Cores, is not known.",
    );
    expect(said({ mfu_fraction: null }, 1, 0.5)).toContain(
      "4.00 TFLOP/s over 2.00 s, 8.00 TFLOP/s over 1.00 s of kernel time; for some",
    );
    expect(said({ mfu_fraction: null, peaks: [] })).toMatch(/; what the GPU could do is not known\.$/);
    expect(said({ mfu_fraction: null, product_flops: 0 })).toBe("How much was computed is not known.");
  });
});

describe("which iterations are shown", () => {
  it("is told where some are left out", () => {
    expect(iterationsShown(1_000, 2_943)).toBe("The first 1,000 of 2,943 iterations.");
    expect(iterationsShown(3, 3)).toBe("");
    expect(iterationsShown(3, null)).toBe("");
  });
});
