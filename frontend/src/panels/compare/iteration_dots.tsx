/** The iterations of both sides as dots with their means, or medians where the headline tells these, so that two modes or a drift are seen. */
import type { CompareResponse, CompareSamples } from "../../api/types";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { axisUnit, formatDuration } from "../../format/time";
import { tickLabel, ticksBetween } from "../../model/chart";
import { axisFor, mean, median } from "../../model/comparison";
import { AxisNote, heightOf } from "./waterfall";

/** At least, px. */
const LOWEST = 150;
/** Below the dots. */
const NAMES = 18;
const PAD = 10;
const LEFT = 64;

export function IterationDots({ comparison: comparison }: { comparison: CompareResponse }) {
  const wall = comparison.per === "iteration";
  // What recordings of other amounts of work took cannot be set side by side.
  if (comparison.per === "capture") return null;
  const values = (side: CompareSamples): number[] =>
    (wall ? side.iteration_ns : side.kernel_ns).filter((ns): ns is number => ns !== null);
  const sides = [values(comparison.iterations.a), values(comparison.iterations.b)] as const;
  if (sides[0].length + sides[1].length < 3) return null;
  // What the line is of is what the headline tells.
  const middle = comparison.of_medians ? "median" : "mean";
  return (
    <Panel
      title={wall ? "Iterations of A and B" : "Kernel Time of A and B"}
      about={`Each dot is an iteration, the line the ${middle}. The interval of the headline is that of the median ratio of all pairs of one of B and one of A, by the test of Mann and Whitney, which assumes nothing about how times are distributed.`}
    >
      <Dots
        height={Math.max(heightOf(comparison) - NAMES, LOWEST)}
        middle={middle}
        sides={sides}
        names={[comparison.iterations.a.iteration, comparison.iterations.b.iteration]}
      />
    </Panel>
  );
}

interface DotsProps {
  height: number;
  /** What the line is. */
  middle: "mean" | "median";
  sides: readonly [readonly number[], readonly number[]];
  names: readonly [readonly number[], readonly number[]];
}

function Dots({ height, middle: word, sides, names }: DotsProps) {
  const [measure, width] = useWidth(800);
  const all = [...sides[0], ...sides[1]];
  const [low, high] = axisFor(Math.min(...all), Math.max(...all));
  const y = (ns: number): number => PAD + ((high - ns) / Math.max(high - low, 1)) * (height - 2 * PAD);
  const half = (width - LEFT) / 2;
  const unit = axisUnit(high);
  return (
    <div ref={measure}>
      {low > 0 && <AxisNote low={formatDuration(low)} />}
      <svg width={width} height={height + NAMES} role="img" aria-label={`Dots of ${all.length} iterations`}>
        {ticksBetween(low / unit.size, high / unit.size).map((mark) => (
          <g key={mark}>
            <line class="grid-line" x1={LEFT} x2={width} y1={y(mark * unit.size)} y2={y(mark * unit.size)} />
            <text class="axis-text" x={LEFT - 8} y={y(mark * unit.size) + 4} text-anchor="end">
              {tickLabel(mark)} {unit.name}
            </text>
          </g>
        ))}
        {sides.map((values, side) => {
          const left = LEFT + side * half;
          const step = (half - 24) / Math.max(values.length, 1);
          const middle = word === "mean" ? mean(values) : median(values);
          return (
            <g key={side} class={side === 0 ? "dots-a" : "dots-b"}>
              {middle !== null && (
                <line class="dots-middle" x1={left + 8} x2={left + half - 8} y1={y(middle)} y2={y(middle)} />
              )}
              {values.map((ns, i) => (
                <circle key={i} cx={left + 12 + (i + 0.5) * step} cy={y(ns)} r="4">
                  <title>{`Iteration ${names[side]?.[i] ?? ""}: ${formatDuration(ns)}`}</title>
                </circle>
              ))}
              <text class="axis-title" x={left + half / 2} y={height + 14} text-anchor="middle">
                {side === 0 ? "A" : "B"}
                {middle === null ? "" : `: ${word} ${formatDuration(middle)}`}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
