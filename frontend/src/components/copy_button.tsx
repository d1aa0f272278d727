import { useEffect, useState } from "preact/hooks";

import { copyText } from "../host/tensorboard";
import { Icon } from "./icon";

interface CopyButtonProps {
  text: string;
  /** What is copied, for the label. */
  what: string;
  /** Whether Tab stops here; within a table's cell the cell itself is copied by Ctrl+C. */
  walk?: boolean;
}

/** Copies a text and says so. */
export function CopyButton({ text, what, walk = true }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      tabIndex={walk ? 0 : -1}
      class="icon-button copy-button"
      aria-label={copied ? "Copied" : `Copy ${what}`}
      data-tip={copied ? "Copied" : `Copy ${what}`}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(text).then(setCopied);
      }}
    >
      <Icon name={copied ? "check" : "copy"} />
    </button>
  );
}
