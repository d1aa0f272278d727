/** A row of links or buttons is one tab stop: arrow keys, Home and End walk in it, Enter and Space press as ever. */
export function walk(event: KeyboardEvent): void {
  const row = event.currentTarget as Element;
  const entries = [...row.querySelectorAll<HTMLElement>("a, button:not(:disabled)")];
  const from = entries.indexOf(document.activeElement as HTMLElement);
  const to = {
    ArrowRight: (from + 1) % entries.length,
    ArrowLeft: (from - 1 + entries.length) % entries.length,
    Home: 0,
    End: entries.length - 1,
  }[event.key];
  if (from < 0 || to === undefined) return;
  entries[to]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
