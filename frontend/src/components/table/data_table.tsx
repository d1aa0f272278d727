/** The table of every view: pages, order, search and filters are asked of the server and kept in the URL. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { baselineLinks, fetchTable } from "../../api/client";
import type { TableResponse } from "../../api/types";
import { useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useCauses } from "../../frame/use_causes";
import { useQuery } from "../../frame/use_query";
import { formatCounted } from "../../format/number";
import { PART_NOTE, partlyRated } from "../../model/rated";
import {
  byDefault,
  pickedColumns,
  FEW_ROWS,
  foldable,
  forUnit,
  forgotten,
  readTableState,
  repeated,
  repeatedColumns,
  tableChanges,
  withoutGpu,
  type TableState,
} from "../../model/table_state";
import type { UrlState } from "../../model/url_state";
import { DelayedInput } from "../delayed_input";
import { Icon } from "../icon";
import { ErrorBox, Loading } from "../message";
import { TableTitle } from "../sum_note";
import { useWidth } from "../use_width";
import { useColumnLayout } from "./column_widths";
import { ExportMenu } from "./export_menu";
import { Folded } from "./folded";
import { Grid } from "./grid";
import { ColumnMenu, Pager } from "./table_bars";
import { useOneStop } from "../walking";

/** By column what of it rows have that are worth a line, and what the others are. */
const TIMES = {
  gpu_time_ns: [">0", "without GPU time"],
  kernel_time_ns: [">0", "without kernel time"],
  duration_ns: [">10us", "of at most 10 µs"],
} as const;

interface DataTableProps {
  /** The table of the server, `ops`. */
  table: string;
  /** Under which name its state is kept in the URL. */
  name: string;
  /** What it is called on screen, and what its rows are: `Ops`, `ops`. */
  title: string;
  /** The id of the op that it is about, which stands small behind its title. */
  id?: string;
  noun: string;
  /** Parameters of the table's own, such as the op whose kernels are shown. */
  links?: Readonly<Record<string, string>>;
  /** Whether its times are of all aggregated iterations: means of one, or sums, as the user likes. */
  summed?: boolean;
  /** Rows that are shown at all: filters by column beside those of the user. */
  only?: Readonly<Record<string, string>>;
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
  /** The time of which rows with none, or little, are left out until the user asks for them, or for rows of some kind. */
  timed?: keyof typeof TIMES | undefined;
  /** What a filter of a column that is not shown is called, by both: `kind=ops`. */
  filterNames?: Readonly<Record<string, string>>;
  /** How many rows are to come, where it is known. */
  rows?: number | undefined;
  /** What its rows are, such as `by Op`, where its tools say so: no part of what is shown of its title. */
  by?: string;
  /** Beside its title: how its rows are made. */
  tools?: ComponentChildren;
  /** Said when there is no row at all: what is missing, and which recording option brings it. */
  empty: string;
}

/** Until it is measured, which is before the first picture. */
const WIDTH_AT_FIRST = 1200;

/** About the height of a table, px; with more rows it has a row of filters, with more than a page a pager. */
const heightOf = (rows: number | undefined, pageSize: number): number | undefined =>
  rows === undefined
    ? undefined
    : 70 + Math.min(Math.max(rows, 1), pageSize) * 29 + (rows > FEW_ROWS ? 40 : 0) + (rows > pageSize ? 40 : 0);

const NO_METERS: Readonly<Record<string, string>> = {};

/** Tables that have columns of the baseline beside their own, where one is chosen. */
const BESIDE: ReadonlySet<string> = new Set([
  "ops",
  "op_types",
  "op_paths",
  "op_names",
  "iterations",
  "ops_of_group",
  "ops_of_path",
  "ops_of_name",
  "ops_of_type",
  "ops_of_kernel",
]);

function baselineOf(table: string, url: UrlState): Readonly<Record<string, string>> {
  const { base = "", base_aggregation: aggregation = "" } = url;
  return base === "" || !BESIDE.has(table) ? {} : baselineLinks({ base, aggregation });
}

