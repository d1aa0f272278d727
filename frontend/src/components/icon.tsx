/** Our few icons, drawn in the colour of the text. Decoration: what they mean is always said by a label too. */

const PATHS = {
  refresh: "M13.5 8A5.5 5.5 0 1 1 11.9 4.1M12 1.2v3.1H8.9",
  help: "M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4v.3M8 11.9v.2",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  down: "M4 6.5l4 4 4-4",
  up: "M4 10l4-4 4 4",
  left: "M9.5 3.5L5 8l4.5 4.5",
  right: "M6.5 3.5L11 8l-4.5 4.5",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  check: "M3 8.5l3.2 3L13 4.5",
  cross: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.4 10.4l3.1 3.1",
  warning: "M8 2.2L14.5 13.5h-13zM8 6.5v3.2M8 11.4v.2",
  info: "M8 7.2v4M8 4.7v.2",
  pointer: "M5 2.5l7.5 6-3.6.6 2 3.9-1.6.8-2-3.9L4.8 12z",
  download: "M8 2.5v7M4.8 6.7L8 9.8l3.2-3.1M3 13h10",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.2 4.5l.6 8.5h6.4l.6-8.5",
  swap: "M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  panel: "M2.5 3h11v10h-11zM9.5 3v10",
} as const;

export type IconName = keyof typeof PATHS;

const ROUND = new Set<IconName>(["help", "info"]);

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {ROUND.has(name) && <circle cx="8" cy="8" r="6.4" />}
      <path d={PATHS[name]} />
    </svg>
  );
}
