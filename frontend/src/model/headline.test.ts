import { describe, expect, it } from "vitest";

import { dashboard } from "../testing/builders";
import { matrixSentence, modelLine, utilizationSentence, whyNoGpuWork, type Phrase } from "./headline";

const text = (phrases: Phrase[]): string => phrases.map((phrase) => phrase.text).join("");

const noKernel = { time_ns: 0, names: 0, launches: 0 };
const notKnown = { time_ns: null, names: null, launches: null };

describe("the first sentence", () => {
  it("names the largest part of the time without kernels", () => {
    expect(text(utilizationSentence(dashboard()))).toBe(
      "The GPU was computing 50.0 % of 1.00 s. The largest part of the rest was work on the CPU: 40.0 %.",
    );
  });

  it("counts only the GPUs in use", () => {
    const device = { device_id: 0, cuda_ordinal: null, name: "GPU", in_use: true, fraction: 0.5, busy_ns: 5e8 };
    const idle = { device_id: 1, cuda_ordinal: null, name: "GPU", in_use: false, fraction: 0, busy_ns: 0 };
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

  it("says why there is no GPU work where it was to be recorded", () => {
    const none = {
      severity: "info" as const,
      message: "This recording holds no GPU work.",
      hint: "Record the GPU too",
    };
    const calls = { severity: "info" as const, message: "260 calls were recorded.", hint: "Look at the messages." };
    const noted = (...notes: (typeof none)[]) => whyNoGpuWork(dashboard({ coverage: { notes } }));
    expect(noted()).toBeNull();
    expect(noted(none, calls)).toBeNull();
    expect(noted({ ...none, hint: "" }, calls)).toBe("260 calls were recorded.");
  });

  it("says that no kernel ran rather than that none of the time was computing", () => {
    const { kernel_time: kernels, gpu_utilization: used } = dashboard();
    const copy = { time_ns: 9e8, names: 1, launches: 1 };
    const copies = dashboard({
      gpu_utilization: { ...used, fraction: 0, busy_ns: 0 },
      kernel_time: { ...kernels, total: copy, memory: copy, tensor_core: noKernel, other_kernel: noKernel },
      resource_breakdown: [
        { resource: "memory", time_ns: 9e8, fraction: 0.9 },
        { resource: "other", time_ns: 1e8, fraction: 0.1 },
      ],
    });
    expect(text(utilizationSentence(copies))).toBe(
      "No kernel ran in 1.00 s. The largest part of the time was GPU copies and memsets: 90.0 %.",
    );
    expect(matrixSentence(copies)).toEqual([]);
  });
});

describe("the sentence about matrix units", () => {
  it("gives their share of all kernel time and of that in eligible ops", () => {
    expect(text(matrixSentence(dashboard()))).toBe(
      "Tensor Core kernels took 40.0 % of the kernel time, 80.0 % in eligible ops.",
    );
  });

  it("counts copies for no kernels", () => {
    const { kernel_time: kernels } = dashboard();
    const memory = { time_ns: 1e8, names: 1, launches: 1 };
    expect(text(matrixSentence(dashboard({ kernel_time: { ...kernels, memory } })))).toMatch(/ took 50.0 % of the /);
  });

  it("uses the vendor's word", () => {
    const { kernel_time: kernels } = dashboard();
    const none = { fraction: 0, tensor_core_ns: 0, kernel_ns: 5, unknown_ns: 0 };
    const data = { tensor_core_efficiency: none, kernel_time: { ...kernels, tensor_core: noKernel } };
    expect(text(matrixSentence(dashboard({ ...data, matrix_unit: "Matrix Core" })))).toBe(
      "No eligible op used Matrix Cores.",
    );
  });

  it("says what it cannot tell", () => {
    const { kernel_time: kernels } = dashboard();
    const some = { fraction: 0.5, tensor_core_ns: 4, kernel_ns: 8, unknown_ns: 2 };
    const unknown = { time_ns: 5e7, names: 1, launches: 1 };
    expect(
      text(matrixSentence(dashboard({ tensor_core_efficiency: some, kernel_time: { ...kernels, unknown } }))),
    ).toBe(
      "Tensor Core kernels took at least 40.0 % of the kernel time, at least 50.0 % in eligible ops; " +
        "for 10.0 % it is not known.",
    );
  });

  it("does not turn unknown into none", () => {
    const { kernel_time: kernels } = dashboard();
    const data = dashboard({
      tensor_core_efficiency: { fraction: null, tensor_core_ns: 0, kernel_ns: 8, unknown_ns: 8 },
      kernel_time: { ...kernels, tensor_core: notKnown, unknown: { time_ns: 25e7, names: 1, launches: 1 } },
    });
    expect(text(matrixSentence(data))).toBe(
      "No kernel is known to use Tensor Cores; for 50.0 % of the kernel time it is not known.",
    );
  });

  it("does not take a CUDA graph recorded as a whole for kernels without Tensor Cores", () => {
    const { kernel_time: kernels } = dashboard();
    const graph = { time_ns: 15e8, names: null, launches: 3 };
    const none = { fraction: null, tensor_core_ns: 0, kernel_ns: 0, unknown_ns: 0 };
    const data = dashboard({
      tensor_core_efficiency: none,
      kernel_time: { ...kernels, tensor_core: notKnown, graph },
    });
    expect(text(matrixSentence(data))).toBe(
      "No kernel is known to use Tensor Cores; for 75.0 % of the kernel time it is not known, as CUDA graphs were " +
        "recorded as a whole.",
    );
  });

  it("speaks of eligible ops only where ops were recorded", () => {
    const without = { fraction: null, tensor_core_ns: 0, kernel_ns: 0, unknown_ns: 0 };
    const model = { ...dashboard().model, eligible_ops: 0, eligible_ops_using_tensor_cores: 0 };
    const data = { tensor_core_efficiency: without, model };
    expect(text(matrixSentence(dashboard(data)))).toBe(
      "Tensor Core kernels took 40.0 % of the kernel time; no op is known to be eligible.",
    );
    const bare = dashboard({ ...data, recorded: ["steps"] });
    expect(text(matrixSentence(bare))).toBe("Tensor Core kernels took 40.0 % of the kernel time.");
    expect(modelLine(bare)).toBe("No ops were recorded; 500 ms of GPU time");
  });
});

it("says for how many ops it is not known whether they use the units", () => {
  const model = dashboard().model;
  const line = (using: number | null, untold: number) =>
    modelLine(dashboard({ model: { ...model, eligible_ops_using_tensor_cores: using, eligible_ops_unknown: untold } }));
  expect(line(2, 0)).toContain("4 eligible for Tensor Cores, 2 of these using them;");
  expect(line(2, 1)).toContain("4 eligible for Tensor Cores, at least 2 of these using them;");
  expect(line(null, 1)).toContain("4 eligible for Tensor Cores, for 1 of these it is not known whether they use them;");
});

it("sums the model up in a line, leaving out what is not known", () => {
  expect(modelLine(dashboard())).toBe(
    "10 ops, 4 eligible for Tensor Cores, 2 of these using them; 500 ms of GPU time, 50.0 % of it in eligible ops",
  );
  const model = { ...dashboard().model, eligible_ops: null, eligible_gpu_time_fraction: null };
  expect(modelLine(dashboard({ model }))).toBe("10 ops; 500 ms of GPU time");
  const none = { ...dashboard().kernel_time, total: noKernel, memory: noKernel };
  expect(modelLine(dashboard({ kernel_time: none }))).toBe("10 ops, 4 eligible for Tensor Cores");
});
