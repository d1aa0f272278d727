import type { Colouring } from "../../model/shades";

/** What the colours of an icicle or a treemap mean. */
export const ShadeLegend = ({ about, legend }: Pick<Colouring, "about" | "legend">) => (
  <ul class="shade-legend" aria-label={about} data-tip={about}>
    {legend.map(([step, label]) => (
      <li key={step}>
        <span class={`swatch shade-${step}`} /> {label}
      </li>
    ))}
  </ul>
);
