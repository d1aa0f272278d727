/**
 * The rows of a table, its head and its sums.
 *
 * Keyboard: the arrow keys walk over the cells and, from the first row, up to the head, Enter or Space selects the row, Ctrl+C copies the cell, Home and End go to
 * the first and last column, Page Up and Page Down turn pages, Esc undoes the selection.
 */
import { useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Cell, Column, Row, TableResponse } from "../../api/types";
import { formatBytes } from "../../format/bytes";
import { exactNumber, formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { withUnit, type Unit } from "../../format/unit";
import { ThemeContext } from "../../frame/theme";
import { copyText } from "../../host/tensorboard";
import { signedAmount } from "../../model/change";
import { beginningsApart, kernelsOf, shortFirstKernel, splitPath, wordsApart } from "../../model/kernel_name";
import { placesApart } from "../../model/short_place";
import { ambiguousPaths, isNumeric, nextSort, type TableState } from "../../model/table_state";
import { knownForTip, PART, partlyRated } from "../../model/rated";
import { columnScales } from "../../model/time_columns";
import { textWidth } from "../text_width";
import { useLasting } from "../use_lasting";
import { COPIED_MS, useNotice } from "../use_notice";
import { Calls, Duration, Size } from "../value";
import { useGradualRows, type Sight } from "./gradual_rows";
import { useStays } from "./stays";
import { barOf, CHANGES, copiedText, hasBars, isShare, lettersIn, roomOf, TableCell, wholeOfBars } from "./table_cell";
import { headOf, TableHead } from "./table_head";

/** An answer that comes sooner is shown without a flicker. */
const DIM_AFTER_MS = 200;

/** In CSS pixels, of rows with nothing unfolded in them. */
const ROW_HEIGHT = 29;

const cellText = (value: Cell | undefined): string => (value === null || value === undefined ? "" : String(value));

function classOf(column: Column, isBarred: boolean): string {
  if (column.type === "boolean") return "middle";
  if (isBarred) return column.type === "fraction" && !isShare(column) ? "right bar-cell bar-plain" : "right bar-cell";
  return isNumeric(column) ? "right" : "";
}

/** More bars in a row are compared with each other. */
const MOST_BARRED = 2;

/**
 * That of the order, then shares, then times. A share is a bar of the same whole in every row; bars of means and extremes beside it would
 * compare nothing.
 */
function barred(columns: readonly Column[], sort: string): ReadonlySet<Column> {
  const shares = columns.filter(({ type }) => type === "fraction");
  const times = columns.some(isShare) ? [] : columns.filter(({ type }) => type === "duration_ns");
  const ordered = [...shares, ...times].filter(({ key }) => sort === key || sort === `-${key}`);
  return new Set([...new Set([...ordered, ...shares, ...times].filter(hasBars))].slice(0, MOST_BARRED));
}

const barStyle = (share: number) => (share > 0 ? { "--bar": share } : undefined);

/** Where the user looks, of the rows that scroll in `scroller`. */
function inSight(scroller: HTMLElement | null, body: HTMLTableSectionElement | null): Sight {
  if (scroller === null || body === null) return { first: 0, count: 0, focused: -1 };
  const { top, bottom } = scroller.getBoundingClientRect();
  // Of what has left the window at its top, the first are the labels.
  const above = Math.max(-top - body.offsetTop, 0);
  const height = Math.min(bottom, window.innerHeight) - Math.max(top, 0);
  const row = document.activeElement?.closest("tr");
  return {
    first: Math.floor((scroller.scrollTop + above) / ROW_HEIGHT),
    count: Math.max(Math.ceil(height / ROW_HEIGHT), 0),
    focused: row?.parentElement === body ? row.sectionRowIndex : -1,
  };
}

interface GridProps {
  data: TableResponse;
  columns: readonly Column[];
  state: TableState;
  title: string;
  busy: boolean;
  empty: string;
  widthOf: (column: Column) => number;
  setWidth: (column: string, width: number) => void;
  /** The width in CSS pixels that the columns share. */
  width: number;
  /** Told which element has it. */
  measured: (element: HTMLElement | null) => void;
  change: (changes: Partial<TableState>) => void;
  meters: Readonly<Record<string, string>>;
  /** Whether the columns can be filtered. */
  filters: boolean;
  /** Whether rows are left out that have a part of the sums. */
  isPart: boolean;
  /** The key of the selected row; empty for none. */
  selected: string;
  onSelect: ((key: string) => void) | undefined;
}

export function Grid(props: GridProps) {
  const { data, columns, state, title, busy, empty, widthOf, setWidth, measured, change, meters } = props;
  const { selected, onSelect } = props;
  const [at, setAt] = useState({ row: 0, column: 0 });
  const [copied, setCopied] = useNotice<boolean>(COPIED_MS);
  const body = useRef<HTMLTableSectionElement>(null);
  const { rows, key } = data;
  // Where no row passes a filter, its numbers keep their unit.
  const lastScale = useRef(columnScales(columns, rows));
  if (rows.length > 0) lastScale.current = columnScales(columns, rows);
  const scale = lastScale.current;
  const withBars = barred(
    columns.filter(({ key: column }) => !(column in meters)),
    data.sort,
  );
  const wholes = new Map([...withBars].map((column) => [column, wholeOfBars(column, rows, scale.get(column.key))]));
  const headRows = props.filters ? 2 : 1;
  const units = new Map<string, Unit>([...scale].map(([column, { unit }]) => [column, unit]));
  const idShown = columns.some(({ key: shown }) => shown === "op_id");
  const ofPaths = columns.filter(({ type }) => type === "path");
  const ofKernels = columns.filter(({ type }) => type === "kernel_name");
  const rooms = [...ofPaths, ...ofKernels].map((column) => widthOf(column)).join(" ");
  const places = useMemo(
    () =>
      new Map(
        ofPaths.map((column) => {
          const paths = rows.map((row) => cellText(row[column.key]));
          return [column.key, placesApart(paths, roomOf(widthOf(column)), textWidth)];
        }),
      ),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the columns by their widths
    [rows, rooms],
  );
  const kernels = useMemo(
    () =>
      new Map(
        ofKernels.map((column) => {
          // Of several kernels in a cell, the first is the one that is read.
          const cells = rows.map((row) => cellText(row[column.key]));
          const words = wordsApart(
            cells.map((cell) => kernelsOf(cell)[0] ?? ""),
            lettersIn(widthOf(column)),
          );
          return [column.key, new Map(cells.map((cell) => [cell, words.get(kernelsOf(cell)[0] ?? "")]))];
        }),
      ),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the columns by their widths
    [rows, rooms],
  );
  // Two columns of kernels beside each other have room for what tells their names apart.
  const beginnings = useMemo(
    () =>
      new Map(
        (ofKernels.length > 1 ? ofKernels : []).map((column) => {
          const names = rows.map((row) => shortFirstKernel(cellText(row[column.key])));
          const letters = lettersIn(widthOf(column));
          return [column.key, new Map([...beginningsApart(names)].filter(([{ length }]) => length > letters))];
        }),
      ),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the columns by their widths
    [rows, rooms],
  );
  const placeOf = (column: Column, row: Row): string | undefined =>
    (kernels.get(column.key) ?? places.get(column.key))?.get(cellText(row[column.key]));
  const ambiguous = new Map(
    idShown
      ? []
      : ofPaths
          .filter(({ key: column }) => column !== "host") // The op of the id is the one that ended the gap.
          .map(({ key: column }) => [
            column,
            ambiguousPaths(rows, column, (path) => (places.get(column)?.get(path) ?? "") + splitPath(path).name),
          ]),
  );
  const focused = { row: Math.min(at.row, rows.length - 1), column: Math.min(at.column, columns.length - 1) };

  const scroller = useRef<HTMLElement | null>(null);
  const theme = useContext(ThemeContext);
  const { waiting, rowAt } = useGradualRows(
    data,
    columns.map(({ key: shown }) => shown),
    `${theme} ${columns.map(widthOf).join(" ")}`,
    () => inSight(scroller.current, body.current),
  );
  const scrollable = useCallback(
    (element: HTMLElement | null): void => {
      scroller.current = element;
      measured(element);
    },
    [measured],
  );

  const select = (row: Row): void => onSelect?.(cellText(row[key]));
  const focus = (row: number, column: number): void => {
    const to = {
      row: Math.min(Math.max(row, 0), rows.length - 1),
      column: Math.min(Math.max(column, 0), columns.length - 1),
    };
    setAt(to);
    body.current?.rows[to.row]?.cells[to.column]?.focus();
  };
  const pages = Math.max(Math.ceil(data.filtered / state.size), 1);
  // The rows of the next page are others: the focus goes to the same place among them.
  const turning = useRef(false);
  const turn = (page: number): void => {
    if (page === state.page) return;
    turning.current = true;
    change({ page });
  };
  useLayoutEffect(() => {
    if (!turning.current) return;
    turning.current = false;
    body.current?.rows[focused.row]?.cells[focused.column]?.focus();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when other rows are shown
  }, [rows]);

  // The row of a link, or of a click after which the table leaves room for another one.
  const selectedAt = selected === "" ? -1 : rows.findIndex((row) => cellText(row[key]) === selected);
  useLayoutEffect(() => {
    const row = body.current?.rows[selectedAt];
    const element = scroller.current;
    if (row === undefined || element === null) return;
    const head = body.current?.offsetTop ?? 0;
    const seen = element.clientHeight - (row.closest("table")?.tFoot?.offsetHeight ?? 0);
    if (row.offsetTop < element.scrollTop + head) element.scrollTop = row.offsetTop - head;
    else if (row.offsetTop + row.offsetHeight > element.scrollTop + seen)
      element.scrollTop = row.offsetTop + row.offsetHeight - seen;
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when another row is selected, not on another page
  }, [selected]);

  const onKey = (event: KeyboardEvent): void => {
    if (event.target instanceof Element && event.target.closest("button, input, select") !== null) return;
    const { row, column } = focused;
    const current = rows[row];
    const shown = columns[column];
    if (event.key === "ArrowDown") focus(row + 1, column);
    else if (event.key === "ArrowUp" && row === 0) headOf(body.current?.closest("table"), column)?.focus();
    else if (event.key === "ArrowUp") focus(row - 1, column);
    else if (event.key === "ArrowRight") focus(row, column + 1);
    else if (event.key === "ArrowLeft") focus(row, column - 1);
    else if (event.key === "Home") focus(row, 0);
    else if (event.key === "End") focus(row, columns.length - 1);
    else if (event.key === "PageDown") turn(Math.min(state.page + 1, pages - 1));
    else if (event.key === "PageUp") turn(Math.max(state.page - 1, 0));
    else if ((event.key === "Enter" || event.key === " ") && current !== undefined) select(current);
    else if (event.key === "Escape" && state.row !== "" && onSelect !== undefined) onSelect("");
    else if (event.key === "c" && (event.ctrlKey || event.metaKey) && current !== undefined && shown !== undefined) {
      if (window.getSelection()?.isCollapsed === false) return; // the user has marked a text of their own
      void copyText(copiedText(shown, current)).then(setCopied);
    } else return;
    event.preventDefault();
  };

  const dimmed = useLasting(busy, DIM_AFTER_MS);
  const wide = columns.reduce((sum, column) => sum + widthOf(column), 0);
  // What scrolls by itself would take its head along when the page scrolls.
  const scrolls = wide > props.width ? "sideways" : "";
  const isNarrow = wide < Math.floor(props.width);
  return (
    <div class={`table-scroll ${scrolls} ${dimmed ? "busy" : ""}`} aria-busy={busy || waiting} ref={scrollable}>
      <table role="grid" aria-label={title} aria-rowcount={data.filtered + headRows} style={{ width: `${wide}px` }}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.key} style={{ width: `${widthOf(column)}px` }} />
          ))}
          {/* The room that numbers alone leave: without it they would drift apart. */}
          <col />
        </colgroup>
        <TableHead
          columns={columns.map((column) =>
            wholes.has(column) && (isShare(column) || column.type !== "fraction")
              ? { ...column, description: `${column.description} The bar is of the largest row shown.` }
              : column,
          )}
          sort={data.sort}
          units={units}
          where={props.filters ? state.where : null}
          stops={rows.length === 0 || waiting}
          widthOf={widthOf}
          onResize={setWidth}
          onSort={(column) => change({ sort: nextSort(data.sort, column), page: 0 })}
          onFilter={(column, text) => change({ where: { ...state.where, [column]: text }, page: 0 })}
        />
        <tbody ref={body} onKeyDown={onKey}>
          {rows.map((row, i) => {
            const rowKey = cellText(row[key]);
            const isSelected = rowKey === selected;
            const stop = i === focused.row ? focused.column : -1;
            const isAmbiguous = (column: Column): boolean =>
              ambiguous.get(column.key)?.has(String(row[column.key])) === true;
            // How much of a path has room is part of what the row looks like.
            const cut = [...ofPaths, ...ofKernels]
              .map((column) => (isAmbiguous(column) ? widthOf(column) : placeOf(column, row)))
              .join(" ");
            const drawn = rowAt(i, `${isSelected} ${stop} ${cut} ${isNarrow}`, () => {
              const cells = columns.map((column, j) => (
                <td
                  key={column.key}
                  class={classOf(column, withBars.has(column))}
                  style={barStyle(barOf(column, row, wholes.get(column) ?? 0))}
                  tabIndex={j === stop ? 0 : -1}
                  onFocus={() => setAt({ row: i, column: j })}
                >
                  <TableCell
                    column={column}
                    row={row}
                    scale={scale.get(column.key)}
                    meter={meters[column.key]}
                    room={widthOf(column)}
                    place={placeOf(column, row)}
                    shown={beginnings.get(column.key)?.get(shortFirstKernel(cellText(row[column.key])))}
                    ambiguous={isAmbiguous(column)}
                  />
                </td>
              ));
              return (waits) => (
                <tr
                  // By place: the cells of the next page take the place of these, which is faster than making all anew.
                  key={i}
                  class={`${onSelect === undefined ? "" : "selectable"}${waits ? " waiting-row" : ""}`}
                  aria-selected={onSelect === undefined ? undefined : isSelected}
                  aria-rowindex={headRows + data.offset + i + 1}
                  onClick={() => select(row)}
                >
                  {cells}
                  {/* The lines between rows go on to the edge of the page. */}
                  {isNarrow && <td role="presentation" />}
                </tr>
              );
            });
            return drawn ?? <tr key={i} class="waiting-row" />;
          })}
        </tbody>
        {data.filtered > 1 && columns.some((column) => column.key in data.totals) && (
          <Totals columns={columns} data={data} units={units} isPart={props.isPart} />
        )}
      </table>
      {rows.length === 0 && <p class="nothing">{empty}</p>}
      <p role="status" class={copied === true ? "toast" : "visually-hidden"}>
        {copied === true ? "Copied" : ""}
      </p>
    </div>
  );
}

