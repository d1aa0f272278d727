/** The course of a number in the height of a line of text, around its middle: a tenth up or down is half of the height. */

const WIDTH = 88;
const HEIGHT = 16;

export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 1e-9);
  const least = Math.min(...values);
  const middle = (most + least) / 2;
  const span = Math.max(most - least, 0.2 * most);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT / 2 - ((value - middle) / span) * (HEIGHT - 3)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}
