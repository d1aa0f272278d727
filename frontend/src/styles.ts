/** The style sheets of the frame and the Dashboard: every widget has its own file beside it, collected here at build time. */
import { colourProperties, PANEL_BACKGROUND } from "./model/resources";

const sheets = import.meta.glob<string>(
  [
    "./frame/**/*.css",
    "./components/*.css",
    "./components/charts/*.css",
    "./panels/dashboard/*.css",
    "!./components/{longest_kernels,roofline}.css",
    "!./panels/dashboard/dlprof_panels.css",
  ],
  { query: "?inline", import: "default", eager: true },
);

/** What paper needs overrides what every widget says for the screen, so it stands last. */
const PRINT = "./components/print.css";

/** The end of the names of files that hold what depends on the width of the window. */
const WIDTHS = ".widths.css";

/** The texts of sheets in the order of their names; those that depend on the width of the window, or the others. */
export const joined = (of: Readonly<Record<string, string>>, widths: boolean): string =>
  Object.keys(of)
    .filter((path) => path !== PRINT && path.endsWith(WIDTHS) === widths)
    .sort()
    .map((path) => of[path] ?? "")
    .join("\n");

/**
 * The texts of the style elements, in their order, and what each is called. What depends on the width of the window has one of its
 * own: where one rule of an element comes to hold or ceases to, the browser finds the styles anew of all that its other rules are
 * about.
 */
export function styleSheets(): [name: string, text: string][] {
  const colours = (["light", "dark"] as const).map(
    (theme) => `:root[data-theme=${theme}]{--panel:${PANEL_BACKGROUND[theme]};${colourProperties(theme)}}`,
  );
  return [
    ["all", [...colours, joined(sheets, false)].join("\n")],
    ["widths", joined(sheets, true)],
    ["print", sheets[PRINT] ?? ""],
  ];
}

/** A style element, found by what it is called. */
export const styleElement = (name: string): HTMLStyleElement | null =>
  document.head.querySelector<HTMLStyleElement>(`style[data-sheet="${name}"]`);
