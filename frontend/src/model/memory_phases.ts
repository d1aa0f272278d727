/** The strip of the phases of a training step. */
import type { MemoryPhase } from "../api/responses";

/** So much narrower than a pixel a part is not seen. */
const SEEN = 0.5;
/** Parts that are fewer pixels apart look like stripes. */
const HAIR = 3;

/**
 * Parts of a strip, on which a pixel stands for `pixel`. Those of one phase that are a hair apart are one, also around a part of
 * another that cannot be seen: between the ops of the backward pass there are instants outside of it.
 */
export function mergedPhases(phases: readonly MemoryPhase[], pixel: number): MemoryPhase[] {
  const result: MemoryPhase[] = [];
  for (const part of phases) {
    const between = result.at(-1);
    if (
      between !== undefined &&
      between.to - between.from < SEEN * pixel &&
      between.phase !== part.phase &&
      result.at(-2)?.phase === part.phase
    )
      result.pop();
    const last = result.at(-1);
    if (last?.phase === part.phase && part.from - last.to < HAIR * pixel) last.to = Math.max(last.to, part.to);
    else result.push({ ...part });
  }
  return result;
}
