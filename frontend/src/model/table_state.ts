/** What a table shows, and how that is written in the URL. */
import type { Column, Row, TableResponse } from "../api/types";
import type { Unit } from "../format/unit";
import { wholeNumber, type UrlState } from "./url_state";

export const PAGE_SIZES = [10, 25, 50, 100] as const;
const DEFAULT_PAGE_SIZE = 25;

export interface TableState {
  /** First page is 0. */
  page: number;
  size: number;
  /** A column key, `-` before it for descending; empty for the table's own order. */
  sort: string;
  search: string;
  where: Readonly<Record<string, string>>;
  /** The key of the selected row; empty for none. */
  row: string;
  /** The columns that the user chose; empty: those of the view, as many as fit. */
  columns: readonly string[];
}

/** The state of the table called `name`; what makes no sense in a hand-made link is left at its default. */
export function readTableState(url: UrlState, name: string, size: number = DEFAULT_PAGE_SIZE): TableState {
  const where: Record<string, string> = {};
  const prefix = `${name}.where.`;
  for (const [key, value] of Object.entries(url)) if (key.startsWith(prefix)) where[key.slice(prefix.length)] = value;
  const asked = wholeNumber(url[`${name}.size`], 9) ?? size;
  const page = wholeNumber(url[`${name}.page`], 9) ?? 1;
  return {
    page: Math.max(page - 1, 0),
    size: PAGE_SIZES.some((known) => known === asked) ? asked : size,
    sort: url[`${name}.sort`] ?? "",
    search: url[`${name}.search`] ?? "",
    where,
    row: url[`${name}.row`] ?? "",
    columns: (url[`${name}.columns`] ?? "").split(",").filter((key) => key !== ""),
  };
}

/** The changes to the URL that bring the table from `before` to `after`. Pages count from 1 there, as on screen. */
export function tableChanges(
  name: string,
  before: TableState,
  after: TableState,
  size: number = DEFAULT_PAGE_SIZE,
): Record<string, string | null> {
  const changes: Record<string, string | null> = {
    [`${name}.page`]: after.page === 0 ? null : String(after.page + 1),
    [`${name}.size`]: after.size === size ? null : String(after.size),
    [`${name}.sort`]: after.sort,
    [`${name}.search`]: after.search,
    [`${name}.row`]: after.row,
    [`${name}.columns`]: after.columns.join(","),
  };
  for (const column of Object.keys(before.where)) changes[`${name}.where.${column}`] = null;
  for (const [column, filter] of Object.entries(after.where)) changes[`${name}.where.${column}`] = filter;
  return changes;
}

const NUMERIC = new Set(["integer", "number", "duration_ns", "fraction", "bytes"]);

export const isNumeric = (column: Column): boolean => NUMERIC.has(column.type);

/** The order after a click on a column's head: numbers largest first, text from A to Z, then the other way round. */
export function nextSort(current: string, column: Column): string {
  const descending = `-${column.key}`;
  if (current === column.key) return descending;
  if (current === descending) return column.key;
  return isNumeric(column) || column.type === "boolean" ? descending : column.key;
}

/** By column of changes that of their sizes, by which they are ordered whatever their sign. */
const SIZES: Readonly<Record<string, string>> = { change_ns: "size_ns" };

/** What `aria-sort` says of a column. */
export function sortDirection(sort: string, key: string): "ascending" | "descending" | "none" {
  const by = sort.replace("-", "");
  if (by !== key && by !== SIZES[key]) return "none";
  return by === sort ? "ascending" : "descending";
}

/** Paths in `column` of which the part that is `shown` belongs to more than one op of these rows: it does not tell them apart. */
export function ambiguousPaths(
  rows: readonly Row[],
  column: string,
  shown: (path: string) => string,
): ReadonlySet<string> {
  const ids = new Map<string, Set<string>>();
  const ofOps = rows.filter(({ op_id: id }) => typeof id === "string");
  const shownOf = (row: Row): string => shown(String(row[column]));
  for (const row of ofOps) ids.set(shownOf(row), (ids.get(shownOf(row)) ?? new Set()).add(String(row.op_id)));
  return new Set(ofOps.filter((row) => (ids.get(shownOf(row))?.size ?? 0) > 1).map((row) => String(row[column])));
}

/** The columns in the words of the GPU's vendor: the server names all of them after NVIDIA's Tensor Cores. */
export function forUnit(columns: readonly Column[], matrixUnit: string): readonly Column[] {
  if (matrixUnit === "Tensor Core") return columns;
  const letters = matrixUnit.replace(/[^A-Z]/g, "");
  const inWords = (text: string): string => text.replace(/\bTC\b/g, letters).replaceAll("Tensor Core", matrixUnit);
  return columns.map((column) => ({
    ...column,
    label: inWords(column.label),
    description: inWords(column.description),
  }));
}

const OF_GPU = /gpu|kernel|tensor_core/;

/**
 * The columns of a recording without GPU work: what a GPU did is not known, and zeros would say that it was idle. The time on the
 * CPU, by which rows are sorted then, stands in its place.
 */
export function withoutGpu(columns: readonly Column[]): Column[] {
  return columns.map((column) => ({
    ...column,
    hidden: OF_GPU.test(column.key) || (column.hidden && column.key !== "cpu_time_ns"),
  }));
}

/** The initial columns of a view: only `first` if it names some, and none that another column shows as its meter. */
export function byDefault(
  columns: readonly Column[],
  first: readonly string[] | undefined,
  inMeters: readonly string[],
): Column[] {
  return columns.map((column) => ({
    ...column,
    hidden: (first === undefined ? column.hidden : !first.includes(column.key)) || inMeters.includes(column.key),
  }));
}

