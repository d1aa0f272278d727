/** Colours for numbers: the heat map's and the communication matrix's. */
import { useContext } from "preact/hooks";

import { ThemeContext } from "../../frame/theme";
import { besideLargest, noiseBelow } from "../../model/ranks";

type Colour = [number, number, number];

/** Ends of the scale, blue in both themes: what is most stands out most from the panel. */
const SCALE = {
  light: [
    [238, 243, 250],
    [8, 69, 148],
  ],
  dark: [
    [56, 62, 72],
    [158, 202, 255],
  ],
} as const;

export function colourAt(share: number, theme: "light" | "dark"): Colour {
  const [from, to] = SCALE[theme];
  const mixed = from.map((low, channel) => Math.round(low + ((to[channel] ?? 0) - low) * share));
  return [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0];
}

/** Whether black is read better on it than white. */
export const isPale = ([red, green, blue]: Colour): boolean => red * 0.3 + green * 0.59 + blue * 0.11 > 140;

/** What a cell without a number is; nothing where all have one. */
export const Noise = ({ values, largest }: { values: Iterable<number>; largest: number }) =>
  [...values].some((ns) => besideLargest(ns, largest).isNoise) && (
    <span class="muted" data-tip="Less than 1 % of the largest, which is noise beside it, or nothing">
      {noiseBelow(largest)}
    </span>
  );

/** What the ends of the scale stand for. */
export function ScaleBar({ low, high }: { low: string; high: string }) {
  const theme = useContext(ThemeContext);
  const ends = [0, 1].map((share) => `rgb(${colourAt(share, theme).join()})`);
  return (
    <>
      <span>{low}</span>
      <span class="heat-scale" style={{ background: `linear-gradient(90deg, ${ends.join()})` }} />
      <span>{high}</span>
    </>
  );
}
