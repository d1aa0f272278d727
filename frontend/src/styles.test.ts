import { expect, test } from "vitest";

import { styleSheets } from "./styles";

test("what depends on the window's width stands apart, so that a wider window needs few styles found anew", () => {
  const [everything, widths, print] = styleSheets();
  expect(everything).toContain(".table-scroll");
  expect(everything).not.toMatch(/@media[^{]*width/);
  expect(widths).toMatch(/^@media \(width/);
  expect(print).toContain("@media print");
});
