/** What limits the time of a row of Ops, in the classes and colours of the bar of Efficiency. */
import type { Cell, Row } from "../api/types";
import { piecesOf } from "./families";
import { colourOf, KEPT_OFF, type ColourClass } from "./resources";

/** Colours of what a kernel's time is limited by, also of the bar of Efficiency; copies have another blue. */
export const LIMIT_COLOURS = {
  kept_off: colourOf(KEPT_OFF),
  memory: colourOf("by_memory"),
  other: colourOf("outside"),
} as const;

const LIMITED = {
  kept_off: LIMIT_COLOURS.kept_off,
  neither: LIMIT_COLOURS.other,
} as const;

/** What a piece of the bar is: as in the bar of Efficiency, with what ran on no unit of a GPU. */
export type RowLimit = ColourClass | keyof typeof LIMITED;

export const colourOfLimit = (limit: RowLimit): string =>
  limit in LIMITED ? LIMITED[limit as keyof typeof LIMITED] : colourOf(limit as ColourClass);

/** What the colours say, in the order of the legend. */
export const rowLimits = (unit: string): readonly (readonly [RowLimit, string])[] => [
  ["tensor_core", `On ${unit}s`],
  ["kept_off", `Not on ${unit}s, but could be`],
  ["by_memory", "Limited by memory"],
  // Not what the Dashboard calls other kernels: the two above are parts of those.
  ["neither", "Other"],
  ["unknown_kernel", `Use of ${unit}s not known`],
  ["communication", "Communication"],
  ["memory", "Copies"],
  ["cpu", "On the CPU"],
];

/** The server's names of what limits kernels; all others are what keeps them off matrix units. */
const OF_LIMIT: Readonly<Record<string, RowLimit>> = {
  matrix_unit: "tensor_core",
  memory: "by_memory",
  other: "neither",
  communication: "communication",
  unknown: "unknown_kernel",
};

export const limitOf = (limit: string): RowLimit => OF_LIMIT[limit] ?? "kept_off";

const numberIn = (cell: Cell | undefined): number => (typeof cell === "number" ? cell : 0);

/** The shares of the time of a row: what is on matrix units, what could be, and the rest by what bounds most of the row. */
export function limitsOfRow(row: Row, onGpu: boolean, hasUnits = true): (readonly [RowLimit, number])[] {
  // Nothing could be on what the GPU does not have.
  if (!hasUnits) return limitsOfRow({ ...row, tensor_core_fraction: 0, kept_off_ns: 0 }, onGpu);
  return piecesOf(row, onGpu)
    .flatMap(({ work, share }): (readonly [RowLimit, number])[] => {
      if (work !== "other_kernel") return [[work, share]];
      const keptOff = Math.min(numberIn(row.kept_off_ns) / (numberIn(row.gpu_time_ns) || 1), share);
      return [
        ["kept_off", keptOff],
        [row.bound === "memory" ? "by_memory" : "neither", share - keptOff],
      ];
    })
    .filter(([, share]) => share > 0);
}

/** A sliver is not seen, but its colour would stand in the legend. */
export const LEAST_PIECE = 0.01;

/** The shares of times of a whole, in the order of the legend. */
export function partsOf(times: readonly (readonly [RowLimit, number])[], whole: number) {
  const sums = new Map<RowLimit, number>(rowLimits("").map(([kind]) => [kind, 0]));
  for (const [kind, ns] of times) sums.set(kind, (sums.get(kind) ?? 0) + ns);
  return [...sums].map(([kind, ns]) => [kind, ns / whole] as const).filter(([, share]) => share >= LEAST_PIECE);
}
