/** The strip of the phases of a training step above the curve, and which of them its legend names. */
import type { MemoryCurveResponse } from "../../api/types";
import { phaseColour } from "../../model/memory_categories";

/** The strip of phases above the curve. */
export const STRIP = 18;
export const PHASE_OPACITY = 0.45;
const LETTER = 7;

/** Whether the name of a phase stands in so wide a part of the strip. */
const hasRoom = (phase: string, width: number): boolean => width > phase.length * LETTER + 4;

/** The phases, each once; none where the strip names them all. */
export const keyedPhases = (
  phases: MemoryCurveResponse["phases"],
  widthOf: (from: number, to: number) => number,
): string[] => {
  const named = new Set(phases.flatMap(({ phase, from, to }) => (hasRoom(phase, widthOf(from, to)) ? [phase] : [])));
  const all = [...new Set(phases.map(({ phase }) => phase))];
  return all.every((phase) => named.has(phase)) ? [] : all;
};

interface PhaseSpanProps {
  phase: string;
  x: number;
  width: number;
  about: string;
  /** Whether no legend names the phases: one that is named in places would leave open what the others are. */
  named: boolean;
}

/** A part of a training step, with its name where there is room. */
export function PhaseSpan({ phase, x, width, about, named }: PhaseSpanProps) {
  return (
    <g data-tip={about}>
      <rect
        x={x}
        y={2}
        width={Math.max(width - 0.5, 0.5)}
        height={STRIP - 4}
        fill={phaseColour(phase)}
        opacity={PHASE_OPACITY}
      />
      {named && hasRoom(phase, width) && (
        <text class="memory-phase" x={x + 4} y={STRIP - 6}>
          {phase}
        </text>
      )}
    </g>
  );
}
