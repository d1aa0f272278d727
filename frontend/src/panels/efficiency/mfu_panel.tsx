import type { EfficiencyResponse } from "../../api/types";
import { PlainHead, atRight } from "../../components/plain_head";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatCount, formatCounted, formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";
import { labelStep, ticks } from "../../model/chart";
import { iterationsShown } from "../../model/efficiency_sentence";
import { barLayout } from "../../model/iterations";

const HEIGHT = 130;
const LEFT = 44;
const TOP = 8;
const BOTTOM = 34;
const LABEL_PX = 56;

/** Below this every share reads the same. */
const LEAST = 0.0005;

/** Model FLOPs utilisation of each iteration; nothing where none is known, or one alone, which the heading tells. */
export function MfuPanel({ rates, profiled }: { rates: EfficiencyResponse; profiled: number | null }) {
  const [measure, width] = useWidth(320);
  const rows = rates.iterations;
  const most = Math.max(...rows.map(({ mfu_fraction: mfu }) => mfu ?? 0), 0);
  const untold = rows.filter(({ mfu_fraction: mfu }) => mfu === null).length;
  if (rows.length - untold < 2 || most < LEAST) return null;
  const withoutPeak = rates.iterations.some((row) => row.mfu_fraction === null && row.measured_fraction === 1);
  const leftOut = [
    iterationsShown(rates.iterations.length, profiled),
    untold > 0 ? `Hatched: not known of ${formatCounted(untold, "iteration")}.` : "",
    withoutPeak
      ? "Where the shapes are known but not the share, the peak for a product is not known, or would be exceeded."
      : "",
  ].filter(Boolean);
  const room = Math.max(width - LEFT - 8, 40);
  const plotHeight = HEIGHT - TOP - BOTTOM;
  const marks = ticks(100 * most, 3);
  const top = marks.at(-1) ?? 1;
  const layout = barLayout(rows.length, room);
  const step = labelStep(rows.length, room / LABEL_PX);
  const heightOf = (percent: number): number => (percent / top) * plotHeight;
  return (
    <Panel
      title="Share of Peak FLOP/s by Iteration"
      about="Model FLOPs utilization (MFU): the time that the matrix multiplications, convolutions and attention would take at the GPU's published peak, over the time that the iteration took. Kernels count in the iteration that they ran in, also where an earlier one launched them. Higher is better."
    >
      <div ref={measure}>
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          class="mfu"
          aria-label={`Share of peak FLOP/s of ${formatCounted(rows.length, "iteration")}`}
        >
          <pattern id="untold" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <path d="M0 0H2V6H0Z" />
          </pattern>
          <g transform={`translate(${LEFT} ${TOP})`}>
            {marks.map((mark) => (
              <g key={mark} transform={`translate(0 ${plotHeight - heightOf(mark)})`}>
                <line class="grid-line" x1="0" x2={room} />
                <text class="axis-text" x="-8" y="4" text-anchor="end">
                  {mark} %
                </text>
              </g>
            ))}
            {rows.map(({ iteration, mfu_fraction: mfu, product_flops: flops }, i) => {
              // One that is not known keeps its place, and has no height.
              const tall = mfu === null ? plotHeight : heightOf(100 * mfu);
              const x = i * layout.pitch + layout.offset;
              return (
                <g key={iteration}>
                  <rect
                    class={mfu === null ? "untold" : ""}
                    x={x}
                    y={plotHeight - tall}
                    width={layout.width}
                    height={tall}
                    data-tip={`Iteration ${formatCount(iteration)}: ${mfu === null ? "share of peak not known" : `${formatShare(mfu)} of peak FLOP/s`}\n${formatScaled(flops, "FLOPs")} launched in it`}
                  />
                  {i % step === 0 && (
                    <text class="axis-text" x={x + layout.width / 2} y={plotHeight + 15} text-anchor="middle">
                      {formatCount(iteration)}
                    </text>
                  )}
                </g>
              );
            })}
            <text class="axis-title" x={room / 2} y={plotHeight + 31} text-anchor="middle">
              Iteration
            </text>
          </g>
        </svg>
      </div>
      {leftOut.length > 0 && (
        <p class="muted chart-notes">
          {leftOut.map((text) => (
            <span key={text}>{text}</span>
          ))}
        </p>
      )}
      <details class="twin">
        <summary>Show as a table</summary>
        <div class="twin-scroll" tabIndex={0} role="region" aria-label="Share of peak FLOP/s by iteration as a table">
          <table class="plain-table">
            <PlainHead titles={["Iteration", ...atRight("Share of peak", "FLOPs launched", "Shapes known")]} />
            <tbody>
              {rates.iterations.map((row) => (
                <tr key={row.iteration}>
                  <th scope="row">{formatCount(row.iteration)}</th>
                  <td class="right">{formatShare(row.mfu_fraction)}</td>
                  <td class="right">{formatScaled(row.product_flops)}</td>
                  <td class="right">{formatShare(row.measured_fraction)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </Panel>
  );
}
