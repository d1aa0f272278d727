/** The model as areas: size is GPU time, or CPU time where there is none; colour is what the user asks. */
import { timeOf } from "../../model/tree_values";
import { useMemo } from "preact/hooks";

import { formatCounted } from "../../format/number";
import { formatDuration } from "../../format/time";
import { rowLabel } from "../../model/tree_row";
import type { Colouring } from "../../model/shades";
import { treemap } from "../../model/treemap";
import { tipOf } from "../tree/icicle";
import type { GroupTree } from "../tree/use_group_tree";
import { boxLabel, fitsBox } from "../text_width";
import { useHeight, useWidth } from "../use_width";
import { SelectedFrame } from "./selected_frame";

interface TreemapProps {
  tree: GroupTree;
  matrixUnit: string;
  colouring: Colouring;
}

export function Treemap({ tree, matrixUnit, colouring }: TreemapProps) {
  const [measureWidth, width] = useWidth(900);
  const [measureHeight, height] = useHeight(460);
  const { unordered: rows, selected } = tree;
  const { by, whole } = timeOf(rows.roots);
  const { boxes, withoutTime, tooSmall } = useMemo(() => treemap(rows, by, width, height), [rows, by, width, height]);
  const left = [
    ...(withoutTime > 0 && tree.timeless === null
      ? [`+${formatCounted(withoutTime, "group or op", "groups and ops")} without GPU time`]
      : []),
    ...(tooSmall > 0 ? [`+${formatCounted(tooSmall, "group or op", "groups and ops")} too small to draw`] : []),
  ];
  return (
    <div class="treemap" ref={measureWidth}>
      <div class="treemap-areas" ref={measureHeight}>
        {whole === 0 ? (
          <p class="nothing">No op has any time.</p>
        ) : (
          <svg
            class="picture"
            width={width}
            height={height}
            role="group"
            aria-label="Treemap of the groups; the table below has the same rows"
          >
            {boxes.map(({ row, x, y, width: wide, height: tall, open }) => {
              const time = formatDuration(row.values[by]);
              const both = `${rowLabel(row)}  ${time}`;
              const name = boxLabel(rowLabel(row), wide - 9);
              const text = open && fitsBox(both, wide - 9) ? both : name;
              return (
                <g
                  key={row.key}
                  class={`icicle-box shade-${colouring.of(row)}${open ? " open" : ""}${row === selected ? " selected" : ""}`}
                  data-tip={tipOf(row, by, tree.whole(by), matrixUnit)}
                  onClick={() => tree.select(row)}
                >
                  <rect x={x + 0.5} y={y + 0.5} width={Math.max(wide - 1, 1)} height={Math.max(tall - 1, 1)} rx="2" />
                  {text !== "" && tall >= 16 && (
                    <text x={x + 5} y={y + 13}>
                      {text}
                    </text>
                  )}
                  {!open && name !== "" && fitsBox(time, wide - 9) && tall >= 32 && (
                    <text class="treemap-time" x={x + 5} y={y + 28}>
                      {time}
                    </text>
                  )}
                </g>
              );
            })}
            {/* Above what is in it, which is drawn later. */}
            {boxes
              .filter(({ row }) => row === selected)
              .map(({ row, x, y, width: wide, height: tall }) => (
                <SelectedFrame key={`selected ${row.key}`} x={x + 0.5} y={y + 0.5} width={wide - 1} height={tall - 1} />
              ))}
          </svg>
        )}
      </div>
      {left.length > 0 && <p class="muted icicle-note">{left.join(", ")}.</p>}
    </div>
  );
}
