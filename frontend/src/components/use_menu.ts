/** What every menu needs: open or not, closed by a press elsewhere, by Tab out of it or by Esc, the focus back on its button. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Menu {
  open: boolean;
  setOpen: (open: boolean) => void;
  holder: RefObject<HTMLDivElement>;
  button: RefObject<HTMLButtonElement>;
  /** Closes and gives the focus back to the button. */
  close: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

export function useMenu(): Menu {
  const [open, setOpen] = useState(false);
  const holder = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (!open) return undefined;
    const onElsewhere = (event: Event): void => {
      if (!(event.target instanceof Node) || holder.current?.contains(event.target) !== true) setOpen(false);
    };
    document.addEventListener("pointerdown", onElsewhere);
    document.addEventListener("focusin", onElsewhere);
    return () => {
      document.removeEventListener("pointerdown", onElsewhere);
      document.removeEventListener("focusin", onElsewhere);
    };
  }, [open]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    event.preventDefault();
    close();
  };
  return { open, setOpen, holder, button, close, onKeyDown };
}
