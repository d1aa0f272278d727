/** What the charts of iterations share: hover card, legend, the sentence for screen readers, and the table twin. */
import { useState } from "preact/hooks";

import type { DashboardResponse, IterationRow } from "../api/types";
import { formatShare, shareOf } from "../format/share";
import { formatDuration } from "../format/time";
import { hasGraphs } from "../model/kernel_time";
import { barParts, classesIn, isResource, rowTitle } from "../model/iterations";
import { colourOf, resourceLabel, type ColourClass } from "../model/resources";

/** What the classes of a profile are called. */
export const classLabel =
  (data: DashboardResponse) =>
  (key: ColourClass): string =>
    isResource(key) ? resourceLabel(key, data.matrix_unit, hasGraphs(data)) : "Outside the aggregation";

interface IterationLegendProps {
  rows: readonly IterationRow[];
  label: (key: ColourClass) => string;
  hidden: ReadonlySet<string>;
  toggle: (key: string) => void;
}

/** The classes that occur; each hides and shows its part of the bars. */
export function IterationLegend({ rows, label, hidden, toggle }: IterationLegendProps) {
  return (
    <ul class="legend legend-row">
      {classesIn(rows).map((key) => (
        <li key={key}>
          <button type="button" class="legend-entry" aria-pressed={!hidden.has(key)} onClick={() => toggle(key)}>
            <span class="swatch" style={{ background: colourOf(key) }} />
            <span class="legend-label">{label(key)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

const NONE: ReadonlySet<string> = new Set();

export function spoken(row: IterationRow, label: (key: ColourClass) => string): string {
  const parts = barParts(row, NONE).map(({ key, ns }) => `${label(key)} ${formatDuration(ns)}`);
  return `${rowTitle(row)}: ${formatDuration(row.duration_ns)}. ${parts.join(", ")}`;
}

export function HoverCard({
  row,
  place,
  label,
  note = "",
}: {
  row: IterationRow;
  place: { left: string } | { right: string };
  label: (key: ColourClass) => string;
  /** More about the bar, below its title. */
  note?: string;
}) {
  const parts = barParts({ ...row, profiled: row.parts !== null }, NONE).filter(({ key }) => isResource(key));
  return (
    <div class="hover-card" style={place} aria-hidden="true">
      <strong>{rowTitle(row)}</strong>
      {note !== "" && <div class="muted">{note}</div>}
      {!row.profiled && <div class="muted">outside the aggregation</div>}
      <dl>
        <dt>Duration</dt>
        <dd>{formatDuration(row.duration_ns)}</dd>
        <dd />
        {parts.map(({ key, ns }) => (
          <>
            <dt>
              <span class="swatch" style={{ background: colourOf(key) }} />
              {label(key)}
            </dt>
            <dd>{formatDuration(ns)}</dd>
            <dd>{formatShare(shareOf(ns, row.duration_ns))}</dd>
          </>
        ))}
      </dl>
    </div>
  );
}

interface IterationTwinProps {
  rows: readonly IterationRow[];
  label: (key: ColourClass) => string;
  /** What a row is: `iteration`. */
  unit: string;
}

const TABLE_ROWS = 200;

/** The same numbers as a table, for those whom a chart does not serve. */
export function IterationTwin({ rows, label, unit }: IterationTwinProps) {
  const [open, setOpen] = useState(false);
  const keys = classesIn(rows).filter(isResource);
  return (
    <details class="twin" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {open && (
        <div class="twin-scroll" tabIndex={0} role="region" aria-label={`Table of ${unit}s`}>
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">{unit.charAt(0).toUpperCase() + unit.slice(1)}</th>
                <th scope="col">Duration</th>
                {keys.map((key) => (
                  <th scope="col" key={key}>
                    {label(key)}
                  </th>
                ))}
                <th scope="col">Aggregated</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, TABLE_ROWS).map((row) => (
                <tr key={row.iteration}>
                  <th scope="row">
                    {row.stop_iteration > row.iteration ? `${row.iteration} to ${row.stop_iteration}` : row.iteration}
                  </th>
                  <td>{formatDuration(row.duration_ns)}</td>
                  {keys.map((key) => (
                    <td key={key}>{formatDuration(row.parts?.[key] ?? null)}</td>
                  ))}
                  <td>{row.profiled ? "yes" : "no"}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {rows.length > TABLE_ROWS && (
            <p class="muted">
              The first {TABLE_ROWS} of {rows.length} are shown.
            </p>
          )}
        </div>
      )}
    </details>
  );
}
