import { describe, expect, it } from "vitest";

import { dashboard } from "../testing/builders";
import { matrixSentence, modelLine, utilizationSentence, type Phrase } from "./headline";

const text = (phrases: Phrase[]): string => phrases.map((phrase) => phrase.text).join("");

const noKernel = { time_ns: 0, names: 0, launches: 0 };

describe("the first sentence", () => {
  it("names the largest part of the time without kernels", () => {
    expect(text(utilizationSentence(dashboard()))).toBe(
      "The GPU was computing 50.0 % of 1.00 s. The largest part of the rest was work on the CPU: 40.0 %.",
    );
  });

  it("counts only the GPUs in use", () => {
    const device = { device_id: 0, name: "GPU", in_use: true, fraction: 0.5, busy_ns: 5e8 };
    const idle = { device_id: 1, name: "GPU", in_use: false, fraction: 0, busy_ns: 0 };
    const used = { fraction: 0.5, busy_ns: 5e8, wall_ns: 1e9 };
    const one = dashboard({ gpu_utilization: { ...used, devices: [device, idle] } });
    const two = dashboard({ gpu_utilization: { ...used, devices: [device, { ...device, device_id: 1 }] } });
    expect(text(utilizationSentence(one))).toMatch(/^The GPU was computing 50.0 % of 1.00 s\./);
    expect(text(utilizationSentence(two))).toMatch(/^The 2 GPUs were computing 50.0 % of 1.00 s on average\./);
  });

  it("does not call a recording without kernels idle", () => {
    const nothing = { fraction: null, busy_ns: null, wall_ns: 1e9, devices: [] };
    const kernels = dashboard().kernel_time;
    const without = dashboard({ gpu_utilization: nothing, kernel_time: { ...kernels, memory: noKernel } });
    const copies = dashboard({
      gpu_utilization: nothing,
      kernel_time: { ...kernels, memory: { time_ns: 5, names: 1, launches: 1 } },
    });
    expect(text(utilizationSentence(without))).toBe("This recording holds no GPU work.");
    expect(text(utilizationSentence(copies))).toBe("This recording holds GPU copies, but no kernel.");
  });
});

describe("the sentence about matrix units", () => {
  it("gives their share in eligible ops", () => {
    expect(text(matrixSentence(dashboard()))).toBe(
      "Tensor Core kernels took 80.0 % of the kernel time in eligible ops.",
    );
  });

  it("uses the vendor's word", () => {
    const none = { fraction: 0, tensor_core_ns: 0, kernel_ns: 5, unknown_ns: 0 };
    expect(text(matrixSentence(dashboard({ matrix_unit: "Matrix Core", tensor_core_efficiency: none })))).toBe(
      "No eligible op used Matrix Cores.",
    );
  });

  it("says what it cannot tell of eligible ops", () => {
    const some = { fraction: 0.5, tensor_core_ns: 4, kernel_ns: 8, unknown_ns: 2 };
    expect(text(matrixSentence(dashboard({ tensor_core_efficiency: some })))).toBe(
      "Tensor Core kernels took at least 50.0 % of the kernel time in eligible ops; of 25.0 % it cannot be told.",
    );
    const none = { fraction: 0, tensor_core_ns: 0, kernel_ns: 8, unknown_ns: 8 };
    expect(text(matrixSentence(dashboard({ tensor_core_efficiency: none })))).toBe(
      "Tensor Core kernels took at least 0 % of the kernel time in eligible ops; of 100 % it cannot be told.",
    );
  });

  it("does not turn unknown into none", () => {
    const kernels = dashboard().kernel_time;
    const data = dashboard({
      tensor_core_efficiency: { fraction: null, tensor_core_ns: null, kernel_ns: null, unknown_ns: null },
      kernel_time: { ...kernels, tensor_core: noKernel, unknown: { time_ns: 25e7, names: 1, launches: 1 } },
    });
    expect(text(matrixSentence(data))).toBe(
      "No kernel is known to use Tensor Cores; of 50.0 % of the kernel time it cannot be told.",
    );
  });
});

it("sums the model up in a line, leaving out what is not known", () => {
  expect(modelLine(dashboard())).toBe(
    "10 ops, 4 eligible for Tensor Cores, 2 of these using them; 500 ms of GPU time, 50.0 % of it in eligible ops",
  );
  const model = { ...dashboard().model, eligible_ops: null, eligible_gpu_time_fraction: null };
  expect(modelLine(dashboard({ model }))).toBe("10 ops; 500 ms of GPU time");
});
