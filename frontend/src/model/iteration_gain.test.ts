import { expect, it } from "vitest";

import { iterationGain } from "./iteration_gain";

it("says that an iteration may gain less than kernels only where the GPU idles for a good part of it", () => {
  expect(iterationGain(0.56)).toBe("Kernels run for 56.0 % of the wall clock time, which may gain less.");
  expect([null, 0, 0.85, 1].map((busy) => iterationGain(busy))).toEqual(["", "", "", ""]);
});
