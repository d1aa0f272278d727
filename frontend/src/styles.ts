/** All style sheets as one text: every widget has its own file beside it, collected here at build time. */
import { precisionProperties } from "./model/precisions";
import { colourProperties, PANEL_BACKGROUND } from "./model/resources";
import { shadeRules } from "./model/shades";

const sheets = import.meta.glob<string>("./**/*.css", { query: "?inline", import: "default", eager: true });

/** What paper needs overrides what every widget says for the screen, so it stands last. */
const PRINT = "./components/print.css";

export function styleSheet(): string {
  const colours = (["light", "dark"] as const).map(
    (theme) =>
      `:root[data-theme=${theme}]{--panel:${PANEL_BACKGROUND[theme]};${colourProperties(theme)};${precisionProperties(theme)}}${shadeRules(theme)}`,
  );
  return [
    ...colours,
    ...Object.keys(sheets)
      .filter((path) => path !== PRINT)
      .sort()
      .map((path) => sheets[path] ?? ""),
    sheets[PRINT] ?? "",
  ].join("\n");
}
