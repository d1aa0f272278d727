import { describe, expect, it } from "vitest";

import type { StepIteration } from "./step";
import type { Diagnosis } from "../api/types";
import { answerOf, saidOf, spanOf, withWhole } from "./answer";
import { longestShown, medianNs } from "./iterations";

const iterations = [5, 6, 7, 8].map((number): StepIteration => ({ number, wall_ns: 1, typical: true, segments: [] }));
const typical = { start: 1, stop: 3, left_out: [], why: ["warm_up"], said: "", labels: [] };

describe("which iterations are counted", () => {
  it("is told as the backend says it", () => {
    const said = "Iterations 6 to 8: 3 of 4 recorded. Iteration 5 took 2.6 times the median: warm-up.";
    expect(saidOf({ typical: { ...typical, said } }, { iterations })).toBe(said);
  });

  it("is short where all are", () => {
    const all = { ...typical, start: 0, why: [], said: "Iterations 5 to 8: 4 of 4 recorded." };
    expect(saidOf({ typical: all }, { iterations })).toBe("All 4 iterations.");
    const few = { ...all, said: `${all.said} Few long ones make the mean.` };
    expect(saidOf({ typical: few }, { iterations })).toBe("All 4 iterations. Few long ones make the mean.");
  });
});

describe("the sentence", () => {
  it.each([
    ["Computing 44 % of 160 ms; the rest", true, "Computing 44 % of a 160 ms iteration; the rest"],
    [
      "Computing at least 0 % of 1.07 s on the GPU that",
      false,
      "Computing at least 0 % of the 1.07 s recorded on the GPU that",
    ],
    ["Computing over 99.9 % of 7.81 s; nothing", false, "Computing over 99.9 % of the 7.81 s recorded; nothing"],
    ["Computing 16 % of 823 µs; the rest", true, "Computing 16 % of an 823 µs iteration; the rest"],
    ["Computing 16 % of 18.3 ms; the rest", true, "Computing 16 % of an 18.3 ms iteration; the rest"],
    ["Computing 16 % of 118 ms; the rest", true, "Computing 16 % of a 118 ms iteration; the rest"],
    [
      "Computing 31 % of 531 µs on average (median 154 µs); launching",
      true,
      "Computing 31 % of a 531 µs iteration on average (median 154 µs); launching",
    ],
    ["Only copies: 99.8 % of 30.7 ms.", true, "Only copies: 99.8 % of a 30.7 ms iteration."],
    ["The iterations have no length.", true, "The iterations have no length."],
  ])("says what the time of '%s' is", (headline, marked, said) => {
    expect(withWhole({ headline, marked })).toBe(said);
  });
});

describe("the culprit", () => {
  const of = (parts: Record<string, number>) => {
    const row = { part: "launching", path: "/linear", call: "cudaLaunchKernel", time_ns: 20 };
    const mean = { wall_ns: 100, devices: { 0: { parts, rows: [row] } } };
    const diagnosis = { headline: "", marked: true, typical: { ...typical, left_out: [], why: [] }, mean };
    return answerOf(diagnosis as unknown as Diagnosis, { iterations }).culprit;
  };

  it("is that of most of what costs most, where that has a name", () => {
    expect(of({ compute_other: 60, launching: 30, unrecorded: 10 })).toBe("/linear · cudaLaunchKernel");
    expect(of({ compute_other: 60, launching: 10, unrecorded: 30 })).toBe("");
    expect(of({ compute_other: 59, launching: 41 })).toBe("");
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

  it("is that of the aggregated ones, whatever the others took", () => {
    const rows = [row(1_000, false), row(10), row(12), row(11)];
    expect(medianNs(rows)).toBe(11);
    expect(longestShown(rows)).toBe(18);
    expect(medianNs([row(786), row(860)])).toBe(823);
    expect(longestShown([...rows, row(900)])).toBe(11.5 * 4 * 1.5);
  });
});

it("tells another time that DLProf's numbers are shares of", () => {
  const mean = { wall_ns: 6_670_000, devices: {}, iterations: 1, selected: [0] };
  expect(spanOf({ marked: false, mean }, 2_860_000_000)).toBe(
    "From the first to the last GPU work; DLProf's panels below are about all 2.86 s.",
  );
  expect(spanOf({ marked: false, mean }, 6_670_100)).toBe("");
  expect(spanOf({ marked: true, mean }, 60_000_000)).toBe("");
});
