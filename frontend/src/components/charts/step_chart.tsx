/** Iterations as stacked bars of the parts of a step, as high as there is room, with the line of their median; what is far above it is cut, and says how long it is. */
import { formatCount } from "../../format/number";
import { axisUnit, formatDuration, readableAndExact } from "../../format/time";
import { apart, BROKEN_AT, cutAt, labelStep, rectangle, ticks } from "../../model/chart";
import { barLayout, longestShown, medianNs } from "../../model/iterations";
import type { StepIteration } from "../../model/step";
import type { Changes } from "../../model/url_state";
import { DurationAxis } from "../iteration_parts";
import { useHeight, useWidth } from "../use_width";
import { ViewLink } from "../view_link";
import { useOneStop } from "../walking";

interface StepChartProps {
  iterations: readonly StepIteration[];
  /** What a bar opens. */
  to: (iteration: StepIteration) => Changes;
}

const LEFT = 46;
const RIGHT = 52;
const TOP = 16;
const BOTTOM = 22;
/** The room of the length above a bar that is cut, and how far from the unit of the axis its middle is at least. */
const LABEL = 56;
const FIRST = 18;
const NO_BAR = { x: 0, value: 0 };

export function StepChart({ iterations, to }: StepChartProps) {
  const [measure, width] = useWidth(560);
  const [measureHeight, height] = useHeight(260);
  const row = useOneStop<SVGSVGElement>();
  const plotWidth = Math.max(width - LEFT - RIGHT, 60);
  const plotHeight = height - TOP - BOTTOM;
  const walls = iterations.map(({ wall_ns: wall, typical }) => ({ duration_ns: wall, profiled: typical }));
  const median = medianNs(walls);
  const highest = longestShown(walls);
  const unit = axisUnit(highest);
  const marks = ticks(highest / unit.size, 4);
  const top = Math.max((marks.at(-1) ?? 1) * unit.size, 1);
  const layout = barLayout(iterations.length, plotWidth);
  const barWidth = Math.max(Math.round(layout.width), 1);
  const step = labelStep(iterations.length, plotWidth / 44);
  const cutBars = iterations.map(({ wall_ns: value }, i) => ({ x: i * layout.pitch, value }));
  const labelled = apart(
    cutBars.filter(({ value }) => value > top),
    LABEL,
  );
  const y = (ns: number): number => plotHeight - (Math.min(ns, top) / top) * plotHeight;
  return (
    <div
      class="step-chart"
      ref={(element) => {
        measure(element);
        measureHeight(element);
      }}
    >
      <svg
        class="picture"
        width={width}
        height={height}
        role="group"
        {...row}
        aria-label={`Duration of ${formatCount(iterations.length)} iterations, median ${formatDuration(median)}`}
      >
        <g transform={`translate(${LEFT} ${TOP})`}>
          <DurationAxis marks={marks} unit={unit} topNs={top} plotWidth={plotWidth} plotHeight={plotHeight} />
          <text class="axis-text" x={-8} y={-9} text-anchor="end">
            {unit.name}
          </text>
          {iterations.map((each, i) => {
            // On whole pixels: the edge of a part has steps where it lies between two.
            const x = Math.round(i * layout.pitch + layout.offset);
            const cut = each.wall_ns > top;
            const tip = tipOf(each);
            return (
              <ViewLink key={each.number} to={to(each)} tip={tip} label={tip.replaceAll("\n", ", ")} class="step-bar">
                <rect class="hit" x={i * layout.pitch} y={0} width={layout.pitch} height={plotHeight} />
                <Stack iteration={each} x={x} width={barWidth} top={top} y={y} />
                {cut && <Break x={x} width={barWidth} y={plotHeight * (1 - BROKEN_AT)} />}
                {labelled.has(cutBars[i] ?? NO_BAR) && (
                  <text class="axis-text" x={Math.max(x + barWidth / 2, FIRST)} y={-4} text-anchor="middle">
                    {formatDuration(each.wall_ns)}
                  </text>
                )}
                {i % step === 0 && (
                  <text class="axis-text" x={x + barWidth / 2} y={plotHeight + 15} text-anchor="middle">
                    {formatCount(each.number)}
                  </text>
                )}
              </ViewLink>
            );
          })}
          <line class="median-line" x1={0} x2={plotWidth} y1={y(median)} y2={y(median)} />
          <text class="axis-text" x={plotWidth + 4} y={y(median) + 4}>
            median
          </text>
        </g>
      </svg>
    </div>
  );
}

const tipOf = (each: StepIteration): string =>
  [
    `Iteration ${formatCount(each.number)}: ${readableAndExact(each.wall_ns)}`,
    ...(each.typical ? [] : ["left out of means"]),
    ...each.segments.filter(({ ns }) => ns > 0).map(({ label, ns }) => `${label} ${formatDuration(ns)}`),
  ].join("\n");

interface StackProps {
  iteration: StepIteration;
  x: number;
  width: number;
  /** How long a bar may be before it is cut. */
  top: number;
  y: (ns: number) => number;
}

/** From the bottom up; what is left out of means is pale, or one grey bar where its parts are not known. */
function Stack({ iteration, x, width, top, y }: StackProps) {
  if (iteration.segments.length === 0)
    return <path class="left-out" d={rectangle(x, y(iteration.wall_ns), width, y(0) - y(iteration.wall_ns))} />;
  let below = 0;
  return (
    <>
      {/* What is pale lets no line of the axis through. */}
      {!iteration.typical && (
        <path fill="var(--panel)" d={rectangle(x, y(iteration.wall_ns), width, y(0) - y(iteration.wall_ns))} />
      )}
      <g class={iteration.typical ? undefined : "bars-outside"}>
        {cutAt(iteration.segments, top).map(({ ns, colour }, place) => {
          const bottom = y(below);
          below += ns;
          return (
            <path
              key={place}
              d={rectangle(x, y(below), width, bottom - y(below))}
              fill={colour}
              shape-rendering="crispEdges"
            />
          );
        })}
      </g>
    </>
  );
}

/** Two slanted lines through a bar that goes on beyond the axis. */
function Break({ x, width, y }: { x: number; width: number; y: number }) {
  return <path class="axis-break" d={`M${x - 2} ${y + 5}L${x + width + 2} ${y - 5}`} />;
}
