import type { EfficiencyResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";

const HEIGHT = 72;

/** Model FLOPs utilisation of each iteration; nothing where none is known, or one alone, which the heading tells. */
export function MfuPanel({ rates }: { rates: EfficiencyResponse }) {
  const [measure, width] = useWidth(320);
  const rows = rates.iterations.filter(({ mfu_fraction: mfu }) => mfu !== null);
  if (rows.length < 2) return null;
  const most = Math.max(...rows.map(({ mfu_fraction: mfu }) => mfu ?? 0), 1e-9);
  const pitch = width / rows.length;
  const wide = Math.max(Math.min(pitch - 2, 36), 0.5);
  return (
    <Panel
      title="MFU by Iteration"
      about="Model FLOPs utilisation: the time that the matrix products, convolutions and attention would take at the GPU's published peak, over the time that the iteration took. Higher is better."
    >
      <div ref={measure}>
        <svg width={width} height={HEIGHT} role="img" class="mfu" aria-label={`MFU of ${rows.length} iterations`}>
          {rows.map(({ iteration, mfu_fraction: mfu, product_flops: flops }, i) => {
            const tall = ((mfu ?? 0) / most) * HEIGHT;
            return (
              <rect
                key={iteration}
                x={i * pitch + (pitch - wide) / 2}
                y={HEIGHT - tall}
                width={wide}
                height={tall}
                data-tip={`Iteration ${iteration ?? ""}: MFU ${formatShare(mfu)}\n${formatScaled(flops, "FLOPs")}`}
              />
            );
          })}
        </svg>
        <p class="muted mfu-scale">
          <span>Iteration {rows[0]?.iteration}</span>
          <span>highest {formatShare(most)}</span>
          <span>{rows.length > 1 && rows.at(-1)?.iteration}</span>
        </p>
      </div>
      <details class="twin">
        <summary>Show as a table</summary>
        <div class="twin-scroll" tabIndex={0} role="region" aria-label="MFU by iteration as a table">
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">Iteration</th>
                <th scope="col" class="right">
                  MFU
                </th>
                <th scope="col" class="right">
                  FLOPs
                </th>
                <th scope="col" class="right">
                  Shapes known
                </th>
              </tr>
            </thead>
            <tbody>
              {rates.iterations.map((row) => (
                <tr key={row.iteration}>
                  <th scope="row">{row.iteration}</th>
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
