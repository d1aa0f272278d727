import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { Icon } from "../components/icon";

interface DetailsPaneProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A pane at the right side; X or Esc closes it and gives the focus back. */
export function DetailsPane({ title, onClose, children }: DetailsPaneProps) {
  const pane = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const opener = document.activeElement;
    pane.current?.focus();
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, [title]);
  return (
    <aside class="details-pane" aria-label={title} tabIndex={-1} ref={pane}>
      <header class="panel-head">
        <h2>{title}</h2>
        <div class="panel-tools">
          <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
      </header>
      <div class="details-body">{children}</div>
    </aside>
  );
}
