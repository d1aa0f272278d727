/** The course of a number in the height of a line of text; its scale begins at nothing. */

const WIDTH = 88;
const HEIGHT = 16;

export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 1e-9);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT - 1.5 - (value / most) * (HEIGHT - 3)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <polygon points={`0,${HEIGHT} ${points.join(" ")} ${(values.length - 1) * step},${HEIGHT}`} />
      <polyline points={points.join(" ")} />
    </svg>
  );
}
