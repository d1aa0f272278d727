import { fetchTable } from "../api/client";
import type { Row, TableResponse } from "../api/types";
import { splitPath } from "../model/kernel_name";
import { scopeKey, useScope } from "./scope";
import { useQuery } from "./use_query";

/** The row of an op in the table of efficiency; undefined while it is loaded, without an op, and of ops without kernels. */
export function useOpRates(op: string): { row: Row | undefined; loading: boolean } {
  const scope = useScope();
  const { profile, aggregation, domain } = scope;
  const asked = { profile, aggregation, domain, table: "efficiency", offset: 0, limit: 1, sort: "", search: "" };
  const query = useQuery<TableResponse>(op === "" ? null : scopeKey(scope, op), (signal) =>
    fetchTable({ ...asked, where: { op_id: `=${op}` }, links: {} }, signal),
  );
  return { row: query.data?.rows.find(({ op_id: id }) => id === op), loading: query.loading };
}

/** Ops that are alike: a row of the table of groups, or a dot of the roofline. */
export interface SelectedGroup {
  title: string;
  /** The key of its row; empty for a dot. */
  key: string;
  /** The id of the op with the most time, and how many there are. */
  longest: string;
  ops: number;
  /** What is known of all of them, by the keys of the table. */
  row: Row;
}

/** The group of a key; null while it is loaded, without a key, and where there is no such group. */
export function useGroup(key: string): SelectedGroup | null {
  const scope = useScope();
  const { profile, aggregation, domain } = scope;
  const asked = { profile, aggregation, domain, table: "op_paths", offset: 0, limit: 1, sort: "", search: "" };
  const query = useQuery<TableResponse>(key === "" ? null : scopeKey(scope, "group", key), (signal) =>
    fetchTable({ ...asked, where: { key: `=${key}` }, links: {} }, signal),
  );
  const row = query.data?.rows.find(({ key: found }) => found === key);
  if (row === undefined) return null;
  const title = [splitPath(textOf(row, "name")).name, textOf(row, "direction")].filter(Boolean).join(" ");
  return { title, key, longest: textOf(row, "longest_op"), ops: numberOf(row, "ops") ?? 0, row };
}

/** More than could be, and not only by rounding to whole percent, as PyTorch does, is of others than these kernels. */
const ROUNDED = 0.005;

/** The occupancy that an op's kernels could have and had: PyTorch's trace has that of some kernels, others have other limits. */
export function occupancyOf(row: Row): { could: number | null; achieved: number | null } {
  const [could, achieved] = [numberOf(row, "occupancy_fraction"), numberOf(row, "achieved_fraction")];
  return { could, achieved: achieved !== null && could !== null && achieved > could + ROUNDED ? null : achieved };
}

export const numberOf = (row: Row, key: string): number | null => {
  const value = row[key];
  return typeof value === "number" ? value : null;
};

export const textOf = (row: Row, key: string): string => {
  const value = row[key];
  return typeof value === "string" ? value : "";
};
