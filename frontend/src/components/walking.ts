/** Links and buttons in a row as one tab stop: arrow keys, Home and End walk in it, Enter and Space press as ever. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A choice in the row is a stop of its own, and so are fields and a menu that one of the buttons has opened. */
const entriesOf = (row: Element): HTMLElement[] =>
  [...row.querySelectorAll<HTMLElement>("a, button:not(:disabled)")].filter((each) => {
    const inner = each.closest(".menu, .choice > .button-group");
    return inner === null || inner === row;
  });

export function walk(event: KeyboardEvent): void {
  const row = event.currentTarget as Element;
  const entries = entriesOf(row);
  const from = entries.indexOf(document.activeElement as HTMLElement);
  const next = (from + 1) % entries.length;
  const before = (from - 1 + entries.length) % entries.length;
  const isList = row.localName === "ul";
  const to = {
    ArrowRight: next,
    ArrowLeft: before,
    ...(isList && { ArrowDown: next, ArrowUp: before }),
    Home: 0,
    End: entries.length - 1,
  }[event.key];
  if (from < 0 || to === undefined) return;
  entries[to]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface OneStop<Row extends Element> {
  ref: RefObject<Row>;
  onKeyDown: (event: KeyboardEvent) => void;
  onFocusIn: () => void;
}

/** What makes an element such a row, whatever stands in it; Tab comes back to where the focus was. */
export function useOneStop<Row extends Element>(): OneStop<Row> {
  const ref = useRef<Row>(null);
  const settle = (): void => {
    const entries = ref.current === null ? [] : entriesOf(ref.current);
    const stop =
      entries.find((each) => each === document.activeElement) ??
      entries.find(({ tabIndex }) => tabIndex === 0) ??
      entries[0];
    for (const each of entries) each.tabIndex = each === stop ? 0 : -1;
    // A browser takes a drawing that listens to the focus for one that wants it.
    if (ref.current instanceof SVGElement) ref.current.tabIndex = -1;
  };
  useLayoutEffect(settle);
  return { ref, onKeyDown: walk, onFocusIn: settle };
}
