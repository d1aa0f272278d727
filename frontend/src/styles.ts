/** All style sheets: every widget has its own file beside it, collected here at build time. */
import { precisionProperties } from "./model/precisions";
import { colourProperties, PANEL_BACKGROUND } from "./model/resources";
import { shadeRules } from "./model/shades";

const sheets = import.meta.glob<string>("./**/*.css", { query: "?inline", import: "default", eager: true });

/** What paper needs overrides what every widget says for the screen, so it stands last. */
const PRINT = "./components/print.css";

/** The end of the names of files that hold what depends on the width of the window. */
const WIDTHS = ".widths.css";

const joined = (wanted: (path: string) => boolean): string =>
  Object.keys(sheets)
    .filter(wanted)
    .sort()
    .map((path) => sheets[path] ?? "")
    .join("\n");

/**
 * The texts of the style elements, in their order. What depends on the width of the window has one of its own: where one rule of
 * an element comes to hold or ceases to, the browser finds the styles anew of all that its other rules are about.
 */
export function styleSheets(): string[] {
  const colours = (["light", "dark"] as const).map(
    (theme) =>
      `:root[data-theme=${theme}]{--panel:${PANEL_BACKGROUND[theme]};${colourProperties(theme)};${precisionProperties(theme)}}${shadeRules(theme)}`,
  );
  return [
    [...colours, joined((path) => path !== PRINT && !path.endsWith(WIDTHS))].join("\n"),
    joined((path) => path.endsWith(WIDTHS)),
    joined((path) => path === PRINT),
  ];
}
