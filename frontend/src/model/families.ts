/** What the work of a row of ops or kernels mostly is: what has a colour of its own in every chart. */
import type { Row } from "../api/types";
import type { ColourClass } from "./resources";

/** The server's names of the families of rows that communicate with other GPUs, and that launched no kernel. */
export const COLLECTIVE = "collective";
export const NO_KERNELS = "copies and memsets";

/** Whether a row tells of matrix units, and does not know: what could not use them has no share either; an absent column tells nothing. */
const isUnknown = ({ tensor_core_fraction: share, using_tensor_cores: uses, eligible_ops: eligible }: Row): boolean =>
  typeof share !== "number" && (uses === undefined ? share === null && eligible !== 0 : uses === null);

/** Whether less than half of the GPU time is that of kernels, where both are known. */
const areMostlyCopies = ({ kernel_time_ns: kernels, gpu_time_ns: all }: Row): boolean =>
  typeof kernels === "number" && typeof all === "number" && 2 * kernels < all;

/** A share of the time of a row, by what ran. */
export interface Piece {
  work: ColourClass;
  share: number;
}

/** The time of a row in pieces: kernels on matrix units, its other kernels, copies. Of kernels, a group has one family. */
export function piecesOf(row: Row, onGpu: boolean): Piece[] {
  const work = workOf(row, onGpu);
  const { kernel_time_ns: kernelNs, gpu_time_ns: allNs } = row;
  const isDivided = onGpu && typeof kernelNs === "number" && typeof allNs === "number" && allNs > 0;
  const kernels = isDivided ? Math.min(kernelNs / allNs, 1) : work === "memory" ? 0 : 1;
  const onUnits =
    typeof row.tensor_core_fraction === "number" ? row.tensor_core_fraction : Number(row.using_tensor_cores === true);
  const tensor = onGpu ? kernels * onUnits : 0;
  return [
    { work: "tensor_core" as const, share: tensor },
    { work: workOf({ ...row, gpu_time_ns: kernelNs ?? null }, onGpu), share: kernels - tensor },
    { work: "memory" as const, share: 1 - kernels },
  ].filter(({ share }) => share > 0);
}

/** A kernel that copies is a kernel, and so is what nobody names. Without GPU work, all time is the CPU's. */
export function workOf(row: Row, onGpu: boolean): ColourClass {
  if (!onGpu) return "cpu";
  if (row.family === COLLECTIVE) return "communication";
  if (row.family === NO_KERNELS || areMostlyCopies(row)) return "memory";
  return isUnknown(row) ? "unknown_kernel" : "other_kernel";
}
