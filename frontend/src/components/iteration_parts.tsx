/** What the charts of iterations share: hover card, legend, the sentence for screen readers, and the table twin. */
import { useState } from "preact/hooks";

import type { DashboardResponse } from "../api/types";
import { capitalized, formatCount, withinSentence } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { formatDuration, readableAndExact, unitOf, type TimeUnit } from "../format/time";
import { inUnit } from "../format/unit";
import { tickLabel } from "../model/chart";
import { unknownWork } from "../model/kernel_time";
import { barParts, classesIn, colourOfClass, rowTitle, type BarClass, type IterationRow } from "../model/iterations";
import { partKinds } from "../model/parts";
import { RESOURCES, resourceLabel } from "../model/resources";
import { atRight, PlainHead } from "./plain_head";
import { useOneStop } from "./walking";

/** What the classes of a profile are called. */
export const classLabel =
  (data: DashboardResponse) =>
  (key: BarClass): string => {
    if (key === "outside") return "Outside the aggregation";
    const resource = RESOURCES.find((each) => each === key);
    return resource === undefined
      ? (partKinds(data.matrix_unit).find((part) => part.key === key)?.label ?? key)
      : resourceLabel(resource, data.matrix_unit, unknownWork(data));
  };

interface IterationLegendProps {
  rows: readonly IterationRow[];
  label: (key: BarClass) => string;
  hidden: ReadonlySet<string>;
  toggle: (key: string) => void;
}

/** Of less in every bar nothing can be seen. */
const LEAST_SEEN = 0.001;

const isSeen = (rows: readonly IterationRow[], key: BarClass): boolean =>
  key === "outside" || rows.some(({ parts, duration_ns: ns }) => (parts?.[key] ?? 0) > LEAST_SEEN * ns);

/** The classes that can be seen; each hides and shows its part of the bars. */
export function IterationLegend({ rows, label, hidden, toggle }: IterationLegendProps) {
  const row = useOneStop<HTMLUListElement>();
  return (
    <ul class="legend legend-row" {...row}>
      {classesIn(rows)
        .filter((key) => isSeen(rows, key))
        .map((key) => (
          <li key={key}>
            <button type="button" class="legend-entry" aria-pressed={!hidden.has(key)} onClick={() => toggle(key)}>
              <span
                class={key === "outside" ? "swatch bars-outside" : "swatch"}
                style={{ background: colourOfClass(key) }}
              />
              <span class="legend-label">
                {key === "outside" && rows.some(({ profiled, parts }) => !profiled && parts !== null)
                  ? `Pale: ${withinSentence(label(key))}`
                  : label(key)}
              </span>
            </button>
          </li>
        ))}
    </ul>
  );
}

const NONE: ReadonlySet<string> = new Set();

/** The bar in a sentence, for those who do not see it, and `note` about it. */
export function spoken(row: IterationRow, label: (key: BarClass) => string, note: string): string {
  const parts = barParts(row, NONE).map(({ key, ns }) => `${label(key)} ${formatDuration(ns)}`);
  return [`${rowTitle(row)}: ${formatDuration(row.duration_ns)}.`, note === "" ? "" : `${note}.`, parts.join(", ")]
    .filter(Boolean)
    .join(" ");
}

interface DurationAxisProps {
  marks: readonly number[];
  /** What the marks are counted in. */
  unit: TimeUnit;
  /** What stands at the top. */
  topNs: number;
  plotWidth: number;
  plotHeight: number;
}

/** The lines and numbers of an axis of time. */
export function DurationAxis({ marks, unit, topNs, plotWidth, plotHeight }: DurationAxisProps) {
  return (
    <>
      {marks.map((mark) => {
        const y = plotHeight - ((mark * unit.size) / topNs) * plotHeight;
        return (
          <g key={mark}>
            <line class="grid-line" x1="0" x2={plotWidth} y1={y} y2={y} />
            <text class="axis-text" x="-8" y={y + 4} text-anchor="end">
              {tickLabel(mark)}
            </text>
          </g>
        );
      })}
    </>
  );
}

export function HoverCard({
  row,
  place,
  label,
  note = "",
}: {
  row: IterationRow;
  place: { left: string } | { right: string };
  label: (key: BarClass) => string;
  /** More about the bar, below its title. */
  note?: string;
}) {
  const parts = row.parts === null ? [] : barParts({ ...row, profiled: true }, NONE);
  return (
    <div class="hover-card" style={place} aria-hidden="true">
      <strong>
        {rowTitle(row)}: {readableAndExact(row.duration_ns)}
      </strong>
      {note !== "" && <div class="muted">{note}</div>}
      {!row.profiled && <div class="muted">outside the aggregation</div>}
      <dl>
        {parts.map(({ key, ns }) => (
          <>
            <dt>
              <span class="swatch" style={{ background: colourOfClass(key) }} />
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
  label: (key: BarClass) => string;
  /** What a row is: `iteration`. */
  unit: string;
}

const TABLE_ROWS = 200;

/** The same numbers as a table, for those whom a chart does not serve. */
export function IterationTwin(props: IterationTwinProps) {
  const [open, setOpen] = useState(false);
  return (
    <details class="twin" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {open && <TwinTable {...props} />}
    </details>
  );
}

export function TwinTable({ rows, label, unit }: IterationTwinProps) {
  const whole = unitOf(rows.map(({ duration_ns: ns }) => ns));
  const columns = classesIn(rows).flatMap((key) =>
    key === "outside" ? [] : { key, of: unitOf(rows.map(({ parts }) => parts?.[key] ?? null)) },
  );
  const several = rows.some(({ count }) => count > 1);
  return (
    <div class="twin-scroll" tabIndex={0} role="region" aria-label={`Table of ${unit}s`}>
      <table class="plain-table">
        <PlainHead
          titles={[
            ...atRight(capitalized(unit)),
            ...atRight(`${several ? "Mean duration" : "Duration"} (${whole.name})`),
            ...atRight(...columns.map(({ key, of }) => `${label(key)} (${of.name})`)),
            "Aggregated",
          ]}
        />
        <tbody>
          {rows.slice(0, TABLE_ROWS).map((row) => (
            <tr key={row.iteration} class={row.profiled ? undefined : "muted"}>
              <th scope="row" class="right">
                {row.stop_iteration > row.iteration
                  ? `${formatCount(row.iteration)} to ${formatCount(row.stop_iteration)}`
                  : formatCount(row.iteration)}
              </th>
              <td class="right number" data-tip={readableAndExact(row.duration_ns)}>
                {inUnit(row.duration_ns, whole)}
              </td>
              {columns.map(({ key, of }) => {
                const ns = row.parts?.[key] ?? null;
                return (
                  <td key={key} class="right number" data-tip={readableAndExact(ns)}>
                    {ns === null ? formatDuration(ns) : inUnit(ns, of)}
                  </td>
                );
              })}
              <td>{row.profiled ? "yes" : "no"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > TABLE_ROWS && (
        <p class="muted">
          The first {TABLE_ROWS} of {formatCount(rows.length)} are shown.
        </p>
      )}
    </div>
  );
}
