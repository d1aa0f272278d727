import { copyText } from "../host/tensorboard";
import { Icon } from "./icon";
import { COPIED_MS, useNotice } from "./use_notice";

interface CopyButtonProps {
  text: string;
  /** What is copied, for the label. */
  what: string;
  /** Whether Tab stops here; within a table's cell the cell itself is copied by Ctrl+C. */
  walk?: boolean;
}

/** Copies a text and says so. */
export function CopyButton({ text, what, walk = true }: CopyButtonProps) {
  const [copied, setCopied] = useNotice<boolean>(COPIED_MS);
  return (
    <button
      type="button"
      tabIndex={walk ? 0 : -1}
      class="icon-button copy-button"
      aria-label={copied === true ? "Copied" : `Copy ${what}`}
      data-tip={copied === true ? "Copied" : `Copy ${what}`}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(text).then(setCopied);
      }}
    >
      <Icon name={copied === true ? "check" : "copy"} />
    </button>
  );
}
