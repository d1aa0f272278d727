/**
 * The table of every view: pages, order, search and filters are asked of the server and kept in the URL.
 *
 * Keyboard: the arrow keys walk over the cells, Enter or Space selects the row, Ctrl+C copies the cell, Home and End go to
 * the first and last column, Page Up and Page Down turn pages, Esc undoes the selection.
 */
import { useCallback, useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { baselineLinks, fetchTable } from "../../api/client";
import type { Cell, Column, Row, TableResponse } from "../../api/types";
import { formatCount } from "../../format/number";
import { formatShare } from "../../format/share";
import type { TimeUnit } from "../../format/time";
import { useScope } from "../../frame/scope";
import { ThemeContext } from "../../frame/theme";
import { navigate, useUrl } from "../../frame/url";
import { useCauses } from "../../frame/use_causes";
import { useQuery } from "../../frame/use_query";
import { copyText } from "../../host/tensorboard";
import {
  ambiguousPaths,
  byDefault,
  chosenColumns,
  forUnit,
  forgotten,
  isNumeric,
  nextSort,
  readTableState,
  tableChanges,
  withoutGpu,
  type TableState,
} from "../../model/table_state";
import type { UrlState } from "../../model/url_state";
import { timeScales } from "../../model/time_columns";
import { DelayedInput } from "../delayed_input";
import { Icon } from "../icon";
import { ErrorBox, Loading } from "../message";
import { COPIED_MS, useNotice } from "../use_notice";
import { useLasting } from "../use_lasting";
import { useWidth } from "../use_width";
import { Duration } from "../value";
import { useColumnLayout } from "./column_widths";
import { ExportMenu } from "./export_menu";
import { useGradualRows, type Sight } from "./gradual_rows";
import { ColumnMenu, Pager } from "./table_bars";
import { barOf, copiedText, TableCell } from "./table_cell";
import { TableHead } from "./table_head";

interface DataTableProps {
  /** The table of the server, `ops`. */
  table: string;
  /** Under which name its state is kept in the URL. */
  name: string;
  /** What it is called on screen, and what its rows are: `Ops`, `ops`. */
  title: string;
  noun: string;
  /** Parameters of the table's own, such as the op whose kernels are shown. */
  links?: Readonly<Record<string, string>>;
  pageSize?: number;
  /** Whether a row can be selected; the URL keeps which. */
  selectable?: boolean;
  /** The row that is selected, where the URL alone does not say. */
  selected?: string;
  /** Names of the tables that the selected row fills; selecting another row resets them. */
  below?: readonly string[];
  /** Columns of time that show the share of another column as a meter beside their value. */
  meters?: Readonly<Record<string, string>>;
  /** Columns to show at first; default: as the server says. */
  first?: readonly string[];
  /** The order at first, where the server's own says nothing here. */
  sort?: string;
  /** Whether the server knows why its rows do not use matrix units. */
  causes?: boolean;
  /** Said when there is no row at all: what is missing, and which recording option brings it. */
  empty: string;
}

/** Until it is measured, which is before the first picture. */
const WIDTH_AT_FIRST = 1200;

/** An answer that comes sooner is shown without a flicker. */
const DIM_AFTER_MS = 200;

/** So many rows are seen at a glance: no filter, page or order has to help. */
const FEW_ROWS = 10;

/** In CSS pixels, of rows with nothing unfolded in them. */
const ROW_HEIGHT = 29;

const NO_METERS: Readonly<Record<string, string>> = {};

const cellText = (value: Cell | undefined): string => (value === null || value === undefined ? "" : String(value));

/** Tables that have columns of the baseline beside their own, where one is chosen. */
const BESIDE = new Set([
  ...[
    "ops",
    "op_types",
    "op_paths",
    "op_names",
    "iterations",
    "ops_of_group",
    "ops_of_path",
    "ops_of_name",
    "ops_of_type",
  ],
]);

function baselineOf(table: string, url: UrlState): Readonly<Record<string, string>> {
  const { base = "", base_aggregation: aggregation = "" } = url;
  return base === "" || !BESIDE.has(table) ? {} : baselineLinks({ base, aggregation });
}

export function DataTable(props: DataTableProps) {
  const { table, name, title, noun, links = {}, pageSize = 25, meters = NO_METERS } = props;
  const scope = useScope();
  const { profile, aggregation, domain } = scope;
  const url = useUrl();
  const state = readTableState(url, name, pageSize);
  const change = (changes: Partial<TableState>): void =>
    navigate(tableChanges(name, state, { ...state, ...changes }, pageSize));
  const asked = {
    profile,
    table,
    aggregation,
    domain,
    offset: state.page * state.size,
    limit: state.size,
    sort: state.sort === "" ? (props.sort ?? "") : state.sort,
    search: state.search,
    where: state.where,
    links: { ...links, ...baselineOf(table, url) },
  };
  const query = useQuery<TableResponse>(JSON.stringify([asked, scope.round]), (signal) => fetchTable(asked, signal));
  const { data, error, loading, reload } = query;
  useCauses(props.causes === true && data?.columns.some(({ key }) => key === "cause") === false, reload);
  const [measured, width] = useWidth(WIDTH_AT_FIRST);
  const layout = useColumnLayout(table, meters, data, width);

  // A filter or another profile can leave the page of the link behind the last one.
  const beyond = data !== null && !loading && data.rows.length === 0 && data.filtered > 0 && state.page > 0;
  const lastPage = data === null ? 0 : Math.max(Math.ceil(data.filtered / state.size) - 1, 0);
  useEffect(() => {
    if (beyond) navigate(tableChanges(name, state, { ...state, page: lastPage }, pageSize));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when an answer shows it
  }, [beyond, lastPage]);

  if (data === null)
    return error === null ? (
      <Loading what={noun} />
    ) : (
      <ErrorBox error={error} retry={query.reload}>
        {/* What was typed before the page was loaded anew stands in no field here. */}
        {error.code === "bad_parameter" && (
          <button type="button" class="button" onClick={() => change({ search: "", where: {}, sort: "", page: 0 })}>
            Clear filters and order
          </button>
        )}
      </ErrorBox>
    );

  const atFirst = byDefault(forUnit(data.columns, scope.matrixUnit), props.first, Object.values(meters));
  const known = scope.onGpu ? atFirst : withoutGpu(atFirst);
  const inView = known.filter(({ hidden }) => !hidden);
  const chosen = chosenColumns(known, state.columns);
  const filters = Object.entries(state.where).flatMap(([key, filter]) => (filter === "" ? [] : [key]));
  const columns = chosen ?? layout.fit(inView, [data.sort.replace("-", ""), ...filters]);
  const select = (key: string): void =>
    navigate(Object.assign({ [`${name}.row`]: key }, ...(props.below ?? []).map(forgotten)) as Record<string, string>);
  const narrowed = state.search !== "" || filters.length > 0;
  const many = narrowed || data.total > FEW_ROWS;
  return (
    <section class="data-table" aria-label={title}>
      <div class="table-tools">
        <h2 data-tip={title}>{title}</h2>
        {many && known.some(({ searchable }) => searchable) && (
          <div class="search">
            <Icon name="search" />
            <DelayedInput
              kind="search"
              label={`Search ${noun}`}
              placeholder={`Search ${noun}`}
              value={state.search}
              onChange={(search) => change({ search, page: 0 })}
            />
          </div>
        )}
        {narrowed && (
          <button type="button" class="button" onClick={() => change({ search: "", where: {}, page: 0 })}>
            <Icon name="close" /> Clear filters
          </button>
        )}
        {/* What a file holds must not depend on how wide the window is. */}
        <ExportMenu asked={asked} columns={chosen ?? inView} title={title} filtered={data.filtered} />
        <ColumnMenu
          columns={known}
          shown={columns}
          chosen={chosen !== null}
          onChoose={(keys) => change({ columns: keys })}
        />
      </div>
      {error !== null && (
        <p class="table-error" role="alert">
          <Icon name="warning" /> {error.message} {error.hint}
        </p>
      )}
      <Grid
        data={data}
        columns={columns}
        state={state}
        title={title}
        busy={loading}
        empty={narrowed ? `No ${noun} match.` : props.empty}
        widthOf={layout.widths(columns)}
        setWidth={layout.setWidth}
        measured={measured}
        change={change}
        meters={meters}
        filters={many}
        selected={props.selected ?? state.row}
        onSelect={props.selectable === true ? select : undefined}
      />
      {many && (
        <Pager
          noun={noun}
          offset={data.offset}
          rows={data.rows.length}
          size={state.size}
          filtered={data.filtered}
          total={data.total}
          onPage={(page) => change({ page })}
          onSize={(size) => change({ size, page: Math.floor(data.offset / size) })}
        />
      )}
    </section>
  );
}

function classOf(column: Column): string {
  if (column.type === "boolean") return "middle";
  if (column.type === "fraction") return "right bar-cell bar-plain";
  if (column.type === "duration_ns") return "right bar-cell";
  return isNumeric(column) ? "right" : "";
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
  /** Told which element has the width that the columns share. */
  measured: (element: HTMLElement | null) => void;
  change: (changes: Partial<TableState>) => void;
  meters: Readonly<Record<string, string>>;
  /** Whether the columns can be filtered. */
  filters: boolean;
  /** The key of the selected row; empty for none. */
  selected: string;
  onSelect: ((key: string) => void) | undefined;
}

function Grid(props: GridProps) {
  const { data, columns, state, title, busy, empty, widthOf, setWidth, measured, change, meters } = props;
  const { selected, onSelect } = props;
  const [at, setAt] = useState({ row: 0, column: 0 });
  const [copied, setCopied] = useNotice<boolean>(COPIED_MS);
  const body = useRef<HTMLTableSectionElement>(null);
  const { rows, key } = data;
  const scale = timeScales(columns, rows);
  const headRows = props.filters ? 2 : 1;
  const units = new Map<string, TimeUnit>([...scale].map(([column, { unit }]) => [column, unit]));
  const idShown = columns.some(({ key: shown }) => shown === "op_id");
  const ambiguous = new Map(
    columns
      .filter(({ type }) => type === "path" && !idShown)
      .map((column) => [column.key, ambiguousPaths(rows, column.key)]),
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
  return (
    <div class={dimmed ? "table-scroll busy" : "table-scroll"} aria-busy={busy || waiting} ref={scrollable}>
      <table
        role="grid"
        aria-label={title}
        aria-rowcount={data.filtered + headRows}
        style={{ width: `${columns.reduce((sum, column) => sum + widthOf(column), 0)}px` }}
      >
        <colgroup>
          {columns.map((column) => (
            <col key={column.key} style={{ width: `${widthOf(column)}px` }} />
          ))}
        </colgroup>
        <TableHead
          columns={columns}
          sort={data.sort}
          units={units}
          where={props.filters ? state.where : null}
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
            const drawn = rowAt(i, `${isSelected} ${stop}`, () => {
              const cells = columns.map((column, j) => (
                <td
                  key={column.key}
                  class={classOf(column)}
                  style={barStyle(column.key in meters ? 0 : barOf(column, row, scale.get(column.key)))}
                  tabIndex={j === stop ? 0 : -1}
                  onFocus={() => setAt({ row: i, column: j })}
                >
                  <TableCell
                    column={column}
                    row={row}
                    scale={scale.get(column.key)}
                    meter={meters[column.key]}
                    ambiguous={ambiguous.get(column.key)?.has(String(row[column.key])) === true}
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
                </tr>
              );
            });
            return drawn ?? <tr key={i} class="waiting-row" />;
          })}
        </tbody>
        {data.filtered > 1 && columns.some((column) => column.key in data.totals) && (
          <Totals columns={columns} data={data} />
        )}
      </table>
      {rows.length === 0 && <p class="nothing">{empty}</p>}
      <p role="status" class={copied === true ? "toast" : "visually-hidden"}>
        {copied === true ? "Copied" : ""}
      </p>
    </div>
  );
}

/** The sums over all rows that pass, on this page or not; each in the unit that suits it. */
function Totals({ columns, data }: { columns: readonly Column[]; data: TableResponse }) {
  return (
    <tfoot>
      <tr>
        {columns.map((column, i) => {
          const total = data.totals[column.key];
          if (total === undefined)
            return <td key={column.key}>{i === 0 && `All ${formatCount(data.filtered)} together`}</td>;
          return (
            <td key={column.key} class="right">
              <Total column={column} value={total} />
            </td>
          );
        })}
      </tr>
    </tfoot>
  );
}

function Total({ column, value }: { column: Column; value: number | null }) {
  if (column.type === "duration_ns") return <Duration ns={value} />;
  return <span class="number">{column.type === "fraction" ? formatShare(value) : formatCount(value)}</span>;
}
