/**
 * The change of each row in the order of the program, and the sum so far. Arrow keys walk along the bars; dragging narrows the table
 * to a range.
 */
import { useMemo, useState } from "preact/hooks";

import type { CompareResponse } from "../../api/types";
import { useWidth } from "../../components/use_width";
import { formatCounted } from "../../format/number";
import { formatDuration } from "../../format/time";
import { navigate, useUrl } from "../../frame/url";
import { rectangle } from "../../model/chart";
import { labelOf, splitPath, UNASSOCIATED } from "../../model/kernel_name";
import { barAt, orderBars, orderLabels, programOrder } from "../../model/comparison";
import { signedDuration } from "../../model/change";

const HEIGHT = 180;
const PAD = 18;
/** Right of the bars: the values of 0 and of the whole change. */
const AXIS = 84;
/** More rows are folded unasked, where they repeat. */
const MANY = 200;

export function OrderChart({ comparison: comparison }: { comparison: CompareResponse }) {
  const [measure, whole] = useWidth(800);
  const width = Math.max(whole - AXIS, 100);
  const [active, setActive] = useState<number | null>(null);
  const [dragged, setDragged] = useState<[number, number] | null>(null);
  const range = useUrl()["compare.where.position"];
  const asked = useUrl()["compare.fold"];
  const [rows, folded] = useMemo(() => [programOrder(comparison, false), programOrder(comparison, true)], [comparison]);
  const repeats = 2 * folded.name.length <= rows.name.length;
  const folds = repeats && (asked ?? (rows.name.length > MANY ? "on" : "off")) === "on";
  const order = folds ? folded : rows;
  const bars = useMemo(() => orderBars(order), [order]);
  if (bars.length === 0) return <p class="muted">Nothing ran on a GPU.</p>;
  const highest = Math.max(...bars.map(({ change, sum }) => Math.max(change, sum)), 0);
  const lowest = Math.min(...bars.map(({ change, sum }) => Math.min(change, sum)), 0);
  const scale = (HEIGHT - 2 * PAD) / Math.max(highest - lowest, 1);
  const y = (ns: number): number => PAD + (highest - ns) * scale;
  const zero = y(0);
  const total = bars.at(-1)?.sum ?? 0;
  const labels = orderLabels(
    bars,
    order.name.map((name) => labelOf(name.startsWith(UNASSOCIATED) ? name : splitPath(name).name)),
    width,
    y,
  );
  const path = (wanted: (change: number) => boolean): string =>
    bars
      .filter(({ change }) => wanted(change))
      .map(({ x, width: share, change }) =>
        rectangle(x * width, Math.min(y(change), zero), Math.max(share * width, 1), Math.abs(y(change) - zero)),
      )
      .join("");
  const line = bars.map(({ x, width: share, sum }) => `L${(x + share) * width} ${y(sum)}`).join("");
  const at = (event: MouseEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return barAt(bars, (event.clientX - box.left) / width);
  };
  const choose = ([from, to]: [number, number]): void => {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const end = order.last[last] ?? 0;
    navigate(
      {
        "compare.where.position": `${order.position[first] ?? 0}..${end}`,
        // Folded rows have others between them.
        "compare.where.name": folds && first === last ? ((order.name[first] ?? "").split(/\d/).at(-1) ?? "") : null,
        "compare.tab": "ops",
        "compare.page": null,
        "compare.row": null,
      },
      true,
    );
  };
  const onKey = (event: KeyboardEvent): void => {
    const from = active ?? (event.key === "ArrowLeft" ? bars.length : -1);
    if (event.key === "ArrowRight") setActive(Math.min(from + 1, bars.length - 1));
    else if (event.key === "ArrowLeft") setActive(Math.max(from - 1, 0));
    else if (event.key === "Enter" && active !== null) choose([active, active]);
    else if (event.key === "Escape") setActive(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const bar = active === null ? undefined : bars[active];
  const words =
    bar === undefined || active === null
      ? `In all ${signedDuration(total)}. Point at a bar to read it; drag over bars to see only these below.`
      : `${shownName(order.name[active] ?? "")}${(order.count[active] ?? 1) > 1 ? ` (${formatCounted(order.count[active] ?? 1, "row")})` : ""}: ${formatDuration(order.a_ns[active] ?? 0)} → ${formatDuration(order.b_ns[active] ?? 0)} (${signedDuration(bar.change)}); sum so far ${signedDuration(bar.sum)}`;
  const marked = dragged ?? null;
  return (
    <div ref={measure}>
      <div
        class="order-chart"
        role="group"
        tabIndex={0}
        aria-label={`Change of ${formatCounted(bars.length, "bar")} in program order; the arrow keys read them, Enter shows one in the table`}
        onKeyDown={onKey}
        onBlur={() => setActive(null)}
        onPointerDown={(event) => {
          const place = at(event);
          setDragged([place, place]);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const place = at(event);
          setActive(place);
          if (dragged !== null) setDragged([dragged[0], place]);
        }}
        onPointerUp={() => {
          if (dragged !== null) choose(dragged);
          setDragged(null);
        }}
        onPointerLeave={() => {
          if (dragged === null) setActive(null);
        }}
      >
        <svg width={whole} height={HEIGHT} role="img" aria-label="Accumulated change in program order">
          {marked !== null && <Mark bars={bars} range={marked} width={width} />}
          {marked === null && active !== null && <Mark bars={bars} range={[active, active]} width={width} />}
          <path class="bar-less" d={path((change) => change < 0)} />
          <path class="bar-more" d={path((change) => change > 0)} />
          <line class="order-zero" x1="0" x2={width} y1={zero} y2={zero} />
          <path class="order-line" d={`M0 ${zero}${line}`} />
          {labels.map(({ bar: i, text, x, y: line, anchor }) => (
            <text key={i} class="axis-text order-label" x={x} y={line} text-anchor={anchor}>
              {text}
            </text>
          ))}
          {Math.abs(y(total) - zero) > 12 && (
            <text class="axis-text" x={width + 6} y={zero + 4}>
              0
            </text>
          )}
          <text class="axis-text order-total" x={width + 6} y={y(total) + 4}>
            {signedDuration(total) || "0"}
          </text>
        </svg>
      </div>
      <p class="order-words muted" role="status">
        {words}
      </p>
      <p class="order-tools">
        {repeats && (
          <button
            type="button"
            class="link-button"
            onClick={() => navigate({ "compare.fold": folds ? "off" : "on" }, true)}
          >
            {folds
              ? `Unfold what repeats: ${formatCounted(rows.name.length, "bar")}`
              : `Fold what repeats: ${formatCounted(folded.name.length, "bar")}`}
          </button>
        )}
        {range !== undefined && (
          <button
            type="button"
            class="link-button"
            onClick={() => navigate({ "compare.where.position": null, "compare.where.name": null }, true)}
          >
            Show all rows again
          </button>
        )}
      </p>
    </div>
  );
}

/** As the table below names a row. */
function shownName(name: string): string {
  const { place, name: own } = splitPath(name);
  return `${place}${own}`;
}

function Mark({
  bars,
  range: [from, to],
  width,
}: {
  bars: ReturnType<typeof orderBars>;
  range: [number, number];
  width: number;
}) {
  const first = bars[Math.min(from, to)];
  const last = bars[Math.max(from, to)];
  if (first === undefined || last === undefined) return null;
  return (
    <rect
      class="bar-highlight"
      x={first.x * width}
      y="0"
      width={Math.max((last.x + last.width - first.x) * width, 2)}
      height={HEIGHT}
    />
  );
}
