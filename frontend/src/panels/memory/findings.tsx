/** What to change about memory, in the order of the server: what is needed first. */
import type { MemoryDevice } from "../../api/types";
import { CopyButton } from "../../components/copy_button";
import { Panel } from "../../components/panel";

/** A setting of PyTorch's allocator at the beginning of advice. */
const SETTING = /^PYTORCH\w+=[^\s,]+/;

/** What finds that the GPU has room for more. */
const ROOM = "batch_size_detector";

/** What to change, before all that shows why. */
export function Findings({ findings }: Pick<MemoryDevice, "findings">) {
  if (findings.length === 0) return null;
  // While the GPU has room, what would save some is information only.
  const hasRoom = findings.some(({ rule }) => rule === ROOM);
  const isNeeded = ({ rule, severity }: MemoryDevice["findings"][number]): boolean =>
    !hasRoom || rule === ROOM || severity !== "info";
  return (
    <Panel title="What to Change">
      <ul class="memory-findings">
        {findings.map((finding) => {
          const { rule, title, action } = finding;
          return (
            <li key={rule} class={isNeeded(finding) ? undefined : "muted"}>
              {isNeeded(finding) ? <strong>{title}.</strong> : `${title}.`} {action}{" "}
              {SETTING.exec(action)?.map((setting) => (
                <CopyButton key={setting} text={setting} what="the setting" />
              ))}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
