/**
 * What every menu needs: open or not, closed by a press elsewhere, by Tab out of it or by Esc, the focus back on its button.
 * The arrow keys open it and walk round its entries, Home and End go to the first and the last.
 */
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

/** What would stand out of the window is moved into it, so far from its edge, px. */
const EDGE = 8;

const ENTRIES = ".menu :is(a[href], button, input[type=checkbox]):not(:disabled)";

/** At which entry a key arrives; null for keys that do not walk. `at` is -1 before the first. */
function arrival(key: string, at: number, entries: number): number | null {
  if (key === "ArrowDown") return (at + 1) % entries;
  if (key === "ArrowUp") return at <= 0 ? entries - 1 : at - 1;
  if (at < 0) return null;
  return key === "Home" ? 0 : key === "End" ? entries - 1 : null;
}

export function useMenu(): Menu {
  const [open, setOpen] = useState(false);
  const holder = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  /** The key that opened it, which goes on to an entry once there are some. */
  const opener = useRef("");
  const entries = (): HTMLElement[] => [...(holder.current?.querySelectorAll<HTMLElement>(ENTRIES) ?? [])];
  useLayoutEffect(() => {
    if (!open) return undefined;
    if (opener.current !== "" && holder.current?.querySelector(".menu")?.contains(document.activeElement) !== true)
      entries()
        .at(opener.current === "ArrowUp" ? -1 : 0)
        ?.focus();
    opener.current = "";
    const menu = holder.current?.querySelector<HTMLElement>(".menu");
    const { scrollLeft, clientWidth } = document.documentElement;
    const over = (menu?.getBoundingClientRect().right ?? 0) + scrollLeft + EDGE - clientWidth;
    if (menu && over > 0) menu.style.translate = `${-over}px`;
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
    if (event.key === "Escape" && open) close();
    else if (!open && event.target === button.current && /^Arrow(?:Down|Up)$/.test(event.key)) {
      opener.current = event.key;
      setOpen(true);
    } else if (open) {
      const list = entries();
      const to = arrival(event.key, list.indexOf(event.target as HTMLElement), list.length);
      if (to === null || list.length === 0) return;
      list[to]?.focus();
    } else return;
    event.stopPropagation();
    event.preventDefault();
  };
  return { open, setOpen, holder, button, close, onKeyDown };
}
