import { describe, expect, it } from "vitest";

import type { StepIteration } from "./step";
import { includedBesides, leavesOut, meanSaid, saidOf, spanOf, spentOn } from "./answer";
import { longestShown, medianNs } from "./iterations";

const iterations = [5, 6, 7, 8].map((number): StepIteration => ({ number, wall_ns: 1, typical: true, segments: [] }));
const typical = { start: 1, stop: 3, left_out: [], why: ["warm_up"], said: "", mean_said: "", labels: [] };

const of = (changes: Partial<typeof typical>, selected: number[]) => ({
  typical: { ...typical, ...changes },
  mean: { iterations: selected.length, selected, wall_ns: 1, devices: {} },
});

describe("which iterations are counted", () => {
  const said = "Iterations 6 to 8: 3 of 4 recorded. Iteration 5 took 15.7 ms, 2.6 times the median: warm-up.";

  it("is told as the backend says it", () => {
    expect(saidOf(of({ said }, [1, 2, 3]), { iterations })).toBe(said);
    expect(leavesOut(of({ said }, [1, 2, 3]), { iterations })).toBe(true);
    expect(includedBesides(of({ said }, [1, 2, 3]))).toBe(0);
  });

  it("is short where all are", () => {
    const all = { start: 0, why: [], said: "Iterations 5 to 8: 4 of 4 recorded." };
    expect(saidOf(of(all, [0, 1, 2, 3]), { iterations })).toBe("All 4 iterations.");
    expect(leavesOut(of(all, [0, 1, 2, 3]), { iterations })).toBe(false);
    const few = { ...all, said: `${all.said} Long ones make the mean.`, mean_said: "Long ones make the mean." };
    expect(saidOf(of(few, [0, 1, 2, 3]), { iterations })).toBe("All 4 iterations. Long ones make the mean.");
    expect(saidOf(of(few, [0, 1, 2, 3]), { iterations }, true)).toBe("All 4 iterations.");
    expect(meanSaid(of(few, [0, 1, 2, 3]))).toBe("Long ones make the mean.");
    expect(meanSaid(of(few, [0, 1]))).toBe("");
  });

  it("says what a user included", () => {
    const chosen = of({ said }, [0, 1, 2, 3]);
    expect(saidOf(chosen, { iterations })).toBe(
      "All 4 iterations. Included: iteration 5 took 15.7 ms, 2.6 times the median: warm-up.",
    );
    expect(leavesOut(chosen, { iterations })).toBe(false);
    expect(includedBesides(chosen)).toBe(1);
    const end = "Iterations 6 to 7: 2 of 4 recorded. Iteration 5 took 9 ms, twice the median: warm-up. ";
    const both = { start: 1, stop: 2, said: `${end}Iteration 8 took 1 ms, half the median: cut off.` };
    expect(saidOf(of(both, [1, 2, 3]), { iterations })).toBe(
      "Iterations 6 to 8: 3 of 4 recorded. Included: iteration 8 took 1 ms, half the median: cut off.",
    );
    const beside = { ...both, said: `${both.said} 9.1 % of the GPU's work is in no iteration.` };
    expect(saidOf(of(beside, [2]), { iterations })).toBe(
      "Iteration 7: 1 of 4 recorded. 9.1 % of the GPU's work is in no iteration.",
    );
    expect(includedBesides(of(both, [2]))).toBe(0);
  });
});

describe("the axis of the iterations", () => {
  const row = (duration_ns: number, profiled = true) => ({
    iteration: 1,
    stop_iteration: 1,
    count: 1,
    start_ns: 0,
    duration_ns,
    profiled,
    parts: null,
  });

  it("is that of the longest which is not many times as long as the next", () => {
    expect(medianNs([row(1_000, false), row(10), row(12), row(11)])).toBe(11);
    expect(medianNs([row(786), row(860)])).toBe(823);
    expect(longestShown([row(1_000, false), row(10), row(12), row(11)])).toBe(12);
    // They vary a lot: only the one that breaks the scale is cut.
    expect(longestShown([20_900, 1_810, 1_640, 1_240, 950, 159, 150, 50].map((ns) => row(ns)))).toBe(1_810);
    expect(longestShown([row(900), row(300), row(12), row(11), row(11), row(10), row(9)])).toBe(12);
    // Of two kinds of iterations both are shown.
    expect(longestShown([row(100), row(100), row(10), row(10), row(11)])).toBe(100);
    expect(longestShown([row(25), row(10), row(10), row(10)])).toBe(25);
    expect(longestShown([])).toBe(1);
  });
});

it("tells another time that DLProf's numbers are shares of", () => {
  const mean = { wall_ns: 6_670_000, devices: {}, iterations: 1, selected: [0] };
  expect(spanOf({ marked: false, mean }, 2_860_000_000)).toBe("DLProf's panels are about all 2.86 s recorded.");
  expect(spanOf({ marked: false, mean }, 6_670_100)).toBe("");
  expect(spanOf({ marked: true, mean }, 60_000_000)).toBe("");
});

it("says what the only iteration is spent on, where the sentence is of the time that was just told", () => {
  const headline =
    "Computing 16.0 % (none of it on Tensor Cores) of an 823 µs iteration on GPU 1; launching costs most.";
  const one = { headline, marked: true, mean: { iterations: 1, selected: [0], wall_ns: 823_000, devices: {} } };
  expect(spentOn(one, 823_400)).toBe(
    "Computing 16.0 % (none of it on Tensor Cores) of it on GPU 1; launching costs most.",
  );
  expect(spentOn({ ...one, headline: "Only copies: 99.8 % of a 30.7 ms iteration." }, 823_000)).toBe(
    "Only copies: 99.8 % of it.",
  );
  expect(spentOn(one, 990_000)).toBe("");
  expect(spentOn({ ...one, marked: false }, 823_000)).toBe("");
  expect(spentOn({ ...one, mean: { ...one.mean, iterations: 2 } }, 823_000)).toBe("");
});
