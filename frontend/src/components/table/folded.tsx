import type { Column, TableResponse } from "../../api/types";
import { formatDuration } from "../../format/time";
import { TableCell } from "./table_cell";

interface FoldedProps {
  columns: readonly Column[];
  data: TableResponse;
  onShow: () => void;
}

/** Columns that say the same in every row, said once. */
export function Folded({ columns, data, onShow }: FoldedProps) {
  const [row] = data.rows;
  if (row === undefined) return null;
  return (
    <p class="table-folded">
      <span class="muted">The same in all rows:</span>
      {columns.map((column) => (
        <span key={column.key} class="folded-column" data-tip={column.description}>
          <span class="muted">{column.label}</span>{" "}
          {column.type === "duration_ns" && typeof row[column.key] === "number" ? (
            formatDuration(Number(row[column.key]))
          ) : (
            <TableCell column={column} row={row} scale={undefined} />
          )}
        </span>
      ))}
      <button type="button" class="link-button" onClick={onShow}>
        Unfold
      </button>
    </p>
  );
}
