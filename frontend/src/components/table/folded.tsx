import type { Column, TableResponse } from "../../api/types";
import { formatDuration } from "../../format/time";
import { isEmpty } from "../../model/table_state";
import { ViewLink } from "../view_link";
import { TableCell } from "./table_cell";

interface FoldedProps {
  columns: readonly Column[];
  /** Those that say the same as another one in every row, by its label. */
  repeated: ReadonlyMap<Column, string>;
  data: TableResponse;
  onShow: () => void;
}

/** Columns that say the same in every row, said once. */
export function Folded({ columns, repeated, data, onShow }: FoldedProps) {
  const [row] = data.rows;
  if (row === undefined) return null;
  const isKnown = ({ key }: Column): boolean => !isEmpty(row[key]);
  const known = columns.filter(isKnown);
  const unknown = columns.filter((column) => !isKnown(column));
  return (
    <p class="table-folded">
      {known.length > 0 && <span>The same in all rows:</span>}
      {known.map((column) => (
        <span key={column.key} class="folded-column" data-tip={column.description}>
          {column.label}{" "}
          {column.type === "duration_ns" && typeof row[column.key] === "number" ? (
            formatDuration(Number(row[column.key]))
          ) : (
            <TableCell column={column} row={row} scale={undefined} />
          )}
        </span>
      ))}
      {unknown.length > 0 && <span>Empty in all rows: {unknown.map(({ label }) => label).join(", ")}</span>}
      {unknown.some(({ key }) => key === "a_ns") && (
        <span>
          None of these is paired with the baseline; see{" "}
          <ViewLink class="link-button" to={{ view: "compare" }}>
            Compare
          </ViewLink>
        </span>
      )}
      {[...repeated].map(([{ key, label }, other]) => (
        <span key={key}>
          The same as {other}: {label}
        </span>
      ))}
      <button type="button" class="link-button" onClick={onShow}>
        Unfold
      </button>
    </p>
  );
}
