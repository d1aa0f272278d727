import { useState } from "preact/hooks";

import { capitalized, formatCount, formatCounted } from "../format/number";
import { axisUnit } from "../format/time";
import { currentUrl, navigate, useUrlSet } from "../frame/url";
import { labelStep, ticks } from "../model/chart";
import {
  barLayout,
  barPaths,
  colourOfClass,
  meanBar,
  openingBar,
  tallest,
  type BarClass,
  type IterationRow,
  type BarLayout,
} from "../model/iterations";
import { arriving } from "../model/url_state";
import { DurationAxis, HoverCard, IterationLegend, IterationTwin, spoken } from "./iteration_parts";
import { useWidth } from "./use_width";

interface IterationChartProps {
  rows: readonly IterationRow[];
  label: (key: BarClass) => string;
  /** What a bar is: `iteration`. */
  unit: string;
}

const LEFT = 52;
const BOTTOM = 34;
const TOP = 8;
const HEIGHT = 230;

/**
 * Time per iteration as stacked bars, the mean where a bar is several. Arrow keys walk along them; the hover card has every number.
 * A click or Enter opens the iteration.
 */
export function IterationChart({ rows: summed, label, unit }: IterationChartProps) {
  const rows = summed.map(meanBar);
  const several = rows.some(({ count }) => count > 1);
  const [hidden, toggle] = useUrlSet("iterations.hidden");
  const [active, setActive] = useState<number | null>(null);
  const [measure, width] = useWidth(800);

  const plotWidth = Math.max(width - LEFT - 8, 40);
  const plotHeight = HEIGHT - TOP - BOTTOM;
  const highest = tallest(rows, hidden);
  const scale = axisUnit(highest);
  // Ticks are chosen in the unit that is printed, so that they are round there.
  const marks = ticks(highest / scale.size);
  const topNs = Math.max((marks.at(-1) ?? 0) * scale.size, 1);
  const layout = barLayout(rows.length, plotWidth);
  const step = labelStep(rows.length, plotWidth / 56);
  const row = active === null ? undefined : rows[active];
  const note = row !== undefined && row.count > 1 ? `Mean of ${formatCounted(row.count, unit)}` : "";
  const whole = formatCounted(
    rows.reduce((sum, { count }) => sum + Math.max(count, 1), 0),
    unit,
  );

  const move = (to: number): void => setActive(Math.min(Math.max(to, 0), rows.length - 1));
  const onKey = (event: KeyboardEvent): void => {
    const from = active ?? (event.key === "ArrowLeft" ? rows.length : -1);
    if (event.key === "ArrowRight") move(from + 1);
    else if (event.key === "ArrowLeft") move(from - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if (event.key === "Escape" && active !== null) setActive(null);
    else if (event.key === "Enter" && row !== undefined) open(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const at = (event: MouseEvent): number | null => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const bar = Math.floor((event.clientX - box.left - LEFT) / layout.pitch);
    return bar >= 0 && bar < rows.length ? bar : null;
  };
  const open = (bar: IterationRow): void => navigate(arriving(currentUrl(), openingBar(bar)), true);

  return (
    <div class="iteration-chart" ref={measure}>
      <IterationLegend rows={rows} label={label} hidden={hidden} toggle={toggle} />
      <div
        class={active === null ? "iteration-plot" : "iteration-plot opens"}
        role="group"
        aria-label={`Duration of ${whole}; the arrow keys read the bars one by one, Enter opens one`}
        tabIndex={0}
        onKeyDown={onKey}
        onBlur={() => setActive(null)}
        onPointerMove={(event) => setActive(at(event))}
        onPointerLeave={() => setActive(null)}
        onClick={(event) => {
          const bar = rows[at(event) ?? -1];
          if (bar !== undefined) open(bar);
        }}
      >
        <svg width={width} height={HEIGHT} role="img" aria-label={`Stacked bars of ${whole}`}>
          <g transform={`translate(${LEFT} ${TOP})`}>
            <DurationAxis marks={marks} unit={scale} topNs={topNs} plotWidth={plotWidth} plotHeight={plotHeight} />
            {active !== null && (
              <rect
                class="bar-highlight"
                x={active * layout.pitch}
                y="0"
                width={Math.max(layout.pitch, 2)}
                height={plotHeight}
              />
            )}
            {[...barPaths(rows, hidden, layout, plotHeight, topNs)].map(([key, path]) => (
              <path key={key} d={path} fill={colourOfClass(key)} shape-rendering="crispEdges" />
            ))}
            {rows.map((each, i) =>
              i % step === 0 ? (
                <text
                  key={each.iteration}
                  class="axis-text"
                  x={i * layout.pitch + layout.offset + layout.width / 2}
                  y={plotHeight + 15}
                  text-anchor="middle"
                >
                  {formatCount(each.iteration)}
                </text>
              ) : null,
            )}
            <text class="axis-title" x={plotWidth / 2} y={plotHeight + 31} text-anchor="middle">
              {capitalized(unit)}
            </text>
          </g>
          <text class="axis-title" transform={`translate(11 ${TOP + plotHeight / 2}) rotate(-90)`} text-anchor="middle">
            {several ? `Mean duration (${scale.name})` : `Duration (${scale.name})`}
          </text>
        </svg>
        {row !== undefined && active !== null && (
          <HoverCard row={row} place={cardPlace(active, layout, width)} label={label} note={note} />
        )}
      </div>
      <p class="visually-hidden" role="status">
        {row === undefined ? "" : spoken(row, label, note)}
      </p>
      <IterationTwin rows={rows} label={label} unit={unit} />
    </div>
  );
}

/** Beside the bar, on the side that has more room. */
function cardPlace(bar: number, layout: BarLayout, width: number): { left: string } | { right: string } {
  const left = LEFT + bar * layout.pitch + layout.offset;
  if (left + layout.width / 2 < width / 2) return { left: `${left + layout.width + 6}px` };
  return { right: `${width - left + 6}px` };
}
