import { expect, test } from "vitest";

import { piecesOf, workOf } from "./families";

test("kernels whose use of matrix units is not known have a colour of their own", () => {
  expect(workOf({ family: "gemm", tensor_core_fraction: null }, true)).toBe("unknown_kernel");
  expect(workOf({ family: "gemm", using_tensor_cores: null }, true)).toBe("unknown_kernel");
  expect(workOf({ family: "gemm", tensor_core_fraction: 0, using_tensor_cores: null }, true)).toBe("other_kernel");
  expect(workOf({ family: "gemm", using_tensor_cores: false }, true)).toBe("other_kernel");
  expect(workOf({ family: "gemm" }, true)).toBe("other_kernel");
  expect(workOf({ family: "copies and memsets", tensor_core_fraction: null }, true)).toBe("memory");
  const cast = { family: "elementwise", tensor_core_fraction: 0, gpu_time_ns: 453 };
  expect(workOf({ ...cast, kernel_time_ns: 30 }, true)).toBe("memory");
  expect(workOf({ ...cast, kernel_time_ns: 400 }, true)).toBe("other_kernel");
  expect(workOf({ ...cast, kernel_time_ns: null }, true)).toBe("other_kernel");
  expect(workOf({ family: "collective", tensor_core_fraction: null }, true)).toBe("communication");
  expect(workOf({ family: "gemm", tensor_core_fraction: null }, false)).toBe("cpu");
});

test("a group of kernels and copies is divided between them", () => {
  const cast = { family: "elementwise", tensor_core_fraction: 0.5, gpu_time_ns: 400, kernel_time_ns: 100 };
  expect(piecesOf(cast, true)).toEqual([
    { work: "tensor_core", share: 0.125 },
    { work: "other_kernel", share: 0.125 },
    { work: "memory", share: 0.75 },
  ]);
  expect(piecesOf({ ...cast, family: "collective", tensor_core_fraction: 0, kernel_time_ns: 400 }, true)).toEqual([
    { work: "communication", share: 1 },
  ]);
  expect(piecesOf({ family: "copies and memsets", gpu_time_ns: 400, kernel_time_ns: 0 }, true)).toEqual([
    { work: "memory", share: 1 },
  ]);
  expect(piecesOf({ using_tensor_cores: null }, true)).toEqual([{ work: "unknown_kernel", share: 1 }]);
  expect(piecesOf(cast, false)).toEqual([{ work: "cpu", share: 1 }]);
});
