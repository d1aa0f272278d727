/** A modal dialog: the page behind rests, Esc and the X close it, the focus goes back to where it was. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { ClosableHead } from "./closable_head";

interface DialogProps {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  // Before it is painted: a key pressed at once must not reach the page behind.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        // A details pane behind must not take this Esc too.
        if (event.key === "Escape") event.stopPropagation();
      }}
      onPointerDown={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div>
        <ClosableHead title={title} id={id} onClose={onClose} />
        <div class="dialog-body">{children}</div>
      </div>
    </dialog>
  );
}
