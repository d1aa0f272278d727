import { fetchTable } from "../api/client";
import type { TableResponse } from "../api/types";
import { scopeKey, useScope } from "./scope";
import { useQuery } from "./use_query";

/**
 * The key of the only row of what a selected group sums: where it is one op, a table of it would repeat the group's row. Empty where
 * there are several rows, or none; null while that is not known, and without a group.
 */
export function useOnlyRow(table: string, links: Readonly<Record<string, string>>): string | null {
  const scope = useScope();
  const asked = { ...scope, table, links, offset: 0, limit: 1, sort: "", search: "", where: {} };
  const query = useQuery<TableResponse>(links.row === "" ? null : scopeKey(scope, "only", table, links), (signal) =>
    fetchTable(asked, signal),
  );
  if (query.data === null) return query.error === null ? null : "";
  const { total, rows, key } = query.data;
  return total === 1 ? String(rows[0]?.[key] ?? "") : "";
}
