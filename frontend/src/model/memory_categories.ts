/** The colour of what memory holds: the same for a category everywhere. What nobody knows is grey. */

const COLOURS: Readonly<Record<string, string>> = {
  "optimizer state": "var(--c-data-loader)",
  "optimizer temporary": "color-mix(in srgb, var(--c-data-loader) 55%, var(--panel))",
  gradient: "var(--c-cpu)",
  "backward temporary": "color-mix(in srgb, var(--c-cpu) 55%, var(--panel))",
  activation: "var(--c-other-kernel)",
  "activation or output": "var(--c-other-kernel)",
  "forward temporary": "color-mix(in srgb, var(--c-other-kernel) 55%, var(--panel))",
};

export const categoryColour = (category: string): string => COLOURS[category] ?? "var(--c-outside)";