interface TotalsProps {
  columns: readonly Column[];
  data: TableResponse;
  units: ReadonlyMap<string, Unit>;
  isPart: boolean;
}

/** The sums over all rows that pass, on this page or not, in the unit of the column above. */
function Totals({ columns, data, units, isPart }: TotalsProps) {
  const [foot, stays] = useStays(data);
  // What they are stands before the first of them, over all cells that are empty there.
  const first = columns.findIndex(({ key }) => key in data.totals);
  return (
    <tfoot ref={foot} class={stays ? "stays" : ""}>
      <tr>
        {columns.map((column, i) => {
          const total = data.totals[column.key];
          if (total === undefined)
            return i === 0 ? (
              <td key={column.key} colSpan={first}>
                {isPart
                  ? `${formatCount(data.filtered)} of ${formatCount(data.total)}`
                  : `All ${formatCount(data.filtered)}`}
              </td>
            ) : i < first ? null : (
              <td key={column.key} />
            );
          return (
            <td key={column.key} class="right">
              <Total
                column={column}
                value={total}
                unit={units.get(column.key)}
                rated={column.key === "gain_ns" ? partlyRated(data.totals) : null}
              />
            </td>
          );
        })}
      </tr>
    </tfoot>
  );
}

/** A sum in the unit of its column, or from here on in its own: `6.48 ms`, as everywhere else, below `198` of µs. */
const MOST_IN_UNIT = 1000;

