/** All style sheets as one text: every widget has its own file beside it, collected here at build time. */
import { precisionProperties } from "./model/precisions";
import { colourProperties, PANEL_BACKGROUND } from "./model/resources";
import { shadeRules } from "./model/shades";

const sheets = import.meta.glob<string>("./**/*.css", { query: "?inline", import: "default", eager: true });

export function styleSheet(): string {
  const colours = (["light", "dark"] as const).map(
    (theme) =>
      `:root[data-theme=${theme}]{--panel:${PANEL_BACKGROUND[theme]};${colourProperties(theme)};${precisionProperties(theme)}}${shadeRules(theme)}`,
  );
  return [
    ...colours,
    ...Object.keys(sheets)
      .sort()
      .map((path) => sheets[path] ?? ""),
  ].join("\n");
}
