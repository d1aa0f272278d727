/** The communication matrix: what each rank sends to each, where partners are known. */
import { useContext } from "preact/hooks";

import type { JobPair, RankJob } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatBytes } from "../../format/bytes";
import { formatCount, formatCounted, significant, UNKNOWN } from "../../format/number";
import { formatDuration } from "../../format/time";
import { ThemeContext } from "../../frame/theme";
import { useUrl } from "../../frame/url";
import { rankLabel, scaleOf } from "../../model/ranks";
import { colourAt, isPale, ScaleBar } from "./scale";

const MEASURES = [
  ["bandwidth", "Bandwidth", "Median of the sends: bytes by transfer."],
  ["bytes", "Bytes", "Sum of the sends."],
  ["transfer_ns", "Transfer", "Sum of the sends."],
] as const;

const LABELS = 64;
const HEAD = 40;
/** Of the last column's label, half of which stands beside the cells. */
const MARGIN = 14;
/** Width of a digit of a label. */
const LETTER = 7;
const LARGEST = 560;
/** Cells of few ranks are wide enough for their number, and no higher than a row. */
const LARGEST_CELL = 72;
const LARGEST_ROW = 26;
/** Cells of large jobs stay visible, even if neighbours touch. */
const LEAST = 3;
/** Cells of this size have their number in them. */
const PRINTED = 60;

const rate = (bandwidth: number | null): string =>
  bandwidth === null ? UNKNOWN : `${significant(bandwidth / 1e9)} GB/s`;

export function Matrix({ job }: { job: RankJob }) {
  const theme = useContext(ThemeContext);
  const url = useUrl();
  const [measureWidth, width] = useWidth(900);
  const known = MEASURES.filter(([id]) => job.pairs.some((pair) => pair[id] !== null));
  if (known.length === 0) return null;
  const measure = chosenOf(known, url["ranks.matrix"]);
  const shown = (pair: JobPair): string =>
    measure === "bandwidth"
      ? rate(pair.bandwidth)
      : measure === "bytes"
        ? formatBytes(pair.bytes)
        : formatDuration(pair.transfer_ns);
  const values = job.pairs.map((pair) => pair[measure] ?? NaN);
  const { low, high } = scaleOf(values, true) ?? { low: 0, high: 0 };
  const ends = ([low, high] as const).map((end) =>
    measure === "bandwidth" ? rate(end) : measure === "bytes" ? formatBytes(end) : formatDuration(end),
  );
  const ranks = job.ranks.rank;
  const place = new Map(ranks.map((rank, at) => [rank, at]));
  const side = Math.min(Math.max(width - LABELS - MARGIN, 100), LARGEST, ranks.length * LARGEST_CELL);
  const cell = side / Math.max(ranks.length, 1);
  const row = Math.min(cell, LARGEST_ROW);
  const height = row * ranks.length;
  const digits = String(ranks.at(-1) ?? 0).length;
  const apart = 2 ** Math.max(Math.ceil(Math.log2((LETTER * digits + 8) / cell)), 0);
  const links = new Set(
    job.pairs.map(({ source, destination: to }) => `${Math.min(source, to)} ${Math.max(source, to)}`),
  );
  const marks = ranks.map((rank, at) => ({ rank, at })).filter(({ at }) => at % apart === 0);
  return (
    <Panel
      title="Communication Matrix"
      about="What ranks send each other: a row for each rank that sends, a column for each that receives. Only sends whose partners are recorded, or found by their ends; an outline marks slow ones."
      tools={
        known.length === 1 ? (
          <span class="muted">{known[0]?.[1]}</span>
        ) : (
          <Choice
            label="Cells show"
            options={known}
            value={measure}
            to={(id) => ({ "ranks.matrix": id === known[0]?.[0] ? null : id })}
          />
        )
      }
    >
      <div ref={measureWidth}>
        <svg
          class="rank-matrix"
          width={side + LABELS + MARGIN}
          height={height + HEAD + 2}
          role="img"
          aria-label={`Communication matrix of ${formatCounted(ranks.length, "rank")}, ${formatCounted(job.pairs.length, "pair")}`}
        >
          <text x={LABELS - 8} y={30} text-anchor="end" class="rank-matrix-axis">
            from
          </text>
          <text x={LABELS} y={12} class="rank-matrix-axis">
            {job.knows_ranks ? "to rank" : "to process"}
          </text>
          {marks.map(({ rank, at }) => (
            <g key={rank}>
              <text x={LABELS - 8} y={HEAD + (at + 0.5) * row} text-anchor="end" dominant-baseline="central">
                {apart > 1 ? (job.knows_ranks ? rank : rank + 1) : rankLabel(job, rank)}
              </text>
              <text x={LABELS + (at + 0.5) * cell} y={30} text-anchor="middle">
                {job.knows_ranks ? rank : rank + 1}
              </text>
            </g>
          ))}
          <rect class="rank-matrix-frame" x={LABELS} y={HEAD} width={side} height={height} />
          {job.pairs.flatMap((pair, number) => {
            const one = place.get(pair.source);
            const other = place.get(pair.destination);
            if (one === undefined || other === undefined) return [];
            const value = values[number] ?? NaN;
            const colour = Number.isNaN(value) ? null : colourAt(high > 0 ? value / high : 0, theme);
            const gap = cell > 8 ? 1 : 0;
            const from = rankLabel(job, pair.source);
            const to = rankLabel(job, pair.destination).toLowerCase();
            const tip = [
              pair.directed ? `${from} to ${to}` : `${from} and ${to}; who sends is not recorded`,
              `${formatCounted(pair.operations, "send")}, ${formatBytes(pair.bytes)}, transfer ${formatDuration(pair.transfer_ns)}`,
              `Bandwidth: ${rate(pair.bandwidth)}${pair.slow ? "; slower than others" : ""}`,
            ].join("\n");
            return (
              pair.directed
                ? [[one, other]]
                : [
                    [one, other],
                    [other, one],
                  ]
            ).map(([line = 0, column = 0]) => {
              const x = LABELS + column * cell;
              const y = HEAD + line * row;
              return (
                <g key={`${line} ${column}`} data-tip={tip}>
                  <rect
                    x={x}
                    y={y}
                    width={Math.max(cell - gap, LEAST)}
                    height={Math.max(row - gap, LEAST)}
                    class={pair.slow ? "rank-matrix-slow" : undefined}
                    fill={colour === null ? "var(--line)" : `rgb(${colour.join()})`}
                  />
                  {cell >= PRINTED && (
                    <text
                      x={x + cell / 2}
                      y={y + row / 2}
                      text-anchor="middle"
                      dominant-baseline="central"
                      fill={colour === null ? "var(--text)" : isPale(colour) ? "#000" : "#fff"}
                    >
                      {shown(pair)}
                    </text>
                  )}
                </g>
              );
            });
          })}
        </svg>
        <div class="heat-legend">
          <ScaleBar low={ends[0] ?? ""} high={ends[1] ?? ""} />
          <span class="muted">
            {formatCount(links.size)} of {formatCount((ranks.length * (ranks.length - 1)) / 2)} pairs are known to
            exchange data
          </span>
        </div>
      </div>
    </Panel>
  );
}
