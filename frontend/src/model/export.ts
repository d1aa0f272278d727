/** A table as text for the clipboard: what a spreadsheet splits into cells again. */
import type { Cell, Column, Row } from "../api/types";

const UNIT: Partial<Record<Column["type"], string>> = {
  duration_ns: " (ns)",
  bytes: " (bytes)",
  fraction: " (0 to 1)",
};

/** The label of a column with its unit, as in the server's files. */
const headingOf = (column: Column): string => `${column.label}${UNIT[column.type] ?? ""}`;

/**
 * One cell as plain text: times as nanoseconds, shares from 0 to 1, yes and no, unknown empty. A text that a spreadsheet would take
 * for a formula gets a `'` before it, as in the server's files.
 */
function plainCell(value: Cell | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  const text = value.replace(/[\t\r\n]+/g, " ");
  return /^[=+\-@]/.test(text) ? `'${text}` : text;
}

/** The heading, the labels and the rows; cells are separated by tabs. */
export function tabSeparated(heading: string, columns: readonly Column[], rows: readonly Row[]): string {
  const lines = [heading, columns.map(headingOf).join("\t")];
  for (const row of rows) lines.push(columns.map(({ key }) => plainCell(row[key])).join("\t"));
  return `${lines.join("\n")}\n`;
}
