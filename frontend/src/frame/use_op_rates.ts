import type { Row } from "../api/types";
import { numberOf, textOf, titleOf, useRow } from "./use_row";

/** The row of an op in the table of efficiency; undefined while it is loaded, without an op, and of ops without kernels. */
export const useOpRates = (op: string): ReturnType<typeof useRow> => useRow("efficiency", "op_id", op);

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
  const { row } = useRow("op_paths", "key", key);
  if (row === undefined) return null;
  return { title: titleOf(row), key, longest: textOf(row, "longest_op"), ops: numberOf(row, "ops") ?? 0, row };
}

/** More than could be, and not only by rounding to whole percent, as PyTorch does, is of others than these kernels. */
const ROUNDED = 0.005;

/** The occupancy that an op's kernels could have and had: PyTorch's trace has that of some kernels, others have other limits. */
export function occupancyOf(row: Row): { could: number | null; achieved: number | null } {
  const [could, achieved] = [numberOf(row, "occupancy_fraction"), numberOf(row, "achieved_fraction")];
  return { could, achieved: achieved !== null && could !== null && achieved > could + ROUNDED ? null : achieved };
}
