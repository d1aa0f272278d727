/** The model as areas: size is GPU time, or CPU time where there is none; colour is what the user asks. */
import { timeOf } from "../../model/tree_values";
import { useMemo } from "preact/hooks";

import { formatCounted } from "../../format/number";
import { formatDuration } from "../../format/time";
import { labelOf } from "../../model/kernel_name";
import type { Colouring } from "../../model/shades";
import { treemap } from "../../model/treemap";
import { tipOf } from "../tree/icicle";
import type { GroupTree } from "../tree/use_group_tree";
import { boxLabel, fitsBox } from "../text_width";
import { useWidth } from "../use_width";

const HEIGHT = 460;

interface TreemapProps {
  tree: GroupTree;
  matrixUnit: string;
  colouring: Colouring;
}

export function Treemap({ tree, matrixUnit, colouring }: TreemapProps) {
  const [measure, width] = useWidth(900);
  const { unordered: rows, selected } = tree;
  const { by, whole } = timeOf(rows.roots);
  const { boxes, withoutTime, tooSmall } = useMemo(() => treemap(rows, by, width, HEIGHT), [rows, by, width]);
  const left = [
    ...(withoutTime > 0 && tree.timeless === null
      ? [`+${formatCounted(withoutTime, "group or op", "groups and ops")} without GPU time`]
      : []),
    ...(tooSmall > 0 ? [`+${formatCounted(tooSmall, "group or op", "groups and ops")} too small to draw`] : []),
  ];
  return (
    <div class="treemap" ref={measure}>
      {whole === 0 ? (
        <p class="nothing">No op has any time.</p>
      ) : (
        <svg
          class="picture"
          width={width}
          height={HEIGHT}
          role="group"
          aria-label="Treemap of the groups; the table below has the same rows"
        >
          {boxes.map(({ row, x, y, width: wide, height: tall, open }) => {
            const time = formatDuration(row.values[by]);
            const both = `${labelOf(row.name)}  ${time}`;
            const name = boxLabel(row.name, wide - 9);
            const text = open && fitsBox(both, wide - 9) ? both : name;
            return (
              <g
                key={row.key}
                class={`icicle-box shade-${colouring.of(row)}${open ? " open" : ""}${row === selected ? " selected" : ""}`}
                data-tip={tipOf(row, by, whole, matrixUnit)}
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
        </svg>
      )}
      {left.length > 0 && <p class="muted icicle-note">{left.join(", ")}.</p>}
    </div>
  );
}
