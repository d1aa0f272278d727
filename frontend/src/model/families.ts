/** What the work of a row of ops or kernels mostly is: what has a colour of its own in every chart. */
import type { Row } from "../api/types";
import type { ColourClass } from "./resources";

/** The server's name of the family of rows that launched no kernel. */
const NO_KERNELS = "copies and memsets";

/** A kernel that copies is a kernel, and so is what nobody names. Without GPU work, all time is the CPU's. */
export const workOf = ({ family }: Row, onGpu: boolean): ColourClass =>
  !onGpu ? "cpu" : family === "collective" ? "communication" : family === NO_KERNELS ? "memory" : "other_kernel";
