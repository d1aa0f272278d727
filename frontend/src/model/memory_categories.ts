/** The colour of what memory holds: the same for a category everywhere. What nobody knows is grey, paler where it was
 * allocated in the recording. */

const paler = (colour: string, percent = 55): string => `color-mix(in srgb, ${colour} ${percent}%, var(--panel))`;

/** What memory holds: its colour, and what it is. */
export const CATEGORIES: Readonly<Record<string, readonly [colour: string, about: string]>> = {
  parameter: ["var(--held-parameter)", "Parameters of the model, as PyTorch's memory timeline tells."],
  "optimizer state": ["var(--held-optimizer)", "Allocated in the optimizer's step, and kept."],
  "optimizer temporary": [paler("var(--held-optimizer)"), "Allocated and freed in the optimizer's step."],
  gradient: [
    "var(--held-gradient)",
    "Allocated in the backward pass, and freed by zero_grad, in the next step, or not at all.",
  ],
  "backward temporary": [paler("var(--held-gradient)"), "Allocated and freed in the backward pass."],
  "autograd detail": [
    paler("var(--held-gradient)"),
    "What autograd keeps besides, as PyTorch's memory timeline tells.",
  ],
  activation: ["var(--held-activation)", "Allocated in the forward pass, and freed in the backward pass."],
  "activation or output": ["var(--held-output)", "Allocated in the forward pass, and not freed while it is recorded."],
  "forward temporary": [paler("var(--held-activation)"), "Allocated and freed in the forward pass."],
  temporary: [paler("var(--held-activation)"), "Allocated and freed, in no phase that is known."],
  input: ["var(--held-input)", "Inputs of the model, as PyTorch's memory timeline tells."],
  "taken from the driver": ["var(--held-parameter)", "Pieces in which a framework's allocator may keep many tensors."],
  // Most of it, often: quiet, so that what the recording shows stands out.
  "held before the recording": [paler("var(--c-outside)", 75), "In use when the recording begins."],
  unknown: [paler("var(--c-outside)", 45), "Nothing tells what it is."],
};

export const categoryColour = (category: string): string => CATEGORIES[category]?.[0] ?? "var(--c-outside)";

/** The colour of a part of a training step: that of what it leaves in memory. */
export const phaseColour = (phase: string): string =>
  categoryColour({ forward: "activation", backward: "gradient", optimizer: "optimizer state" }[phase] ?? "");

/** A snapshot without events has no time before them: what is held is all that is in use. */
export const categoryName = (category: string, events: number): string =>
  events === 0 && category === "held before the recording" ? "in use" : category;
