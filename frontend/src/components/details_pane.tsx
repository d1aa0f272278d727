import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { ClosableHead } from "./closable_head";

interface DetailsPaneProps {
  title: string;
  onClose: () => void;
  /** Leaves the focus where it is: for panes that follow a selection. */
  calm?: boolean;
  children: ComponentChildren;
}

/** A pane at the right side; X or Esc closes it and gives the focus back. */
export function DetailsPane({ title, onClose, calm = false, children }: DetailsPaneProps) {
  const pane = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  // Before it is painted: an Esc pressed at once must close it.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    if (!calm) pane.current?.focus();
    // Where the window is narrow, the pane lies over the end of the page: what was selected must not be under it.
    else if (opener !== document.body) opener?.scrollIntoView({ block: "nearest" });
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      if (!calm && opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, [title, calm]);
  return (
    <aside class="details-pane" aria-label={title} tabIndex={-1} ref={pane}>
      <ClosableHead title={title} onClose={onClose} />
      <div class="details-body">{children}</div>
    </aside>
  );
}