/** What tells rows apart stays, even where it does so only together with its tooltip. */
const NAMES = new Set(["path", "kernel_name"]);

/** So many rows are seen at a glance: no filter, page or order has to help. */
export const FEW_ROWS = 10;

/** Whether a cell has nothing to show. */
export const isEmpty = (cell: unknown): boolean => cell === null || cell === undefined || cell === "";

/** Whether it says nothing where it is the same in every row: also a side of a comparison that has nothing, and no test. */
const saysNothing = (key: string, cell: unknown): boolean =>
  isEmpty(cell) || (/^(?:[ab]|work|speed)_/.test(key) && cell === 0) || (key === "told" && cell === "not tested");

/**
 * Those of the columns that say the same in every row, except the key and those in use: one line says it as well. Where a few
 * rows stand, those with nothing to say.
 */
export const foldable = (
  columns: readonly Column[],
  { constant, key, rows: [first], total }: Pick<TableResponse, "constant" | "key" | "rows" | "total">,
  needed: readonly string[],
): Column[] =>
  columns.filter(
    (column) =>
      (total === 1 || constant.includes(column.key)) &&
      (total > FEW_ROWS || (first !== undefined && saysNothing(column.key, first[column.key]))) &&
      column.key !== key &&
      (!NAMES.has(column.type) || (first !== undefined && isEmpty(first[column.key]))) &&
      !needed.includes(column.key),
  );

/** Those of the columns that say the same as another one of them in every row, and its label. */
export const repeatedColumns = (
  columns: readonly Column[],
  { repeated }: Pick<TableResponse, "repeated">,
  needed: readonly string[],
): (readonly [Column, string])[] =>
  columns.flatMap((column) => {
    const other = columns.find(({ key }) => key === repeated[column.key]);
    return other === undefined || needed.includes(column.key) ? [] : [[column, other.label] as const];
  });

/** Calls of A and B that repeat how many ops they have, and what the time of a call changes where no number of calls does, in every row. */
export function repeated(columns: readonly Column[], rows: readonly Row[], needed: readonly string[]): Set<string> {
  const pairs = ["a", "b"].map((side) => [`${side}_ops`, `${side}_calls`] as const);
  const keys = new Set(columns.map(({ key }) => key));
  const areSame = pairs.every(
    ([ops, calls]) =>
      keys.has(ops) &&
      !needed.includes(calls) &&
      rows.every(({ [ops]: of, [calls]: called }) => isEmpty(called) || of === called),
  );
  const isOfTime =
    keys.has("speed_ns") &&
    !needed.includes("speed_ns") &&
    rows.every(({ speed_ns: speed, change_ns: change }) => isEmpty(speed) || speed === change);
  return new Set([...(areSame ? pairs.map(([, calls]) => calls) : []), ...(isOfTime ? ["speed_ns"] : [])]);
}

/** The changes to the URL after which the table called `name` starts at its first page, with nothing selected. */
export const forgotten = (name: string): Record<string, null> => ({ [`${name}.page`]: null, [`${name}.row`]: null });

/** Those of the columns that the user chose, in the table's own order; null where none of them is known here. */
export function pickedColumns(columns: readonly Column[], keys: readonly string[]): Column[] | null {
  const selected = columns.filter(({ key }) => keys.includes(key));
  return selected.length > 0 ? selected : null;
}

/** The pages to offer: first, last, the current one and its neighbours; `null` stands for a gap. Pages count from 0. */
export function pageNumbers(current: number, pages: number): (number | null)[] {
  const wanted = new Set([0, pages - 1, current - 1, current, current + 1]);
  // A gap of one page is no shorter than the page.
  if (current === 3) wanted.add(1);
  if (current === pages - 4) wanted.add(pages - 2);
  const shown = [...wanted].filter((page) => page >= 0 && page < pages).sort((a, b) => a - b);
  return shown.flatMap((page, i) => (i > 0 && page - (shown[i - 1] ?? 0) > 1 ? [null, page] : [page]));
}

const BARE = /^(?:[<>]=?|=)?\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * A filter of a column of times or sizes with the unit that its head names behind every number without one: that is what the user
 * reads above the field, while the server takes a number without a unit as nanoseconds, or bytes. One end of a range takes the unit
 * of the other.
 */
export function withOwnUnit(filter: string, unit: Unit["name"]): string {
  const ends = filter.split("..");
  const own = ends.length === 2 ? ends.map((end) => /[a-zµμ]+\s*$/i.exec(end)?.[0].trim()).find(Boolean) : undefined;
  return ends.map((end) => (BARE.test(end.trim()) ? `${end.trimEnd()}${own ?? unit}` : end)).join("..");
}

/** What a number column's filter may hold, for its tooltip. */
export function filterHelp(column: Column, unit: Unit["name"]): string {
  const own = `Without a unit: ${unit}, as in the head of the column.`;
  if (column.type === "duration_ns") return `For example >1ms, <=20us, 10us..50us. ${own}`;
  if (column.type === "fraction") return "For example >10%, <=0.5 or 10%..30%.";
  if (column.type === "bytes") return `For example >1MiB, <=20KiB or 1MiB..1GiB. ${own}`;
  if (column.type === "number") return "For example >1T, <=20M or 10..50.";
  if (isNumeric(column)) return "For example >1000, <=20, 10..50 or =7.";
  return "Shows rows that contain this text; upper and lower case do not matter.";
}
