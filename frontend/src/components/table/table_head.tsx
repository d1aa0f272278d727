import { useRef } from "preact/hooks";

import type { Column } from "../../api/types";
import type { Unit } from "../../format/unit";
import { filterHelp, isNumeric, sortDirection, withOwnUnit } from "../../model/table_state";
import { DelayedInput } from "../delayed_input";
import { Icon } from "../icon";

interface TableHeadProps {
  columns: readonly Column[];
  sort: string;
  units: ReadonlyMap<string, Unit>;
  /** Whether Tab stops here: once a table has rows, the arrow keys lead up to its head from them. */
  stops: boolean;
  /** The filters; null where the table has none. */
  where: Readonly<Record<string, string>> | null;
  onSort: (column: Column) => void;
  onFilter: (column: string, text: string) => void;
  widthOf: (column: Column) => number;
  onResize: (column: string, width: number) => void;
}

const IN_HEAD = "button, input, select";

/** The lowest place in the head of a column, for the arrow key that leads up to it. */
export const headOf = (table: HTMLTableElement | null | undefined, column: number): HTMLElement | undefined =>
  [...(table?.tHead?.rows ?? [])].flatMap((row) => row.cells[column]?.querySelector<HTMLElement>(IN_HEAD) ?? []).at(-1);

/**
 * Two rows: names with sorting and resizing, and a filter for each column where there are rows to filter.
 *
 * The left and right arrow keys walk over the names, with Shift they change the width of the column; the down arrow goes to its filter,
 * and from there to the rows.
 */
export function TableHead(props: TableHeadProps) {
  const { columns, sort, where } = props;
  const head = useRef<HTMLTableSectionElement>(null);
  const sorted = Math.max(
    columns.findIndex(({ key }) => sortDirection(sort, key) !== "none"),
    0,
  );
  const inHead = (row: number, column: number): HTMLElement | null | undefined =>
    head.current?.rows[row]?.cells[column]?.querySelector<HTMLElement>(IN_HEAD);
  const inRows = (column: number): HTMLElement | undefined =>
    head.current?.closest("table")?.tBodies[0]?.rows[0]?.cells[column];
  const onKey = (event: KeyboardEvent): void => {
    const cell = event.target instanceof Element ? event.target.closest("th, td") : null;
    if (!(cell instanceof HTMLTableCellElement)) return;
    const at = cell.cellIndex;
    const column = columns[at];
    const inNames = cell.tagName === "TH";
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (inNames && step !== 0 && event.shiftKey && column !== undefined)
      props.onResize(column.key, bounded(props.widthOf(column) + step * KEY_STEP));
    else if (inNames && step !== 0) inHead(0, at + step)?.focus();
    else if (inNames && event.key === "ArrowDown") (inHead(1, at) ?? inRows(at))?.focus();
    else if (!inNames && event.key === "ArrowUp") inHead(0, at)?.focus();
    else if (!inNames && event.key === "ArrowDown" && cell.querySelector("select") === null) inRows(at)?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <thead ref={head} onKeyDown={onKey}>
      <tr>
        {columns.map((column, i) => (
          <HeadCell key={column.key} column={column} stop={props.stops && i === sorted} {...props} />
        ))}
      </tr>
      {where !== null && (
        <tr class="filter-row">
          {columns.map((column, i) => (
            <td key={column.key}>
              {column.filterable && (
                <Filter
                  column={column}
                  unit={props.units.get(column.key)?.name ?? BASES[column.type] ?? ""}
                  stop={props.stops && (i === 0 || (where[column.key] ?? "") !== "")}
                  value={where[column.key] ?? ""}
                  onChange={(text) => props.onFilter(column.key, text)}
                />
              )}
            </td>
          ))}
        </tr>
      )}
    </thead>
  );
}

interface HeadCellProps extends TableHeadProps {
  column: Column;
  /** Whether Tab stops here. */
  stop: boolean;
}

function HeadCell({ column, stop, sort, units, onSort, widthOf, onResize }: HeadCellProps) {
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
        <button
          type="button"
          class="sort-button"
          tabIndex={stop ? 0 : -1}
          data-tip={column.description}
          onClick={() => onSort(column)}
        >
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
      <Resizer width={widthOf(column)} onResize={(width) => onResize(column.key, width)} />
    </th>
  );
}

const NARROWEST = 56;
const WIDEST = 1200;
const KEY_STEP = 16;

const bounded = (width: number): number => Math.round(Math.min(Math.max(width, NARROWEST), WIDEST));

/** The handle at a column's right edge, to be dragged. */
function Resizer({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  const start = useRef<{ x: number; width: number } | null>(null);
  return (
    <span
      class="resizer"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (start.current !== null) onResize(bounded(start.current.width + event.clientX - start.current.x));
      }}
      onLostPointerCapture={() => {
        start.current = null;
      }}
    />
  );
}

/** What a number without a unit is for the server. */
const BASES: Partial<Record<Column["type"], Unit["name"]>> = { duration_ns: "ns", bytes: "B" };

interface FilterProps {
  column: Column;
  /** In which its head tells times or sizes. */
  unit: Unit["name"];
  /** Whether Tab stops here. */
  stop: boolean;
  value: string;
  onChange: (text: string) => void;
}

function Filter({ column, unit, stop, value, onChange }: FilterProps) {
  if (column.type === "boolean")
    return (
      <select
        class="input"
        tabIndex={stop ? 0 : -1}
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
  const base = BASES[column.type];
  return (
    <DelayedInput
      kind="text"
      label={`Filter ${column.label}`}
      placeholder={
        base !== undefined ? `>1 ${unit}` : column.type === "fraction" ? ">10%" : isNumeric(column) ? ">10" : "filter"
      }
      tip={filterHelp(column, unit)}
      stop={stop}
      // What a link says without a unit are the server's nanoseconds or bytes.
      value={base === undefined ? value : withOwnUnit(value, base)}
      onChange={onChange}
      {...(base === undefined ? {} : { complete: (text: string) => withOwnUnit(text, unit) })}
    />
  );
}
