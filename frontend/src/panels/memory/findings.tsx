/** What to change about memory, in the order of the server: what is needed first. */
import type { MemoryDevice } from "../../api/types";
import { CopyButton } from "../../components/copy_button";
import { Panel } from "../../components/panel";

/** A setting of PyTorch's allocator at the beginning of advice. */
const SETTING = /^PYTORCH\w+=[^\s,]+/;

/** What finds that the GPU has room for more. */
const ROOM = "batch_size_detector";

/** While the GPU has room, nothing needs what would save some, and the curve comes first. */
export const hasRoom = ({ findings }: Pick<MemoryDevice, "findings">): boolean =>
  findings.some(({ rule }) => rule === ROOM);

/** What to change, before all that shows why; one sentence is a line. */
export function Findings({ findings }: Pick<MemoryDevice, "findings">) {
  const room = hasRoom({ findings });
  const needed = findings.filter(({ rule, severity }) => !room || rule === ROOM || severity !== "info");
  if (needed.length === 0) return null;
  return (
    <Panel title="What to Change">
      <ul class="memory-findings">
        {needed.map(({ rule, title, action }) => (
          <li key={rule}>
            <strong>{title}.</strong> {action}{" "}
            {SETTING.exec(action)?.map((setting) => (
              <CopyButton key={setting} text={setting} what="the setting" />
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
