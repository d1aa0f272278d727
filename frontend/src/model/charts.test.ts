import { describe, expect, it } from "vitest";

import { iterationRow, PARTS } from "../testing/builders";
import { apart, captions, cutAt, labelStep, ringSegment, segments, tickLabel, ticks, ticksBetween } from "./chart";
import {
  barLayout,
  barParts,
  withParts,
  barPaths,
  classesIn,
  medianIteration,
  openingBar,
  rangeText,
  rowTitle,
  tallest,
} from "./iterations";

const NONE = new Set<string>();

describe("labels above bars", () => {
  it("go to the largest where two have no room", () => {
    const [near, largest, far] = [1, 20, 2].map((value, i) => ({ x: [100, 130, 300][i] ?? 0, value }));
    const bars = [near, largest, far].flatMap((bar) => bar ?? []);
    expect([...apart(bars, 52)]).toEqual([largest, far]);
  });
});

describe("a bar that goes on beyond its scale", () => {
  it("ends with the part that is most of it, behind its gap", () => {
    const parts = [60, 20, 900].map((ns, i) => ({ key: ["kernels", "loader", "host"][i], ns }));
    expect(cutAt(parts, 1000)).toEqual(parts);
    expect(cutAt(parts, 50).map(({ key, ns }) => [key, ns])).toEqual([
      ["kernels", 44],
      ["loader", 0],
      ["host", 0],
      ["host", 6],
    ]);
  });
});

describe("captions of bars", () => {
  const bar = (left: number, top: number, ...lines: string[]) => ({ left, right: left + 40, top, bottom: 200, lines });
  const letters = (text: string): number => text.length * 7;
  it("stand above their bar, in one line where there is no room for two, and never over a higher bar", () => {
    const cut = bar(100, 0, "20.9 ms", "other code on the CPU");
    const high = bar(50, 0, "1.81 ms", "launching");
    const low = bar(150, 150, "+40 µs", "launching");
    const found = captions([cut, high, low], [cut, high, low], 400, letters);
    expect(found.map(({ bar: of, lines }) => [of, lines.length])).toEqual([
      [cut, 2],
      [low, 2],
    ]);
    expect(found[0]?.x).toBe(120);
    expect(found.every(({ box }) => box.left >= -2 && box.right <= 402)).toBe(true);
    // Beside the higher bar.
    expect(found[1]?.box.left).toBeGreaterThanOrEqual(140);
    const alone = captions([high, cut], [high, cut], 400, letters);
    expect(alone.map(({ lines }) => lines.length)).toEqual([2, 1]);
  });
  it("have their cause, or are left to the pointer, but for bars that go on beyond the scale", () => {
    const last = bar(360, 20, "+1.65 ms", "launching");
    const beside = bar(300, 60, "+1.08 ms", "not recorded");
    const grip = { left: 380, right: 400, top: -20, bottom: 0 };
    const found = captions([last, beside], [grip, last, beside], 400, letters);
    expect(found.map(({ lines }) => lines)).toEqual([["+1.08 ms", "not recorded"]]);
  });
  it("give way to what stands there", () => {
    const grip = { left: 0, right: 18, top: -20, bottom: 0 };
    const first = bar(0, 0, "9 ms");
    expect(captions([first], [grip, first], 400, letters)[0]?.box.left).toBeGreaterThanOrEqual(18);
    // Of one that goes on beyond the scale the length is told in any case.
    const between = bar(18, 0, "+137 ms, warm-up", "launching");
    const grips = [grip, { left: 60, right: 200, top: -20, bottom: 0 }];
    expect(captions([between], [...grips, between], 400, letters)[0]).toMatchObject({ lines: ["+137 ms, warm-up"] });
  });
});

describe("rings", () => {
  it("splits bars by the diagnosis only where its parts add up to all of them", () => {
    const parts = new Map([
      [1, { compute_other: 10, launching: 90 }],
      [2, { compute_other: 20, launching: 60 }],
    ]);
    const both = iterationRow({ iteration: 1, stop_iteration: 2, count: 2, duration_ns: 180 });
    const [summed] = withParts([both], parts) ?? [];
    expect(barParts(summed ?? both, NONE)).toEqual([
      { key: "compute_other", ns: 30 },
      { key: "launching", ns: 150 },
    ]);
    expect(withParts([both, iterationRow({ iteration: 3, stop_iteration: 3, duration_ns: 90 })], parts)).toBeNull();
    expect(withParts([{ ...both, duration_ns: 200 }], parts)).toBeNull();
  });

  it("lay the parts end to end around one turn", () => {
    const laid = segments([
      { key: "a", value: 1 },
      { key: "none", value: 0 },
      { key: "b", value: 3 },
    ]);
    expect(laid).toEqual([
      { key: "a", from: 0, to: 0.25 },
      { key: "b", from: 0.25, to: 1 },
    ]);
    expect(segments([{ key: "a", value: 0 }])).toEqual([]);
  });

  it("draw a whole turn as two halves, since SVG draws a full arc as nothing", () => {
    expect(ringSegment(0, 1, 30, 40).match(/A/g)).toHaveLength(4);
    expect(ringSegment(0, 0.25, 30, 40)).toBe(
      "M0.000 -40.000A40 40 0 0 1 40.000 0.000L30.000 0.000A30 30 0 0 0 0.000 -30.000Z",
    );
  });
});

