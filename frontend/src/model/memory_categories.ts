/** The colour of what memory holds: the same for a category everywhere. What nobody knows is grey, paler where it was
 * allocated in the recording. */

const paler = (colour: string, percent = 55): string => `color-mix(in srgb, ${colour} ${percent}%, var(--panel))`;

const COLOURS: Readonly<Record<string, string>> = {
  parameter: "var(--c-memory)",
  "optimizer state": "var(--c-data-loader)",
  "optimizer temporary": paler("var(--c-data-loader)"),
  gradient: "var(--c-cpu)",
  "backward temporary": paler("var(--c-cpu)"),
  "autograd detail": paler("var(--c-cpu)"),
  activation: "var(--c-other-kernel)",
  "activation or output": "var(--c-tensor-core)",
  "forward temporary": paler("var(--c-other-kernel)"),
  temporary: paler("var(--c-other-kernel)"),
  input: "var(--c-host-code)",
  "taken from the driver": "var(--c-memory)",
  // Most of it, often: quiet, so that what the recording shows stands out.
  "held before the recording": paler("var(--c-outside)", 75),
  unknown: paler("var(--c-outside)", 45),
};

/** The colour of a part of a training step: that of what it leaves in memory. */
export const phaseColour = (phase: string): string =>
  COLOURS[{ forward: "activation", backward: "gradient", optimizer: "optimizer state" }[phase] ?? ""] ??
  "var(--c-outside)";

/** A snapshot without events has no time before them: what is held is all that is in use. */
export const categoryName = (category: string, events: number): string =>
  events === 0 && category === "held before the recording" ? "in use" : category;

export const categoryColour = (category: string): string => COLOURS[category] ?? "var(--c-outside)";
