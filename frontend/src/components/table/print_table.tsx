/** A table on paper: all its rows below a heading, nothing else of the page. The print dialog also saves PDF. */
import { render } from "preact";

import type { Column, Row } from "../../api/types";
import { sizeUnit } from "../../format/bytes";
import { formatCount, formatCounted, formatScaled } from "../../format/number";
import { formatShare } from "../../format/share";
import { columnUnit } from "../../format/time";
import { inUnit, type Unit } from "../../format/unit";
import { isNumeric } from "../../model/table_state";
import { columnScales } from "../../model/time_columns";

interface PrintedProps {
  heading: string;
  columns: readonly Column[];
  rows: readonly Row[];
  /** Rows of the table, of which `rows` may be the first. */
  total: number;
}

function cellText(column: Column, row: Row, unit: Unit | undefined): string {
  const value = row[column.key] ?? null;
  if (value === null || value === "") return "–";
  if (column.type === "duration_ns") return inUnit(Number(value), unit ?? columnUnit(Number(value)));
  if (column.type === "fraction") return formatShare(Number(value));
  if (column.type === "boolean") return value === true ? "yes" : "no";
  if (column.type === "bytes") return inUnit(Number(value), unit ?? sizeUnit(Number(value)));
  if (column.type === "number") return formatScaled(Number(value));
  return typeof value === "number" ? formatCount(value) : String(value);
}

function Printed({ heading, columns, rows, total }: PrintedProps) {
  const units = new Map([...columnScales(columns, rows)].map(([key, { unit }]) => [key, unit]));
  return (
    <>
      <h1>{heading}</h1>
      <p>
        {rows.length < total
          ? `The first ${formatCount(rows.length)} of ${formatCount(total)} rows`
          : formatCounted(total, "row")}
      </p>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const unit = units.get(column.key);
              return (
                <th key={column.key} class={isNumeric(column) ? "right" : ""}>
                  {unit === undefined ? column.label : `${column.label} (${unit.name})`}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {columns.map((column) => (
                <td key={column.key} class={isNumeric(column) ? "right" : ""}>
                  {cellText(column, row, units.get(column.key))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Puts the table on a sheet that only the printer sees, and opens the print dialog. */
export function printTable(heading: string, columns: readonly Column[], rows: readonly Row[], total: number): void {
  const sheet = document.createElement("div");
  sheet.className = "print-sheet";
  document.body.append(sheet);
  render(<Printed heading={heading} columns={columns} rows={rows} total={total} />, sheet);
  document.documentElement.classList.add("printing-sheet");
  const after = (): void => {
    document.documentElement.classList.remove("printing-sheet");
    render(null, sheet);
    sheet.remove();
  };
  window.addEventListener("afterprint", after, { once: true });
  window.print();
}
