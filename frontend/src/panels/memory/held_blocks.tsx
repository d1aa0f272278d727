/** The largest blocks that are in use at the clicked moment, and what it would cost to have them again. */
import type { MemoryHeldBlock } from "../../api/types";
import { PlainHead, atRight } from "../../components/plain_head";
import { Panel } from "../../components/panel";
import { Duration, Size, WrappingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { sizeUnit } from "../../format/bytes";
import { exactNumber, UNKNOWN } from "../../format/number";
import { categoryColour } from "../../model/memory_categories";

export function HeldBlocks({ blocks }: { blocks: readonly MemoryHeldBlock[] }) {
  if (blocks.length === 0) return null;
  const timed = blocks.some(({ allocated_ns: time }) => time !== null);
  const withOps = blocks.some(
    ({ op_gpu_time_average_ns: time, op_input_shapes: shapes }) => time !== null || shapes !== null,
  );
  const unit = sizeUnit(Math.max(...blocks.map(({ size_bytes: size }) => size)));
  const titles = [
    ...atRight(`Size (${unit.name})`),
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
      about="GPU time is that of a call of the op that allocated the block, which having it again would cost: the mean over all its calls. Inputs are those of the op's first call."
    >
      <div class="memory-held-frame">
        <table class="plain-table memory-held">
          <PlainHead titles={titles} />
          <tbody>
            {blocks.map((block, number) => (
              <tr key={number}>
                <td class="right">
                  <Size bytes={block.size_bytes} unit={unit} />
                </td>
                <td>
                  <span class="swatch" style={{ background: categoryColour(block.category) }} /> {block.category}
                </td>
                <td>
                  <AllocatedBy block={block} />
                </td>
                <td class="right">
                  <Allocated block={block} timed={timed} />
                </td>
                {timed && <td class="right">{block.stays ? "not freed" : <Duration ns={block.lasts_ns} />}</td>}
                {withOps && (
                  <>
                    <td class="right">
                      <Duration ns={block.op_gpu_time_average_ns} />
                    </td>
                    <td class="memory-shapes">{block.op_input_shapes ?? <span class="unknown">{UNKNOWN}</span>}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Allocated({ block, timed }: { block: MemoryHeldBlock; timed: boolean }) {
  const { allocated_ns: time, allocated_event: event } = block;
  if (event === null) return <>before the recording</>;
  return timed ? <Duration ns={time} /> : <>{exactNumber(event)}</>;
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