interface TotalProps {
  column: Column;
  value: number | null;
  unit: Unit | undefined;
  /** Of a gain that more may be added to: of how much of the kernel time it is. */
  rated: number | null;
}

function Total({ column, value, unit, rated }: TotalProps) {
  const isTime = column.type === "duration_ns";
  const known = rated === null ? "" : knownForTip(rated);
  const mark = rated !== null && (
    <span class="muted" data-tip={known}>
      {PART}{" "}
    </span>
  );
  if (value !== null && unit !== undefined) {
    const isLarge = Math.abs(value) >= MOST_IN_UNIT * unit.size;
    const text = !isLarge ? withUnit(value, unit) : isTime ? formatDuration(value) : formatBytes(value);
    return (
      <span
        class="number"
        data-tip={isTime ? [readableAndExact(value), known].filter(Boolean).join("\n") : `${exactNumber(value)} bytes`}
      >
        {mark}
        {CHANGES.has(column.key) ? signedAmount(value, text) : text}
      </span>
    );
  }
  if (isTime)
    return (
      <>
        {mark}
        <Duration ns={value} />
      </>
    );
  if (column.type === "bytes") return <Size bytes={value} />;
  return column.type === "fraction" ? <span class="number">{formatShare(value)}</span> : <Calls value={value} />;
}
