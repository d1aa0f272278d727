import { expect, it } from "vitest";

import { knownForTip, partlyRated } from "./rated";

it("is told of gains of a part of the kernel time, of rows and of sums", () => {
  const part = { gain_ns: 16, unrated_time_ns: 292, kernel_time_ns: 308 };
  expect(partlyRated(part)).toBeCloseTo(16 / 308);
  expect(partlyRated({ gain_ns: 16, unrated_time_ns: 292, kernel_ns: 308 })).toBeCloseTo(16 / 308);
  expect(knownForTip(0.053)).toBe("Known for 5.3 % of the kernel time; what the rest could gain is not known");
  // Of all, of none, and where nobody says.
  expect(partlyRated({ ...part, unrated_time_ns: 3 })).toBeNull();
  expect(partlyRated({ ...part, gain_ns: null })).toBeNull();
  expect(partlyRated({ gain_ns: 16, kernel_ns: 308 })).toBeNull();
});
