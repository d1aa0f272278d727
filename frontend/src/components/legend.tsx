/** Legend and table twin of a chart in one: each entry shows its values, and hides or shows its part. */
import { inTimeUnit, unitOf } from "../format/time";
import { useOneStop } from "./walking";

export interface LegendEntry {
  key: string;
  label: string;
  colour: string;
  /** A time, ns, or words in its place. */
  value: number | string;
  share: string;
  /** Numerator and denominator, in words. */
  tip: string;
}

interface LegendProps {
  /** What shares are of: "of 69.9 ms in kernels and copies". */
  whole?: string | undefined;
  entries: readonly LegendEntry[];
  hidden: ReadonlySet<string>;
  toggle: (key: string) => void;
  active: string | null;
  activate: (key: string | null) => void;
}

/** All times are in one unit, as in a column. */
export function Legend({ whole, entries, hidden, toggle, active, activate }: LegendProps) {
  const row = useOneStop<HTMLUListElement>();
  const unit = unitOf(entries.map(({ value }) => (typeof value === "number" ? value : null)));
  return (
    <ul class="legend" {...row}>
      {entries.map((entry) => (
        <li key={entry.key}>
          <button
            type="button"
            class={active === entry.key ? "legend-entry active" : "legend-entry"}
            aria-pressed={!hidden.has(entry.key)}
            data-tip={entry.tip}
            onClick={() => toggle(entry.key)}
            onPointerEnter={() => activate(entry.key)}
            onPointerLeave={() => activate(null)}
            onFocus={() => activate(entry.key)}
            onBlur={() => activate(null)}
          >
            {/* No part of the chart has the colour of what it does not show. */}
            <span class="swatch" style={{ background: entry.share === "" ? "var(--hover)" : entry.colour }} />
            <span class="legend-label">{entry.label}</span>
            <span class={entry.share === "" ? "legend-value legend-words" : "legend-value"}>
              {typeof entry.value === "number" ? inTimeUnit(entry.value, unit) : entry.value}
            </span>
            {entry.share !== "" && <span class="legend-share">{entry.share}</span>}
          </button>
        </li>
      ))}
      {whole !== undefined && <li class="muted legend-whole">{whole}</li>}
    </ul>
  );
}
