/** The largest blocks that are in use at the clicked moment, and what it would cost to have them again. */
import type { MemoryHeldBlock } from "../../api/types";
import { PlainHead, atRight } from "../../components/plain_head";
import { Panel } from "../../components/panel";
import { Duration, Size, WrappingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { sizeUnit } from "../../format/bytes";
import { exactNumber, UNKNOWN } from "../../format/number";
import { categoryColour } from "../../model/memory_categories";

/** Rows of blocks that are alike. */
const MOST_ROWS = 15;

/** Blocks of one size, category, owner and stack, whose ops take alike, in the order of the first of each. */
function alike(blocks: readonly MemoryHeldBlock[]): MemoryHeldBlock[][] {
  const groups = new Map<string, MemoryHeldBlock[]>();
  for (const block of blocks) {
    const { size_bytes: size, category, owner, stack, op_gpu_time_average_ns: time, op_input_shapes: shapes } = block;
    const key = JSON.stringify([size, category, owner, stack, time, shapes]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [block]);
    else group.push(block);
  }
  return [...groups.values()];
}

/** Both ends of what several blocks have, once where they are the same. */
function Ends({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (known.length < values.length || known.length === 0) return <span class="unknown">{UNKNOWN}</span>;
  return (
    <>
      <Duration ns={least} />
      {least !== most && (
        <>
          {" "}
          to <Duration ns={most} />
        </>
      )}
    </>
  );
}

export function HeldBlocks({ blocks }: { blocks: readonly MemoryHeldBlock[] }) {
  if (blocks.length === 0) return null;
  const timed = blocks.some(({ allocated_ns: time }) => time !== null);
  const withOps = blocks.some(
    ({ op_gpu_time_average_ns: time, op_input_shapes: shapes }) => time !== null || shapes !== null,
  );
  const unit = sizeUnit(...blocks.map(({ size_bytes: size }) => size));
  const titles = [
    ...atRight(`Size (${unit.name})`, ""),
    "Category",
    "Allocated by",
    ...atRight(
      timed ? "Allocated at" : "Event",
      ...(timed ? ["Lifetime"] : []),
      ...(withOps ? ["GPU time of the op, a call"] : []),
    ),
    ...(withOps ? ["Inputs of the op"] : []),
  ];
  return (
    <Panel
      title="Largest Blocks Held Then"
      about={`Of the ${blocks.length} largest blocks, those that are alike are one row. GPU time is that of a call of the op that allocated the block, which having it again would cost: the mean over all its calls. Inputs are those of the op's first call.`}
    >
      <div class="memory-held-frame">
        <table class="plain-table memory-held">
          <PlainHead titles={titles} />
          <tbody>
            {alike(blocks)
              .slice(0, MOST_ROWS)
              .map((group) => [group, group[0]] as const)
              .map(
                ([group, block], number) =>
                  block !== undefined && (
                    <tr key={number}>
                      <td class="right">
                        <Size bytes={block.size_bytes} unit={unit} />
                      </td>
                      <td class="right">{group.length === 1 ? "" : `×${group.length}`}</td>
                      <td>
                        <span class="swatch" style={{ background: categoryColour(block.category) }} /> {block.category}
                      </td>
                      <td>
                        <AllocatedBy block={block} />
                      </td>
                      <td class="right">
                        <Allocated group={group} timed={timed} />
                      </td>
                      {timed && (
                        <td class="right">
                          {group.every(({ stays }) => stays) ? (
                            "not freed"
                          ) : group.some(({ stays }) => stays) ? (
                            "some not freed"
                          ) : (
                            <Ends values={group.map(({ lasts_ns: lasts }) => lasts)} />
                          )}
                        </td>
                      )}
                      {withOps && (
                        <>
                          <td class="right">
                            <Duration ns={block.op_gpu_time_average_ns} />
                          </td>
                          <td class="memory-shapes">
                            {block.op_input_shapes ?? <span class="unknown">{UNKNOWN}</span>}
                          </td>
                        </>
                      )}
                    </tr>
                  ),
              )}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Allocated({ group, timed }: { group: readonly MemoryHeldBlock[]; timed: boolean }) {
  const events = group.map(({ allocated_event: event }) => event).filter((event) => event !== null);
  if (events.length === 0) return <>before the recording</>;
  if (timed) return <Ends values={group.map(({ allocated_ns: time }) => time)} />;
  const [first, last] = [Math.min(...events), Math.max(...events)];
  return <>{first === last ? exactNumber(first) : `${exactNumber(first)} to ${exactNumber(last)}`}</>;
}

/** The op, which the page of ops shows, or the place in the program with the lines that called it. */
function AllocatedBy({ block: { owner, stack } }: { block: MemoryHeldBlock }) {
  if (owner === null && stack === null) return <span class="unknown">{UNKNOWN}</span>;
  if (stack !== null)
    return (
      <details class="memory-stack">
        <summary>{owner ?? stack.split(" < ")[0]}</summary>
        <ol>
          {stack.split(" < ").map((line, number) => (
            <li key={number}>{line}</li>
          ))}
        </ol>
      </details>
    );
  return owner?.startsWith("/") === true ? (
    <ViewLink class="link-button" to={{ view: "ops", "paths.search": owner }}>
      <WrappingPath path={owner} />
    </ViewLink>
  ) : (
    <>{owner}</>
  );
}
