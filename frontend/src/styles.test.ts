import { expect, test } from "vitest";

import { MORE } from "./more_styles";
import { styleSheets } from "./styles";

test("all texts have one of five sizes", () => {
  const sheets = [...styleSheets(), ...MORE].filter(([name]) => name !== "print").map(([, text]) => text);
  const sizes = sheets.flatMap((text) => [...text.matchAll(/font-size:\s*([^;}]+)/g)].map(([, size]) => size));
  expect(sizes.length).toBeGreaterThan(50);
  expect(sizes.filter((size) => !/^(var\(--size-\w+\)|inherit|0\.92em)$/.test(size ?? ""))).toEqual([]);
});

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
