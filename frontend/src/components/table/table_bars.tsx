import type { Column } from "../../api/types";
import { formatCount } from "../../format/number";
import { PAGE_SIZES, pageNumbers } from "../../model/table_state";
import { Icon } from "../icon";
import { useMenu } from "../use_menu";

interface ColumnMenuProps {
  columns: readonly Column[];
  shown: readonly Column[];
  /** Whether `shown` is the user's choice, or what fits. */
  hasSelection: boolean;
  /** The keys of the columns to show; none for those that fit. */
  onChoose: (keys: readonly string[]) => void;
}

/** Which columns to show: a button that opens a list of boxes to tick. */
export function ColumnMenu({ columns, shown, hasSelection: hasSelection, onChoose }: ColumnMenuProps) {
  const { open, setOpen, holder, button, onKeyDown } = useMenu();
  const keys = shown.map(({ key }) => key);
  return (
    <div class="menu-holder" ref={holder} onKeyDown={onKeyDown}>
      <button type="button" class="button" ref={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="columns" /> Columns{" "}
        <span class="muted">
          {shown.length} of {columns.length}
        </span>
      </button>
      {open && (
        <fieldset class="menu column-menu">
          <legend class="visually-hidden">Columns to show</legend>
          <div class="column-choices">
            <button type="button" class="button" disabled={!hasSelection} onClick={() => onChoose([])}>
              Automatic
            </button>
            <button type="button" class="button" onClick={() => onChoose(columns.map(({ key }) => key))}>
              All
            </button>
          </div>
          {columns.map((column) => {
            const ticked = shown.includes(column);
            return (
              <label key={column.key} data-tip={column.description}>
                <input
                  type="checkbox"
                  checked={ticked}
                  disabled={ticked && shown.length === 1}
                  onChange={() => onChoose(ticked ? keys.filter((key) => key !== column.key) : [...keys, column.key])}
                />
                {column.label}
              </label>
            );
          })}
        </fieldset>
      )}
    </div>
  );
}

interface PagerProps {
  noun: string;
  offset: number;
  rows: number;
  size: number;
  filtered: number;
  total: number;
  onPage: (page: number) => void;
  onSize: (size: number) => void;
}

/** "Showing 1 to 25 of 480", the pages, and how many rows a page has. */
export function Pager({ noun, offset, rows, size, filtered, total, onPage, onSize }: PagerProps) {
  const page = Math.floor(offset / size);
  const pages = Math.max(Math.ceil(filtered / size), 1);
  const range =
    rows === 0
      ? `Showing 0 of ${formatCount(filtered)}`
      : `Showing ${formatCount(offset + 1)} to ${formatCount(offset + rows)} of ${formatCount(filtered)}`;
  return (
    <div class="pager">
      <p role="status" class="pager-range">
        {range}
        {filtered < total && ` (filtered from ${formatCount(total)})`}
      </p>
      <label class="pager-size">
        Rows
        <select class="input" value={size} onChange={(event) => onSize(Number(event.currentTarget.value))}>
          {PAGE_SIZES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <nav class="pages" aria-label={`Pages of ${noun}`}>
        <button
          type="button"
          class="icon-button"
          aria-label="Previous page"
          disabled={page <= 0}
          onClick={() => onPage(page - 1)}
        >
          <Icon name="left" />
        </button>
        {pageNumbers(Math.min(page, pages - 1), pages).map((number, i) =>
          number === null ? (
            <span key={`gap${i}`} class="page-gap">
              …
            </span>
          ) : (
            <button
              type="button"
              key={number}
              class="page-button"
              aria-label={`Page ${number + 1}`}
              aria-current={number === page ? "page" : undefined}
              onClick={() => onPage(number)}
            >
              {formatCount(number + 1)}
            </button>
          ),
        )}
        <button
          type="button"
          class="icon-button"
          aria-label="Next page"
          disabled={page >= pages - 1}
          onClick={() => onPage(page + 1)}
        >
          <Icon name="right" />
        </button>
      </nav>
    </div>
  );
}
