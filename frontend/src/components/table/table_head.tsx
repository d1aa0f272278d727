import { useRef } from "preact/hooks";

import type { Column } from "../../api/types";
import type { TimeUnit } from "../../format/time";
import { filterHelp, isNumeric, sortDirection } from "../../model/table_state";
import { DelayedInput } from "../delayed_input";
import { Icon } from "../icon";

interface TableHeadProps {
  columns: readonly Column[];
  sort: string;
  units: ReadonlyMap<string, TimeUnit>;
  where: Readonly<Record<string, string>>;
  onSort: (column: Column) => void;
  onFilter: (column: string, text: string) => void;
  widthOf: (column: Column) => number;
  onResize: (column: string, width: number) => void;
}

/** Two rows: names with sorting and resizing, and a filter for each column. */
export function TableHead(props: TableHeadProps) {
  return (
    <thead>
      <tr>
        {props.columns.map((column) => (
          <HeadCell key={column.key} column={column} {...props} />
        ))}
      </tr>
      <tr class="filter-row">
        {props.columns.map((column) => (
          <td key={column.key}>
            {column.filterable && (
              <Filter
                column={column}
                value={props.where[column.key] ?? ""}
                onChange={(text) => props.onFilter(column.key, text)}
              />
            )}
          </td>
        ))}
      </tr>
    </thead>
  );
}

function HeadCell({ column, sort, units, onSort, widthOf, onResize }: TableHeadProps & { column: Column }) {
  const direction = sortDirection(sort, column.key);
  const unit = units.get(column.key);
  const text = unit === undefined ? column.label : `${column.label} (${unit.name})`;
  return (
    <th
      scope="col"
      class={isNumeric(column) ? "right" : column.type === "boolean" ? "middle" : ""}
      aria-sort={column.sortable ? direction : undefined}
    >
      {column.sortable ? (
        <button type="button" class="sort-button" data-tip={column.description} onClick={() => onSort(column)}>
          <span class="sort-label">{text}</span>
          <span class={direction === "none" ? "sort-arrow idle" : "sort-arrow"}>
            <Icon name={direction === "ascending" ? "up" : "down"} />
          </span>
        </button>
      ) : (
        <span class="sort-button" data-tip={column.description}>
          <span class="sort-label">{text}</span>
        </span>
      )}
      <Resizer column={column} width={widthOf(column)} onResize={(width) => onResize(column.key, width)} />
    </th>
  );
}

const NARROWEST = 56;
const WIDEST = 1200;
const KEY_STEP = 16;

/** The handle at a column's right edge: drag it, or focus it and use the arrow keys. */
function Resizer({ column, width, onResize }: { column: Column; width: number; onResize: (width: number) => void }) {
  const start = useRef<{ x: number; width: number } | null>(null);
  const resize = (to: number): void => onResize(Math.round(Math.min(Math.max(to, NARROWEST), WIDEST)));
  return (
    <span
      class="resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${column.label}`}
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        event.preventDefault();
        resize(width + (event.key === "ArrowRight" ? KEY_STEP : -KEY_STEP));
      }}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (start.current !== null) resize(start.current.width + event.clientX - start.current.x);
      }}
      onLostPointerCapture={() => {
        start.current = null;
      }}
    />
  );
}

function Filter({ column, value, onChange }: { column: Column; value: string; onChange: (text: string) => void }) {
  if (column.type === "boolean")
    return (
      <select
        class="input"
        aria-label={`Filter ${column.label}`}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        <option value="">any</option>
        <option value="yes">yes</option>
        <option value="no">no</option>
        <option value="unknown">unknown</option>
      </select>
    );
  return (
    <DelayedInput
      kind="text"
      label={`Filter ${column.label}`}
      placeholder={
        column.type === "duration_ns"
          ? ">1ms"
          : column.type === "fraction"
            ? ">10%"
            : column.type === "bytes"
              ? ">1GiB"
              : isNumeric(column)
                ? ">10"
                : "filter"
      }
      tip={filterHelp(column)}
      value={value}
      onChange={onChange}
    />
  );
}
