import { expect, it } from "vitest";

import { contrast, SHADES, shadeColours, shadeOf } from "./shades";

it.each([
  [null, "none"],
  [0, "0"],
  [0.0001, "1"],
  [0.25, "1"],
  [0.2501, "2"],
  [0.75, "3"],
  [1, "4"],
])("a share of %s has the step %s", (share, step) => {
  expect(shadeOf(share)).toBe(step);
});

it("text can be read on every step, in both themes", () => {
  for (const theme of ["light", "dark"] as const)
    for (const { key } of SHADES) {
      const { fill, text } = shadeColours(key, theme);
      expect(contrast(fill, text)).toBeGreaterThanOrEqual(4.5);
    }
});

it("neighbouring steps differ in lightness, so that no colour vision is needed", () => {
  for (const theme of ["light", "dark"] as const)
    for (let step = 0; step < 4; step += 1) {
      const one = shadeColours(String(step) as "0", theme).fill;
      const other = shadeColours(String(step + 1) as "0", theme).fill;
      expect(contrast(one, other)).toBeGreaterThan(1.1);
    }
});
