/** Who allocated what is held at a moment: modules, ops or lines, stacks, or sizes of blocks, as bars. */
import type { MemoryAt, MemoryDevice } from "../../api/types";
import { Choice } from "../../components/choice";
import { Panel } from "../../components/panel";
import { textWidth } from "../../components/text_width";
import { FittingPath } from "../../components/value";
import { formatBytes } from "../../format/bytes";
import { formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import { stackLabels } from "../../model/stack_label";
import { exactly, isTiny, partOf } from "./share";

export const GROUPINGS = [
  ["module", "Module or file"],
  ["op", "Op or line"],
  ["stack", "Stack"],
  ["size", "Size"],
] as const;

export type Grouping = (typeof GROUPINGS)[number][0];

const MOST_ROWS = 15;
/** The server tells so many, the largest. */
const MOST_TOLD = 50;

/** The sums by each grouping. */
export function groupsOf(lists: MemoryAt | MemoryDevice, by: Grouping) {
  switch (by) {
    case "module":
      return lists.by_module.map(({ module: name, ...rest }) => ({ name, ...rest }));
    case "op":
      return lists.by_owner.map(({ owner: name, ...rest }) => ({ name, ...rest }));
    case "stack":
      return lists.by_stack.map(({ stack: name, ...rest }) => ({ name, ...rest }));
    case "size":
      return lists.by_size.map(({ size: name, ...rest }) => ({ name, ...rest }));
  }
}

interface HeldByProps {
  /** What moment it is. */
  when: string;
  owners: ReturnType<typeof groupsOf>;
  whole: number;
  groupings: readonly (typeof GROUPINGS)[number][];
  grouping: Grouping;
}

export function HeldBy({ when, owners, whole, groupings, grouping }: HeldByProps) {
  const shown = owners.filter(({ bytes }) => !isTiny(bytes, whole)).slice(0, MOST_ROWS);
  const more = owners.length - shown.length;
  const names = shown.map(({ name }) => name);
  const labels = grouping === "stack" ? stackLabels(names) : names;
  const rest = whole - shown.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <Panel
      title={`${when}, by ${grouping === "size" ? "Size of Blocks" : "Who Allocated It"}`}
      about="The modules and ops that allocated what is held, or the files and lines of the program, with what they call (after >) as stacks. What repeats in a model is one row."
      tools={<Choice label="Group by" options={groupings} value={grouping} to={(by) => ({ "memory.by": by })} />}
    >
      <ul class="memory-rows" style={nameRoom(labels)}>
        {shown.map(({ name, bytes, blocks }, row) => (
          <Row key={name} name={labels[row] ?? name} tip={exactly(name, bytes, blocks)} bytes={bytes} whole={whole} />
        ))}
      </ul>
      {more > 0 && (
        <p class="muted note-below">
          {owners.length < MOST_TOLD ? `+${formatCount(more)} more` : "All others"}: {formatBytes(rest)}
        </p>
      )}
    </Panel>
  );
}

/** Not what it is, which the categories tell. */
const NOT_KNOWN = "not known who";

interface RowProps {
  name: string;
  tip: string;
  bytes: number;
  whole: number;
}

/** The room that the longest of these names needs: bars begin next to it. */
const nameRoom = (names: readonly string[]) => ({
  "--name-room": `${Math.ceil(Math.max(...names.map(textWidth), 0)) + 2}px`,
});

function Row({ name, tip, bytes, whole }: RowProps) {
  const share = partOf(bytes, whole);
  return (
    <li data-tip={tip}>
      <span class="memory-name">
        {/* The line of a program tells it from others. */}
        {name === "unknown" ? (
          NOT_KNOWN
        ) : name.includes(" > ") || name.includes(" < ") ? (
          name
        ) : (
          <FittingPath path={name} />
        )}
      </span>
      <span class="memory-track">
        <span style={{ width: `${(share ?? 0) * 100}%` }} />
      </span>
      <span class="number">{formatBytes(bytes)}</span>
      <span class="number muted">{formatShare(share)}</span>
    </li>
  );
}
