import { expect, it } from "vitest";

import { gpuTimeParts } from "./kernel_time";

it("GPU time of an iteration has the parts that its chart has, which add up to it", () => {
  const row = { gpu_time_ns: 237, tensor_core_time_ns: 76, unknown_kernel_ns: 4 };
  expect(gpuTimeParts("gpu_time_ns", row)).toEqual([
    ["tensor_core", 76],
    ["unknown_kernel", 4],
    ["other_kernel", 157],
  ]);
  expect(gpuTimeParts("gpu_time_ns", row, 100).slice(2)).toEqual([
    ["other_kernel", 57],
    ["communication", 100],
  ]);
  expect(gpuTimeParts("tensor_core_time_ns", row, 100)).toEqual([["tensor_core", 76]]);
});

it("where no kernel is known to use Tensor Cores and all may, none of it is drawn as other kernels", () => {
  const row = { gpu_time_ns: 56, tensor_core_time_ns: null, unknown_kernel_ns: 56 };
  expect(gpuTimeParts("gpu_time_ns", row)).toEqual([["unknown_kernel", 56]]);
});
