/** One row of a table of the server, by its key, and its cells by their types. */
import { fetchTable } from "../api/client";
import type { Row, TableResponse } from "../api/types";
import { splitPath } from "../model/kernel_name";
import { scopeKey, useScope } from "./scope";
import { useQuery } from "./use_query";

export const NO_LINKS: Readonly<Record<string, string>> = {};

/** The row of which `column` is `key`; undefined while it is loaded, without a key, and where there is no such row. */
export function useRow(
  table: string,
  column: string,
  key: string,
  links = NO_LINKS,
): { row: Row | undefined; loading: boolean } {
  const scope = useScope();
  const asked = { ...scope, table, links, offset: 0, limit: 1, sort: "", search: "", where: { [column]: `=${key}` } };
  const query = useQuery<TableResponse>(key === "" ? null : scopeKey(scope, "row", table, links, key), (signal) =>
    fetchTable(asked, signal),
  );
  const { data, loading } = query;
  return { row: data?.table === table ? data.rows.find((row) => String(row[column]) === key) : undefined, loading };
}

export const numberOf = (row: Row, key: string): number | null => {
  const value = row[key];
  return typeof value === "number" ? value : null;
};

export const textOf = (row: Row, key: string): string => {
  const value = row[key];
  return typeof value === "string" ? value : "";
};

/** What an op, or a group of ops, is called where its path has no room. */
export const titleOf = (row: Row): string =>
  [splitPath(textOf(row, "name")).name, textOf(row, "direction")].filter(Boolean).join(" ");
