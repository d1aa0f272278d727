/** Why ops that could use matrix units do not use them, or not well. */

const CAUSES: Readonly<Record<string, { label: string; about: string }>> = {
  fp64: { label: "FP64", about: "The tensors are FP64; training rarely needs it." },
  fp32_type: {
    label: "FP32 tensors",
    about: "The tensors are FP32; automatic mixed precision would run these ops in 16 bits.",
  },
  tf32_off: {
    label: "TF32 is off",
    about: 'The tensors are FP32 and TF32 is not allowed: torch.set_float32_matmul_precision("high").',
  },
  dimension: { label: "Dimension", about: "A length is not a multiple of what the data type needs: pad it." },
  layout: {
    label: "Layout",
    about: "Kernels that only transpose stand around the one that computes: channels_last avoids them.",
  },
  too_small: { label: "Too small", about: "The work is too small for a matrix unit to matter." },
  library_choice: {
    label: "Library's choice",
    about: "Type and shape would fit; the library chose a kernel without matrix units.",
  },
  unknown: { label: "Cause unknown", about: "The recording does not tell why." },
};

export const causeLabel = (cause: string): string => CAUSES[cause]?.label ?? cause;
export const causeAbout = (cause: string): string => CAUSES[cause]?.about ?? "";
