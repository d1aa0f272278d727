/** What the work of a row of ops or kernels mostly is: what has a colour of its own in every chart. */
import type { Row } from "../api/types";
import type { ColourClass } from "./resources";

/** The server's name of the family of rows that launched no kernel. */
const NO_KERNELS = "copies and memsets";

/** Whether a row tells of matrix units, and does not know: `null` is unknown, an absent column tells nothing. */
const isUnknown = (row: Row): boolean =>
  row.tensor_core_fraction === null || (row.tensor_core_fraction === undefined && row.using_tensor_cores === null);

/** Whether less than half of the GPU time is that of kernels, where both are known. */
const areMostlyCopies = ({ kernel_time_ns: kernels, gpu_time_ns: all }: Row): boolean =>
  typeof kernels === "number" && typeof all === "number" && 2 * kernels < all;

/** A kernel that copies is a kernel, and so is what nobody names. Without GPU work, all time is the CPU's. */
export function workOf(row: Row, onGpu: boolean): ColourClass {
  if (!onGpu) return "cpu";
  if (row.family === "collective") return "communication";
  if (row.family === NO_KERNELS || areMostlyCopies(row)) return "memory";
  return isUnknown(row) ? "unknown_kernel" : "other_kernel";
}
