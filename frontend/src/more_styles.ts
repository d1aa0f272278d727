/** The style sheets of all other pages, which come with the first of them: the first content must not wait for these. */
import { precisionProperties } from "./model/precisions";
import { shadeRules } from "./model/shades";
import { joined, styleElement } from "./styles";

const sheets = import.meta.glob<string>(
  [
    "./components/{longest_kernels,roofline}.css",
    "./components/table/*.css",
    "./components/timeline/*.css",
    "./components/tree/*.css",
    "./panels/**/*.css",
    "!./panels/dashboard/dashboard.css",
  ],
  { query: "?inline", import: "default", eager: true },
);

const colours = (["light", "dark"] as const).map(
  (theme) => `:root[data-theme=${theme}]{${precisionProperties(theme)}}${shadeRules(theme)}`,
);

export const MORE: readonly (readonly [name: string, text: string])[] = [
  ["all", [...colours, joined(sheets, false)].join("\n")],
  ["widths", joined(sheets, true)],
];

let added = false;

/** Adds them to the elements that stand already, so that what is for print stays last. */
export function addStyles(): void {
  if (added) return;
  added = true;
  for (const [name, text] of MORE) styleElement(name)?.append(text);
}
