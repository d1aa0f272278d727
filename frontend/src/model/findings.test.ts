import { describe, expect, it } from "vitest";

import type { DiagnosedFinding, Diagnosis } from "../api/types";
import {
  askingFirst,
  countedFindings,
  firstClause,
  firstOf,
  gainTime,
  missingWork,
  mostShare,
  notesBeside,
  opening,
  rangeText,
  withoutGain,
  withoutGainWhy,
} from "./findings";

describe("findings", () => {
  it("says a range with its unit once", () => {
    expect(rangeText("1.5 %", "3.2 %")).toBe("1.5 to 3.2 %");
    expect(rangeText("<0.1 %", "5.0 %")).toBe("<0.1 % to 5.0 %");
    expect(rangeText("5.0 %", "5.0 %")).toBe("5.0 %");
  });

  it("leaves the details of a sentence out", () => {
    expect(firstClause("488 kernels take 29.4 ms of each iteration (17 %, most in /a(b), 15.4 ms): each reads.")).toBe(
      "488 kernels take 29.4 ms of each iteration (17 %)",
    );
    expect(
      firstClause("The GPU waits 52 ms (23 %) while the host is in ops for 45 ms and in other code for 7 ms: /a most."),
    ).toBe("The GPU waits 52 ms (23 %) while the host is in ops for 45 ms and in other code for 7 ms");
    expect(firstClause("Kernels of FlashAttention 2, made for Ampere, run: 4 of them take 1 ms (5 %).")).toBe(
      "Kernels of FlashAttention 2, made for Ampere, run",
    );
    expect(firstClause("Start-up takes 12.3 s of 12.9 s (95 %) in 26 first calls: cudaFree in std::a.")).toBe(
      "Start-up takes 12.3 s of 12.9 s (95 %) in 26 first calls",
    );
    expect(firstClause("No iterations are marked.")).toBe("No iterations are marked");
  });

  it("puts what asks for no change last", () => {
    const warmUp = { severity: "info", per: "once" } as const;
    const overhead = { severity: "info", per: "iteration" } as const;
    const start = { severity: "warning", per: "once" } as const;
    expect(askingFirst([warmUp, overhead, start])).toEqual([overhead, start, warmUp]);
  });

  it("shows of several ways to one gain the first, and what is blamed, where few are shown", () => {
    const finding = (rule: string, part: string | null, time_ns: number, overlaps_with: string[] = []) =>
      ({ rule, part, time_ns, overlaps_with, severity: "warning", per: "iteration" }) as DiagnosedFinding;
    const amp = finding("amp", "compute", 3, ["tf32"]);
    const tf32 = finding("tf32", "compute", 3, ["amp"]);
    const smaller = finding("fp8", "compute", 2, ["amp"]);
    const [host, copies] = [finding("host", "host_op", 2), finding("copies", "copy", 1)];
    const ofNoPart = finding("marks", null, 1);
    const rules = (blamed: string | null): string[] =>
      firstOf([amp, tf32, smaller, host, copies, ofNoPart], 3, blamed).map(({ finding: { rule } }) => rule);
    expect(rules(null)).toEqual(["amp", "fp8", "host"]);
    expect(rules("copy")).toEqual(["amp", "fp8", "copies"]);
    expect(rules("host_op")).toEqual(["amp", "fp8", "host"]);
    expect(rules("io")).toEqual(["amp", "fp8", "host"]);
    const shown = firstOf([amp, tf32, smaller], 3, null);
    expect(shown.map(({ others }) => others.map(({ rule }) => rule))).toEqual([["tf32"], []]);
  });

  it("shows what asks for no change where it is blamed, or nothing else is there", () => {
    const finding = (rule: string, part: string | null, severity: string, per: string) =>
      ({
        rule,
        part,
        severity,
        per,
        time_ns: 1,
        gain: { high_ns: 1 },
        overlaps_with: [] as string[],
      }) as unknown as DiagnosedFinding;
    const [host, copies] = [finding("host", "host_op", "info", "once"), finding("copies", "copy", "info", "once")];
    const launch = finding("launch", "launching", "warning", "iteration");
    const rules = (findings: DiagnosedFinding[], blamed: string | null): string[] =>
      firstOf(findings, 3, blamed).map(({ finding: { rule } }) => rule);
    expect(rules([host, copies, launch], null)).toEqual(["launch"]);
    expect(rules([host, copies, launch], "copy")).toEqual(["launch", "copies"]);
    expect(rules([host, copies], null)).toEqual(["host", "copies"]);
  });

  it("leaves the places to what gains, where anything does", () => {
    const finding = (rule: string, time_ns: number | null, per: string, gain: object | null): DiagnosedFinding =>
      ({ rule, part: rule, severity: "warning", per, time_ns, gain, overlaps_with: [] }) as unknown as DiagnosedFinding;
    const none = { high_ns: null, none_while: "the data loader limits" };
    const notes = [finding("marks", null, "iteration", null), finding("limited", 2, "iteration", none)];
    const atStart = { ...finding("start", 9, "once", null), severity: "info" as const };
    const gains = finding("amp", 5, "iteration", { high_ns: 4, none_while: null });
    const unknown = finding("wait", 3, "iteration", { high_ns: null, none_while: null });
    const rules = (findings: DiagnosedFinding[], blamed: string | null = null): string[] =>
      firstOf(findings, 3, blamed).map(({ finding: { rule } }) => rule);
    expect(rules([...notes, atStart, unknown, gains], "start")).toEqual(["wait", "amp"]);
    expect(rules([...notes, atStart])).toEqual(["marks", "limited"]);
  });

  it("counts as notes what is a line, not a card: what gains nothing and is no fault", () => {
    const told = { cannot_tell: null, most_ns: null, none_while: null };
    const gain = { low_ns: 1, high_ns: 2, share_low: 0.1, share_high: 0.2, how: null, ...told };
    const untold = { ...gain, low_ns: null, high_ns: null, share_low: null, share_high: null };
    const [change, note] = [{ gain, severity: "advice" } as const, { gain: null, severity: "info" } as const];
    const most = { gain: { ...untold, most_ns: 3_115_804 }, severity: "advice" } as const;
    const missing = { gain: null, severity: "warning" } as const;
    expect(countedFindings([change, most, missing, note])).toBe("3 changes, 1 note");
    expect([[change], [note, note], []].map(countedFindings)).toEqual(["1 change", "2 notes", ""]);
    expect(mostShare({ ...most, time_ns: 31_158_040, share: 0.2 })).toBeCloseTo(0.02);
  });

  it("says what is gained in the unit of the time that the sentence beside it names", () => {
    const gains = [24_000_000, 774_000].map((high_ns) => gainTime({ low_ns: high_ns / 2, high_ns }));
    expect(gains).toEqual(["12.0 to 24.0 ms", "387 to 774 µs"]);
  });

  it("says in place of a gain what time it is about", () => {
    const none = { low_ns: null, high_ns: null, share_low: null, share_high: null, how: null };
    const gain = { ...none, cannot_tell: "x", most_ns: null, none_while: null };
    const about = { gain, per: "iteration", time_ns: 2_000_000, share: 0.5 } as const;
    expect(withoutGain(about)).toEqual(["2.00 ms, 50.0 %", "gain not known"]);
    expect(withoutGain({ ...about, gain: null, per: "once", share: null })).toEqual(["2.00 ms", "happens once"]);
    const cannot_tell = "none while the data loader limits: kernels get 1 ms shorter. Mend that first.";
    const later = { ...gain, cannot_tell, none_while: "the data loader limits" };
    expect(withoutGain({ ...about, gain: later })).toEqual(["2.00 ms, 50.0 %", "none while the data loader limits"]);
    expect(withoutGainWhy(later)).toBe(`No gain${cannot_tell.slice(4)}`);
    expect(withoutGainWhy(gain)).toBe("Gain not known: x.");
    expect(withoutGainWhy(null)).toBe("");
    const cannot = "at most 3.12 ms, which the host takes for launches that could go.";
    const most = { ...gain, cannot_tell: cannot, most_ns: 3_115_804 };
    expect(withoutGain({ ...about, gain: most })).toEqual(["2.00 ms, 50.0 %", "at most 3.12 ms of launches"]);
    expect(withoutGainWhy(most)).toBe("Gains at most 3.12 ms, which the host takes for launches that could go.");
    expect(withoutGain({ ...about, gain: null, time_ns: null, share: null })).toEqual(["no gain in time"]);
  });

  it("fills places with notes, but with none that the Dashboard says elsewhere", () => {
    const of = (...rules: string[]) => rules.map((rule) => ({ rule }) as DiagnosedFinding);
    const beside = of("no_iterations_detector", "iteration_range_detector");
    const [told, others] = [of("told"), of("slow", "once")];
    expect(notesBeside([...beside, ...told, ...others], told, 4)).toEqual(others);
    expect(notesBeside([...beside, ...others], [], 1)).toEqual(others.slice(0, 1));
  });

  it("says of a gain from nothing what it can be", () => {
    expect(gainTime({ low_ns: 0, high_ns: 1_381_937 })).toBe("up to 1.38 ms");
  });

  it("opens evidence in the view that shows it", () => {
    expect(opening({ kind: "op", key: "CONV2D_1" }, null)).toEqual({
      view: "ops",
      "ops.by": "none",
      "ops.row": "CONV2D_1",
      "ops.where.op_id": "=CONV2D_1",
    });
    expect(opening({ kind: "kernel", key: "k" }, 5)?.["iters.row"]).toBe("5");
    expect(opening({ kind: "kernel", key: "k" }, null)).toBeNull();
    expect(opening({ kind: "call", key: "cudaDeviceSynchronize" }, 5)).toBeNull();
    expect(opening({ kind: "function", key: "train.py(42): step" }, 5)).toBeNull();
    expect(opening({ kind: "iteration", key: "7" }, null)).toMatchObject({ "iterations.from": "5" });
  });
});

it("says in how much of the time GPU work is missing, where that is what the finding says", () => {
  const finding = (missing_work: string | null) => ({
    rule: "unrecorded_gpu_work",
    missing_work,
    time_ns: 53_410_928,
    share: 0.853,
  });
  const of = (missing: string | null, iterations = 1, marked = true) =>
    missingWork({
      findings: [finding(missing)],
      marked,
      mean: { iterations, wall_ns: 62_618_000 },
    } as unknown as Diagnosis);
  expect(of("some")).toEqual({ rule: "unrecorded_gpu_work", when: "in 53.4 ms of the iteration, 85.3 %" });
  expect(of("throughout", 3)?.when).toBe("in 53.4 ms of an iteration, 85.3 %");
  expect(of("some", 1, false)?.when).toBe("in 53.4 ms of 62.6 ms, 85.3 %");
  expect(of(null)).toBeNull();
});
