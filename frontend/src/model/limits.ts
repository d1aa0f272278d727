/** The parts of the kernel time by what limits them, as segments of a bar that sums to all of it. */
import type { EfficiencyResponse } from "../api/types";
import { colourOf } from "./resources";
import type { BarSegment } from "./step";

/** Parts that are no causes: their names, colours, and what is said of them. */
const PLAIN: Readonly<Record<string, readonly [label: string, colour: string, about: string]>> = {
  memory: ["Limited by memory", colourOf("memory"), "Not eligible, and what they must move takes the longest."],
  other: ["Other", colourOf("other_kernel"), "Not eligible, and limited by neither memory nor communication."],
  communication: ["Communication", colourOf("communication"), "Collectives."],
  unknown: ["Unknown kernels", colourOf("unknown_kernel"), "Nothing tells whether they use {unit}s."],
  rest: ["In no op", colourOf("other"), "Kernels whose launch belongs to no op, and CUDA graphs."],
};

const PALER = 0.6;

/** `whole` is all kernel time; what no op launched is the rest of it. */
export function limitSegments(
  { limits, causes }: Pick<EfficiencyResponse, "limits" | "causes">,
  whole: number,
  unit: string,
): BarSegment[] {
  const known = limits.reduce((sum, { kernel_ns: ns }) => sum + ns, 0);
  const all = whole > known ? [...limits, { limit: "rest", kernel_ns: whole - known }] : limits;
  let causesSoFar = 0;
  return all.map(({ limit, kernel_ns: ns }): BarSegment => {
    if (limit === "matrix_unit")
      return { ...segment(limit, ns), label: `On ${unit}s`, colour: colourOf("tensor_core"), about: "" };
    const plain = PLAIN[limit];
    if (plain !== undefined) {
      const [label, colour, about] = plain;
      return { ...segment(limit, ns), label, colour, about: about.replace("{unit}", unit) };
    }
    const key = limit === "cause_unknown" ? "unknown" : limit;
    const cause = causes.find((each) => each.cause === key)?.label ?? key;
    return {
      ...segment(limit, ns),
      label: `Not on ${unit}s: ${cause}`,
      // The next one is paler, so that the legend tells them apart.
      colour:
        causesSoFar++ === 0
          ? colourOf("cpu")
          : `color-mix(in srgb, ${colourOf("cpu")} ${PALER ** (causesSoFar - 1) * 100}%, white)`,
      about: "Eligible, but not on them.",
      to: { "eff.where.cause": cause, "eff.page": null },
    };
  });
}

const segment = (key: string, ns: number): Pick<BarSegment, "key" | "ns" | "to"> => ({ key, ns, to: null });
