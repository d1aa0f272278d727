import { expect, test } from "vitest";

import { MORE } from "./more_styles";
import { styleSheets } from "./styles";

test("what depends on the window's width stands apart, so that a wider window needs few styles found anew", () => {
  const own = styleSheets();
  const [everything, widths, print] = ["all", "widths", "print"].map((name) =>
    [...own, ...MORE].flatMap(([sheet, text]) => (sheet === name ? [text] : [])).join("\n"),
  );
  expect(everything).toContain(".table-scroll");
  expect(everything).not.toMatch(/@media[^{]*width/);
  expect(widths).toMatch(/^@media \(width/);
  expect(print).toContain("@media print");
});