export function DataTable(props: DataTableProps) {
  const { table, name, noun, links = {}, pageSize = 25, meters = NO_METERS } = props;
  const title = [props.title, props.by, props.id].filter(Boolean).join(" ");
  const scope = useScope();
  const { profile, aggregation, domain, per = null } = scope;
  const url = useUrl();
  const state = readTableState(url, name, pageSize);
  const change = (changes: Partial<TableState>): void =>
    navigate(tableChanges(name, state, { ...state, ...changes }, pageSize));
  const filters = Object.entries(state.where).flatMap(([key, filter]) => (filter === "" ? [] : [key]));
  const narrowed = state.search !== "" || filters.length > 0;
  const shows = `${name}.timeless`;
  // What took time in the baseline has none here, but a change.
  const { timed } = props;
  const isTimed = timed !== undefined && scope.onGpu && !narrowed && (url.base ?? "") === "";
  const leavesOut = isTimed && url[shows] !== "show";
  const [least, lacking] = TIMES[timed ?? "gpu_time_ns"];
  const asked = {
    profile,
    table,
    aggregation,
    domain,
    per: props.summed === true ? per : null,
    offset: state.page * state.size,
    limit: state.size,
    sort: state.sort === "" ? (props.sort ?? "") : state.sort,
    search: state.search,
    where: { ...state.where, ...(leavesOut ? { [timed]: least } : {}), ...props.only },
    links: { ...links, ...baselineOf(table, url) },
  };
  const query = useQuery<TableResponse>(JSON.stringify([asked, scope.round]), (signal) => fetchTable(asked, signal));
  const { data, error, loading, reload } = query;
  useCauses(props.causes === true && data?.columns.some(({ key }) => key === "cause") === false, reload);
  const [measured, width] = useWidth(WIDTH_AT_FIRST);
  const layout = useColumnLayout(table, meters, data, width);
  const tools = useOneStop<HTMLDivElement>();

  // A filter or another profile can leave the page of the link behind the last one.
  const beyond = data !== null && !loading && data.rows.length === 0 && data.filtered > 0 && state.page > 0;
  const lastPage = data === null ? 0 : Math.max(Math.ceil(data.filtered / state.size) - 1, 0);
  useEffect(() => {
    if (beyond) navigate(tableChanges(name, state, { ...state, page: lastPage }, pageSize));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when an answer shows it
  }, [beyond, lastPage]);

  const head = (
    <>
      <TableTitle
        title={props.title}
        {...(props.id === undefined ? {} : { id: props.id })}
        summed={props.summed === true}
      />
      {props.tools !== undefined && <div class="table-choice">{props.tools}</div>}
    </>
  );
  // What chooses another table stays where it is, and keeps the focus, until that is loaded.
  if (props.tools !== undefined && error === null && data?.table !== table)
    return (
      <section class="data-table" aria-label={title}>
        <div {...tools}>
          <div class="table-tools">{head}</div>
        </div>
        <Loading what={noun} height={heightOf(props.rows ?? pageSize, pageSize)} />
      </section>
    );
  if (data === null)
    return error === null ? (
      <Loading what={noun} height={heightOf(props.rows, pageSize)} />
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
  const selectedColumns = pickedColumns(known, state.columns);
  const needed = [data.sort.replace("-", ""), ...filters];
  const folded = selectedColumns === null ? foldable(inView, data, needed) : [];
  const repeats = repeated(inView, data.rows, needed);
  const repeating = new Map(selectedColumns === null ? repeatedColumns(inView, data, needed) : []);
  const unfolded = inView.filter(
    (column) => !folded.includes(column) && !repeating.has(column) && !repeats.has(column.key),
  );
  const columns = selectedColumns ?? layout.fit(unfolded, needed);
  const select = (key: string): void =>
    navigate(Object.assign({ [`${name}.row`]: key }, ...(props.below ?? []).map(forgotten)) as Record<string, string>);
  const unseen = filters.filter((key) => !columns.some((column) => column.key === key));
  const nameOf = (key: string): string => {
    const value = state.where[key] ?? "";
    const label = data.columns.find((column) => column.key === key)?.label ?? key;
    return props.filterNames?.[`${key}${value}`] ?? `${label}: ${value.replace(/^=/, "")}`;
  };
  const many = narrowed || data.filtered > FEW_ROWS;
  // On one page it would only repeat what is seen, unless it says what is left out, or turns a choice back.
  const timeless = leavesOut ? data.total - data.filtered : 0;
  const tellsTimeless = isTimed && (timeless > 0 || !leavesOut);
  const hasPart =
    columns.some(({ key }) => key === "gain_ns") &&
    [data.totals, ...data.rows].some((row) => partlyRated(row) !== null);
  const paged = narrowed || data.filtered > state.size || state.size !== pageSize;
  return (
    <section class="data-table" aria-label={title}>
      <div {...tools}>
        <div class="table-tools">
          {head}
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
          {/* No field tells of them. */}
          {unseen.map((key) => (
            <button
              key={key}
              type="button"
              class="button"
              data-tip="Remove this filter"
              onClick={() => change({ where: { ...state.where, [key]: "" }, page: 0 })}
            >
              {nameOf(key)} <Icon name="close" />
            </button>
          ))}
          {(state.search !== "" || filters.length > Math.min(unseen.length, 1)) && (
            <button type="button" class="button" onClick={() => change({ search: "", where: {}, page: 0 })}>
              <Icon name="close" /> Clear filters
            </button>
          )}
          {/* What a file holds must not depend on how wide the window is. */}
          <ExportMenu asked={asked} columns={selectedColumns ?? inView} title={title} filtered={data.filtered} />
          <ColumnMenu
            columns={known}
            shown={columns}
            hasSelection={selectedColumns !== null}
            onChoose={(keys) => change({ columns: keys })}
          />
        </div>
        {data.note !== "" && <p class="muted table-said">{data.note}</p>}
      </div>
      {error !== null && (
        <p class="table-error" role="alert">
          <Icon name="warning" /> {error.message} {error.code === "bad_parameter" ? "" : error.hint}
        </p>
      )}
      <Grid
        data={data}
        columns={columns}
        state={state}
        title={title}
        busy={loading}
        empty={narrowed ? `No ${noun} match.` : timeless > 0 ? `All ${noun} are ${lacking}.` : props.empty}
        widthOf={layout.widths(columns)}
        setWidth={layout.setWidth}
        width={width}
        measured={measured}
        change={change}
        meters={meters}
        filters={many}
        isPart={narrowed || (timeless > 0 && timed === "duration_ns")}
        selected={props.selected ?? state.row}
        onSelect={props.selectable === true ? select : undefined}
      />
      {(folded.length + repeating.size > 0 || tellsTimeless || hasPart) && (
        <div class="muted table-note">
          {tellsTimeless && (
            <span>
              {leavesOut
                ? `${formatCounted(timeless, noun.replace(/s$/, ""), noun)} ${lacking}.`
                : `Those ${lacking} are listed, too.`}{" "}
              <button
                type="button"
                class="link-button"
                aria-pressed={!leavesOut}
                onClick={() => navigate({ [shows]: leavesOut ? "show" : null, [`${name}.page`]: null })}
              >
                {leavesOut ? "Show" : "Leave out"}
              </button>
            </span>
          )}
          {hasPart && <span>{PART_NOTE}</span>}
          {folded.length + repeating.size > 0 && (
            <Folded
              columns={folded}
              repeated={repeating}
              data={data}
              onShow={() => change({ columns: [...columns, ...folded, ...repeating.keys()].map(({ key }) => key) })}
            />
          )}
        </div>
      )}
      {paged && (
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
