import { textWidth } from "../../components/text_width";
import { formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import {
  compatibilityOf,
  compatibilityText,
  LEGIBLE,
  NODE,
  type Compatibility,
  type GraphNode,
  type GraphRest,
} from "../../model/graph_layout";
import { shortened } from "../../model/folding";
import { coreStep } from "../../model/shades";
import { countedLabel, partTip, shownPath, type TreeRow } from "../../model/tree_row";
import { knownOf, mayBeMoreTime, tensorCoreShare } from "../../model/tree_values";

const STRIPED = [
  ["not-using", "not_using"],
  ["eligible", "eligible"],
] as const satisfies readonly (readonly [id: string, kind: Compatibility])[];

/** Stripes for those that do not use the units, or of which that is not known. */
export function NodePatterns() {
  return (
    <defs>
      {STRIPED.map(([id, kind]) => (
        <pattern key={id} id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="stripe-ground" width="6" height="6" />
          <rect class={`stripe ${kind}`} width="3" height="6" />
        </pattern>
      ))}
    </defs>
  );
}

interface NodeBoxProps {
  node: GraphNode;
  core: string;
  /** Whether kernels were recorded. */
  onGpu: boolean;
  selected: boolean;
  focused: boolean;
  chained: boolean;
  /** Of the time of the whole model. */
  share: number;
  /** Of the drawing. */
  scale: number;
  onSelect: () => void;
  onToggle: () => void;
}

/** A text is no smaller on screen, and no larger in its box. */
const SMALLEST_PX = 10;
const LARGEST_IN_BOX = 26;
/** As the style sheet says. */
const NAME_PX = 13;

/** Of the texts: that of the page as it is measured, in the sizes and weights of the style sheet. */
const FONT = { name: 1.16, words: 0.93 };
/** Left of the texts, and right of them up to the button. */
const BESIDE = 18 + 14;

const timeOf = (row: TreeRow, onGpu: boolean): string =>
  formatDuration(knownOf(row, onGpu ? "gpu_time_ns" : "cpu_time_ns"));

/** How much of its kernel time is on matrix units says more than how many ops use them, as far as it is known. */
const wordsOf = (row: TreeRow, core: string, onGpu: boolean): string => {
  const share = row.values.using_ops > 0 && !mayBeMoreTime(row) ? tensorCoreShare(row) : null;
  const words = share === null ? compatibilityText(row, core, onGpu) : `${formatShare(share)} ${core}`;
  return `${onGpu ? "" : "CPU "}${timeOf(row, onGpu)} · ${words}`;
};

/** The width of a box in which nothing is cut. */
export const nodeWidth = (row: TreeRow, core: string, onGpu: boolean): number =>
  BESIDE +
  1 +
  Math.ceil(Math.max(textWidth(countedLabel(row)) * FONT.name, textWidth(wordsOf(row, core, onGpu)) * FONT.words));

const lettersFor = (text: string, room: number): number =>
  Math.min(Math.max(Math.floor((text.length * room) / textWidth(text)), 3), text.length);

const shortenedTo = (text: string, room: number): string => shortened(text, lettersFor(text, room));

/** Cut at its end: the time comes first. */
function begun(text: string, room: number): string {
  const letters = lettersFor(text, room);
  return letters === text.length ? text : `${text.slice(0, letters - 1).trimEnd()}…`;
}

export function NodeBox(props: NodeBoxProps) {
  const { node, core, onGpu, selected, focused, chained, share, scale, onSelect, onToggle } = props;
  const { row, x, y, width, open } = node;
  const words = compatibilityText(row, core, onGpu);
  const of = compatibilityOf(row, onGpu);
  const kind = of === "using" ? `using shade-${coreStep(tensorCoreShare(row) ?? 0)}` : of;
  const time = timeOf(row, onGpu);
  const room = width - BESIDE;
  // Drawn small, a name alone is read.
  const large = Math.min(Math.max(SMALLEST_PX / scale, NAME_PX), LARGEST_IN_BOX);
  return (
    <g
      class={`graph-node${selected ? " selected" : ""}${focused ? " focused" : ""}${chained ? " chained" : ""}${row.isOp ? " op" : ""}`}
      transform={`translate(${x} ${y})`}
      data-tip={`${shownPath(row)}${partTip(row)}\n${words}\n${onGpu ? "GPU" : "CPU"} time ${time}${row.gathers === null && row.members.length > 1 ? `\n${formatCount(row.members.length)} alike, added up` : ""}`}
      onClick={onSelect}
    >
      <rect class="node-box" width={width} height={NODE.height} rx="6" />
      <rect
        class={`node-fill ${kind}`}
        x="1"
        y="1"
        width={Math.max(share * (width - 2), 0)}
        height={NODE.height - 2}
        rx="5"
      />
      <rect class={`node-mark ${kind}`} x="1" y="1" width="10" height={NODE.height - 2} rx="5" />
      {scale < LEGIBLE ? (
        <text class="node-name" x="18" y={NODE.height / 2 + 0.35 * large} style={{ fontSize: `${large}px` }}>
          {shortenedTo(countedLabel(row), room / (FONT.name * (large / NAME_PX)))}
        </text>
      ) : (
        <>
          <text class="node-name" x="18" y="17">
            {shortenedTo(countedLabel(row), room / FONT.name)}
          </text>
          <text class="node-words" x="18" y="33">
            {begun(wordsOf(row, core, onGpu), room / FONT.words)}
          </text>
        </>
      )}
      {row.expandable && (
        <g
          class="node-toggle"
          transform={`translate(${width} ${NODE.height / 2})`}
          data-tip={open ? "Close" : "Open"}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <circle r="8" />
          <path d={open ? "M-4 0h8" : "M-4 0h8M0 -4v8"} />
        </g>
      )}
    </g>
  );
}

/** In place of nodes that take little: how many they are, and their time. */
export function RestBox({ rest, onGpu, onShow }: { rest: GraphRest; onGpu: boolean; onShow: () => void }) {
  const sum = rest.rows.reduce((all, { values }) => all + values[onGpu ? "gpu_time_ns" : "cpu_time_ns"], 0);
  return (
    <g
      class="graph-rest"
      transform={`translate(${rest.x} ${rest.y})`}
      data-tip={`${rest.rows.slice(0, 8).map(countedLabel).join("\n")}${rest.rows.length > 8 ? "\n…" : ""}\nA click shows each`}
      onClick={onShow}
    >
      <rect class="node-box" width={rest.width} height={NODE.rest - 10} rx="6" />
      <text class="node-words" x="18" y="14">
        +{formatCount(rest.rows.length)} more · {formatDuration(sum)}
      </text>
    </g>
  );
}
