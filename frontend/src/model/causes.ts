/** What the causes mean for which ops that could use matrix units do not use them, or not well; by the server's words for them. */
import { formatCounted } from "../format/number";
import { formatDuration, readableAndExact } from "../format/time";
import type { Cell } from "../api/types";
import type { RowCause } from "./tree_row";

/** Where `{unit}` is what the GPU calls them: `Tensor Core`, `Matrix Core`. */
const ABOUT: Readonly<Record<string, string>> = {
  FP64: "The tensors are FP64; training rarely needs it.",
  "FP32 tensors": "The tensors are FP32; in 16 bits these ops would use {unit}s.",
  "TF32 is off": "The tensors are FP32; TF32 would let {unit}s multiply them, and so would 16 bits.",
  Dimension: "A length is not a multiple of what the data type needs: pad it.",
  Layout: "Kernels that only transpose run around the one that computes; NHWC (channels_last in PyTorch) avoids them.",
  "Too small": "The work is too small for {unit}s to matter: short lengths, vectors, one channel per group.",
  "No matrix units": "The GPU has no {unit}s.",
  "Library's choice": "Type and shape would fit; the library chose a kernel that does not use {unit}s.",
  "Unknown kernels": "The names of the kernels do not tell whether they use {unit}s.",
  "Unknown GPU":
    "The kernels compute in FP32, and the recording does not name the GPU. If it has {unit}s, they would compute these ops in 16 bits.",
  "Unknown shapes": "The shapes were not recorded (record_shapes=True), or are not enough to tell why.",
  "Cause unknown": "The recording does not tell why.",
};

/** With these it is not known whether matrix units are used: they are no reasons why not. */
const UNTOLD: ReadonlySet<string> = new Set(["Unknown kernels"]);

export const isUntold = (cause: string): boolean => UNTOLD.has(cause);

/** Causes that keep work off matrix units, and those with which it is not known whether it is on them. */
export const divided = <Cause extends { label: string }>(
  causes: readonly Cause[],
): { keptOff: Cause[]; untold: Cause[] } => ({
  keptOff: causes.filter(({ label }) => !isUntold(label)),
  untold: causes.filter(({ label }) => isUntold(label)),
});

export const causeAbout = (cause: string, matrixUnit: string): string =>
  (ABOUT[cause] ?? "").replaceAll("{unit}", matrixUnit);

/** All causes of a group or op, with their times and ops, and what can be done about the first. */
export function causesTip(causes: readonly RowCause[], limitedNs: number, matrixUnit: string): string {
  const [main] = causes;
  if (main === undefined) return "";
  const lines = causes.map(
    ({ label, kernelNs, ops }) => `${label}: ${readableAndExact(kernelNs)} in ${formatCounted(ops, "op")}`,
  );
  return [
    `Of eligible ops, not ${isUntold(main.label) ? "known to be " : ""}on ${matrixUnit}s: ${formatDuration(limitedNs)} of kernel time`,
    ...lines,
    causeAbout(main.label, matrixUnit),
  ].join("\n");
}

/** Whether an op could use matrix units, in the server's word, and does; null where that is not known. */
export function eligibilitySentence(eligibility: string, uses: Cell, matrixUnit: string): string {
  if (uses === true) return `Uses ${matrixUnit}s.`;
  if (eligibility === "eligible")
    return uses === false
      ? `Could use ${matrixUnit}s, and does not.`
      : `Could use ${matrixUnit}s; whether it does is not known.`;
  return eligibility === "not eligible"
    ? `Not eligible for ${matrixUnit}s.`
    : `Whether it could use ${matrixUnit}s is not known.`;
}
