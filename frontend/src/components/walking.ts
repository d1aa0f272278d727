/**
 * Links, buttons and menus in a row as one tab stop: arrow keys, Home and End walk in it, Enter and Space press as ever; in a menu
 * all but left and right choose. A row inside of another is a part of it.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const ROW = "[data-one-stop]";

const LIST = "ul, ol, tbody";

const SIDEWAYS: ReadonlySet<string> = new Set(["ArrowLeft", "ArrowRight"]);

/** What one of the buttons has opened, forms and tables have stops of their own, and so has a table's title: its tools would hide behind it. */
const APART = ".menu, dialog, fieldset, [role=grid], [role=treegrid], .table-title";

/** Whether an element stands in something apart inside of a row. */
function isApart(element: Element, row: Element): boolean {
  const apart = element.closest(APART);
  return apart !== null && apart !== row && row.contains(apart);
}

const entriesOf = (row: Element): HTMLElement[] =>
  [
    ...row.querySelectorAll<HTMLElement>(
      "a, button:not(:disabled), summary, input[type=checkbox], select:not(:disabled)",
    ),
  ].filter((each) => !isApart(each, row));

/** The row that this one is a part of. */
function around(row: Element): Element | null {
  const outer = row.parentElement?.closest(ROW) ?? null;
  return outer === null || isApart(row, outer) ? null : outer;
}

/** Up and down walk too where entries stand below each other. */
function isInList(target: EventTarget | null, row: Element): boolean {
  const list = target instanceof Element ? target.closest(LIST) : null;
  return list !== null && row.contains(list);
}

export function walk(event: KeyboardEvent): void {
  const row = event.currentTarget as Element;
  if (around(row) !== null || (event.target instanceof HTMLSelectElement && !SIDEWAYS.has(event.key))) return;
  const entries = entriesOf(row);
  const from = entries.indexOf(document.activeElement as HTMLElement);
  const next = (from + 1) % entries.length;
  const before = (from - 1 + entries.length) % entries.length;
  const to = {
    ArrowRight: next,
    ArrowLeft: before,
    ...(isInList(event.target, row) && { ArrowDown: next, ArrowUp: before }),
    Home: 0,
    End: entries.length - 1,
  }[event.key];
  if (from < 0 || to === undefined) return;
  entries[to]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** Leaves one stop in a row: where the focus is or was. */
function settle(row: Element): void {
  const whole = around(row);
  if (whole !== null) {
    settle(whole);
    return;
  }
  const entries = entriesOf(row);
  const stop =
    entries.find((each) => each === document.activeElement) ??
    entries.find(({ tabIndex }) => tabIndex === 0) ??
    entries[0];
  for (const each of entries) each.tabIndex = each === stop ? 0 : -1;
}

interface OneStop<Row extends Element> {
  ref: RefObject<Row>;
  onKeyDown: (event: KeyboardEvent) => void;
  onFocusIn: () => void;
  "data-one-stop": true;
}

/** What makes an element such a row, whatever stands in it; Tab comes back to where the focus was. */
export function useOneStop<Row extends Element>(): OneStop<Row> {
  const ref = useRef<Row>(null);
  const settleThis = (): void => {
    if (ref.current === null) return;
    settle(ref.current);
    // A browser takes a drawing that listens to the focus for one that wants it.
    if (ref.current instanceof SVGElement) ref.current.tabIndex = -1;
  };
  useLayoutEffect(settleThis);
  return { ref, onKeyDown: walk, onFocusIn: settleThis, "data-one-stop": true };
}
