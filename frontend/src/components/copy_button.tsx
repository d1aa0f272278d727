import { useEffect, useState } from "preact/hooks";

import { copyText } from "../host/tensorboard";
import { Icon } from "./icon";

/** Copies a text and says so. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
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
