import { kindsIn } from "../../model/ranks";
import type { BarSegment } from "../../model/step";

/** What the segments of several bars are, without their shares; `unit` is `Tensor Core` or `Matrix Core`. */
export function KindLegend({ bars, unit }: { bars: readonly (readonly BarSegment[])[]; unit: string }) {
  return (
    <ul class="bar-legend">
      {kindsIn(bars, unit).map(({ key, label, colour, about }) => (
        <li key={key} data-tip={about}>
          <span class="swatch" style={{ background: colour }} /> {label}
        </li>
      ))}
    </ul>
  );
}