describe("axes", () => {
  it.each([
    [0, [0]],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [180, [0, 50, 100, 150, 200]],
    [2.86, [0, 1, 2, 3]],
    [0.0003, [0, 0.0001, 0.0002, 0.0003]],
  ])("up to %d", (largest, marks) => {
    expect(ticks(largest)).toEqual(marks);
  });

  it("label as many bars as fit", () => {
    expect(labelStep(12, 20)).toBe(1);
    expect(labelStep(100, 20)).toBe(5);
    expect(labelStep(1000, 20)).toBe(50);
  });
});

describe("bars of iterations", () => {
  const rows = [
    iterationRow({ iteration: 0, profiled: false, duration_ns: 250, parts: null }),
    iterationRow({ iteration: 1 }),
  ];

  it("stack the parts to the duration, grey outside the aggregation", () => {
    expect(barParts(rows[1] ?? iterationRow(), NONE)).toEqual([
      { key: "tensor_core", ns: 30 },
      { key: "other_kernel", ns: 20 },
      { key: "cpu", ns: 40 },
      { key: "other", ns: 10 },
    ]);
    expect(barParts(rows[0] ?? iterationRow(), NONE)).toEqual([{ key: "outside", ns: 250 }]);
    expect(classesIn(rows)).toEqual(["tensor_core", "other_kernel", "cpu", "other", "outside"]);
    // What only an iteration outside of it spent time on is drawn, too.
    const warmUp = iterationRow({ iteration: 0, profiled: false, parts: { ...PARTS, io: 9 } });
    expect(classesIn([warmUp, iterationRow({ iteration: 1 })])).toContain("io");
  });

  it("scale to what is shown", () => {
    expect(tallest(rows, NONE)).toBe(250);
    expect(tallest(rows, new Set(["outside"]))).toBe(100);
  });

  it("draw one path per class", () => {
    const paths = barPaths(rows, NONE, { pitch: 10, width: 8, offset: 0 }, 100, 250);
    expect([...paths.keys()]).toEqual(["outside", "tensor_core", "other_kernel", "cpu", "other"]);
    expect(paths.get("outside")).toBe("M0.00 0.00h8.00v100.00h-8.00Z");
    expect(paths.get("tensor_core")).toBe("M10.00 88.00h8.00v12.00h-8.00Z");
  });

  it("fill the width, but are not clumsily wide", () => {
    expect(barLayout(4, 1000)).toEqual({ pitch: 250, width: 96, offset: 77 });
    expect(barLayout(1000, 1000)).toEqual({ pitch: 1, width: 1.5, offset: 0 });
  });

  it("open the kernels of their iteration, or it among its neighbours where they are several or hold no kernels", () => {
    const worked = iterationRow({ iteration: 7, stop_iteration: 7 });
    expect(openingBar(worked)).toEqual({ view: "iterations", "iters.row": "7" });
    const among = { view: "iterations", "iterations.from": "5", "iterations.to": "10" };
    expect(openingBar({ ...worked, profiled: false, parts: null })).toEqual(among);
    expect(openingBar({ ...worked, parts: { ...PARTS, tensor_core: null, memory: 0, cpu: 9 } })).toEqual(among);
    expect(openingBar({ ...worked, stop_iteration: 9 })).toEqual({ ...among, "iterations.to": "12" });
  });

  it("are named by their range when several are one", () => {
    expect(rowTitle(iterationRow({ iteration: 10, stop_iteration: 19 }))).toBe("Iterations 10 to 19");
    expect(rowTitle(iterationRow({ iteration: 5 }))).toBe("Iteration 5");
    expect(rowTitle(iterationRow({ iteration: 12000, stop_iteration: 12099 }))).toBe("Iterations 12,000 to 12,099");
  });
});

it("finds round values between two others, where an axis does not begin at 0", () => {
  expect(ticksBetween(41.3, 57.9)).toEqual([45, 50, 55]);
  expect(ticksBetween(0, 1.07)).toEqual([0, 0.5, 1]);
  expect(ticksBetween(3.371, 3.418).map(tickLabel)).toEqual(["3.38", "3.4"]);
});

it("groups the digits of ticks, and keeps those of small ones", () => {
  expect(ticks(3000).map(tickLabel)).toEqual(["0", "1,000", "2,000", "3,000"]);
  expect(ticks(0.0004).map(tickLabel)).toEqual(["0", "0.0001", "0.0002", "0.0003", "0.0004"]);
});

it("chooses the aggregated iteration of median length, and none where none is aggregated", () => {
  const rows = [90, 10, 30, 20, 50].map((duration_ns, iteration) =>
    iterationRow({ iteration, duration_ns, profiled: iteration > 0 }),
  );
  expect(medianIteration(rows)).toBe("3");
  expect(medianIteration([])).toBe("");
});

it("names a range of iterations, and one alone as one", () => {
  expect(rangeText(4, 1200)).toBe("4 to 1,200");
  expect(rangeText(4, 4)).toBe("4");
});
