/** The tree as an icicle: width is GPU time, colour the share of Tensor Core kernels. Linked with the table both ways. */
import { useMemo, useRef } from "preact/hooks";

import { formatCount, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { readableAndExact } from "../../format/time";
import { causesTip } from "../../model/causes";
import { partTip, rowLabel, shownPath, type TreeRow } from "../../model/tree_row";
import {
  chainOf,
  limitedNs,
  onlyCommunicates,
  mayBeMoreOps,
  mayBeMoreTime,
  tensorCoreShare,
  timeOf,
  type Measure,
} from "../../model/tree_values";
import { icicleParts, type IcicleBox } from "../../model/icicle";
import type { Colouring, Step } from "../../model/shades";
import { SelectedFrame } from "../charts/selected_frame";
import { useCached } from "../use_cached";
import { boxLabel } from "../text_width";
import { useWidth } from "../use_width";
import type { GroupTree } from "./use_group_tree";

const ROW = 24;
const NARROWEST_PX = 1;

interface IcicleProps {
  tree: GroupTree;
  matrixUnit: string;
  colouring: Colouring;
  /** What a box says of its row, where that is not how it uses matrix units. */
  tip?: (row: TreeRow) => string;
}

export function Icicle({ tree, matrixUnit, colouring, tip }: IcicleProps) {
  const [measure, width] = useWidth(600);
  const { unordered: rows, selected } = tree;
  const current = useRef(tree);
  current.current = tree;
  const { by, whole } = timeOf(rows.roots);
  const { boxes, rests } = useMemo(
    () => icicleParts(rows, rows.roots, by, NARROWEST_PX / Math.max(width, 1)),
    [rows, by, width],
  );
  const keep = useCached([boxes, width, matrixUnit, colouring.label]);
  const wordsOf = (row: TreeRow): string => tip?.(row) ?? tipOf(row, by, tree.whole(by), matrixUnit);
  const chain = new Set(chainOf(selected));
  const deepest = [...boxes, ...rests].reduce((most, { depth }) => Math.max(most, depth), 0);
  const height = (deepest + 1) * ROW + 2;
  const at = boxes.findIndex(({ row }) => row === selected);

  const onKey = (event: KeyboardEvent): void => {
    const next = neighbour(boxes, at, event.key);
    if (next === null) return;
    event.preventDefault();
    tree.select(next.row);
  };
  return (
    <div class="icicle-chart">
      <div class="icicle-plot" ref={measure}>
        {whole === 0 ? (
          <p class="nothing">No op has any time.</p>
        ) : (
          <svg
            class="picture"
            width={width}
            height={height}
            role="application"
            aria-label="Icicle of the groups; the arrow keys select: down the longest child, up the level above, left and right its neighbours"
            tabindex={0}
            onKeyDown={onKey}
          >
            {boxes.map((box) => {
              const { row } = box;
              const chained = chain.has(row);
              return keep(row.key, `${row === selected} ${chained}`, () => (
                <Box
                  key={row.key}
                  box={box}
                  width={width}
                  tip={wordsOf(row)}
                  selected={row === selected}
                  chained={chained}
                  shade={colouring.of(row)}
                  onSelect={() => current.current.select(row)}
                  onZoom={() => {
                    if (!row.isOp && row.gathers === null && row.members.length === 1)
                      current.current.change({ root: row.key, level: null, toggled: null });
                  }}
                />
              ));
            })}
            {rests.map((rest) => (
              <rect
                key={`${rest.depth} ${rest.x}`}
                class="icicle-rest"
                x={rest.x * width}
                y={rest.depth * ROW + 1}
                width={rest.width * width}
                height={ROW - 1}
                data-tip={`${formatCounted(rest.count, "more group or op", "more groups and ops")}, each too short for a box\n${by === "gpu_time_ns" ? "GPU" : "CPU"} time ${readableAndExact(rest.sum)}, ${formatShare(shareOf(rest.sum, tree.whole(by)))} of the whole`}
              />
            ))}
            {boxes[at] !== undefined && (
              <SelectedFrame
                x={boxes[at].x * width}
                y={boxes[at].depth * ROW + 1}
                width={boxWidth(boxes[at], width)}
                height={ROW - 1}
              />
            )}
          </svg>
        )}
      </div>
      <p class="visually-hidden" role="status">
        {selected === null ? "" : wordsOf(selected)}
      </p>
    </div>
  );
}

export function tipOf(row: TreeRow, by: Measure, whole: number, unit: string): string {
  const share = tensorCoreShare(row);
  return [
    shownPath(row) + partTip(row),
    `${by === "gpu_time_ns" ? "GPU" : "CPU"} time ${readableAndExact(row.values[by])}, ${formatShare(shareOf(row.values[by], whole))} of the whole`,
    share === null
      ? row.unknown.has("tensor_core_time_ns")
        ? `Whether kernels use ${unit}s is not known`
        : row.values.kernel_time_ns === 0
          ? "No kernels"
          : onlyCommunicates(row)
            ? "Communication"
            : `No op is known to be eligible for ${unit}s`
      : `${unit} kernels ${mayBeMoreTime(row) ? "at least " : ""}${formatShare(share)} of the kernel time: ${readableAndExact(row.values.tensor_core_time_ns)} of ${readableAndExact(row.values.kernel_time_ns)}`,
    row.unknown.has("eligible_ops")
      ? `Whether it could use ${unit}s is not known`
      : row.unknown.has("using_ops")
        ? `How many of ${formatCount(row.values.eligible_ops)} eligible ops use ${unit}s is not known`
        : `${mayBeMoreOps(row) ? "At least " : ""}${formatCount(row.values.using_ops)} of ${formatCount(Math.max(row.values.eligible_ops, row.values.using_ops))} eligible ops use ${unit}s`,
    ...(row.causes.length > 0 ? [causesTip(row.causes, limitedNs(row), unit)] : []),
  ].join("\n");
}

interface BoxProps {
  box: IcicleBox;
  width: number;
  tip: string;
  selected: boolean;
  chained: boolean;
  shade: Step;
  onSelect: () => void;
  onZoom: () => void;
}

/** With a gap to the next one, where there is room for that. */
const boxWidth = (box: IcicleBox, width: number): number =>
  Math.max(box.width * width - (box.width * width > 3 ? 1 : 0), 0.6);

function Box({ box, width, tip, selected, chained, shade, onSelect, onZoom }: BoxProps) {
  const x = box.x * width;
  const wide = boxWidth(box, width);
  const { row } = box;
  const label = boxLabel(rowLabel(row), wide - 8);
  return (
    <g
      class={`icicle-box shade-${shade}${selected ? " selected" : ""}${chained ? " chained" : ""}`}
      data-tip={tip}
      onClick={onSelect}
      onDblClick={onZoom}
    >
      <rect x={x} y={box.depth * ROW + 1} width={wide} height={ROW - 1} />
      {label !== "" && (
        <text x={x + 4} y={box.depth * ROW + 16}>
          {label}
        </text>
      )}
    </g>
  );
}

/** The box that an arrow key leads to. */
function neighbour(boxes: readonly IcicleBox[], at: number, key: string): IcicleBox | null {
  const box = boxes[at];
  if (box === undefined) return key.startsWith("Arrow") ? (boxes[0] ?? null) : null;
  const right = box.x + box.width;
  if (key === "ArrowUp") return boxes.find(({ row }) => row === box.row.parent) ?? null;
  if (key === "ArrowDown") return boxes.find(({ row }) => row.parent === box.row) ?? null;
  const level = boxes.filter(({ depth }) => depth === box.depth);
  if (key === "ArrowRight") return level.find(({ x }) => x >= right - 1e-9) ?? null;
  if (key === "ArrowLeft") return level.filter(({ x }) => x < box.x - 1e-9).at(-1) ?? null;
  return null;
}
