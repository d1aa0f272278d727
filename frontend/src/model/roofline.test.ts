import { describe, expect, it } from "vitest";

import type { Dot, Peak } from "../api/types";
import { boundsInWords, boundsOfRow } from "./bounds";
import {
  along,
  axes,
  decades,
  dotAt,
  dotPlace,
  drawnDots,
  groupedDots,
  radius,
  rateWithGain,
  roofsAt,
  roofsOf,
  rowOfDot,
  tellingNames,
  undrawnSentence,
} from "./roofline";
import { dotNumbers, roofNames, slantedName } from "./roofline_labels";

const dot = (changes: Partial<Dot>): Dot => ({
  op_id: "A",
  name: "/a",
  pattern: (changes.name ?? "/a").replace(/\[\d+\]/g, ""),
  direction: "forward",
  family: "gemm",
  precision: "fp32",
  bound: "compute",
  kernel_ns: 100,
  intensity: 10,
  flops_per_second: 1e12,
  peak_fraction: 0.5,
  peak_flops_per_second: 2e12,
  cause: "",
  gain_ns: 50,
  ...changes,
});
const peak = (unit: Peak["unit"], precision: string, rate: number, device = 0, used = true): Peak => ({
  device_id: device,
  product: "GPU",
  unit,
  precision,
  per_second: rate,
  source: "",
  used,
});

describe("names of roofs", () => {
  const none = (): number[] => [];
  const at = (x: number, y: number, r = 6) => ({ x, y, r });
  const level = { texts: ["BF16 Tensor Cores 312 TFLOP/s", "BF16 312 T"], start: 100, y: 50 };

  it("stand at the end, else below, else where no dot is", () => {
    const [free] = roofNames([level], [], none, 600);
    expect(free).toMatchObject({ text: level.texts[0], to: 600, y: 45 });
    const [below] = roofNames([level], [at(580, 40)], none, 600);
    expect(below).toMatchObject({ to: 600, y: 62 });
    const [moved] = roofNames([level], [at(580, 50)], none, 600);
    expect(moved?.y).toBe(45);
    expect(moved?.to).toBeLessThan(574);
    // Dots in two places leave room for the short name alone.
    const [short] = roofNames([level], [at(300, 50), at(450, 50)], none, 600);
    expect(short).toMatchObject({ text: "BF16 312 T", to: 600, y: 45 });
    // A narrow chart has room for that one only.
    expect(roofNames([level], [], none, 150)[0]).toMatchObject({ text: "BF16 312 T", to: 150, y: 45 });
    // Dots everywhere: at the end all the same, or where they are smallest.
    const all = Array.from({ length: 60 }, (_, i) => at(i * 10, 50));
    expect(roofNames([level], all, none, 600)[0]).toMatchObject({ to: 600, y: 45 });
    const smaller = all.map((dot) => (dot.x < 350 ? { ...dot, r: 1 } : dot));
    expect(roofNames([level], smaller, none, 600)[0]?.to).toBeLessThan(360);
  });
  it("are off each other and off other roofs", () => {
    const near = { ...level, texts: ["FP16 300 T"], y: 56 };
    const [first, second] = roofNames([level, near], [], () => [50, 56], 600);
    expect(first).toMatchObject({ to: 600, y: 45 });
    expect(second).toMatchObject({ to: 600, y: 68 });
    // A slanted one that rises through the name above: below.
    const rising = (x: number): number[] => (x < 450 ? [40] : [50]);
    expect(roofNames([level], [], rising, 600)[0]).toMatchObject({ to: 600, y: 62 });
  });
  it("of the memory leave the middle where dots are", () => {
    expect(slantedName([0, 400], [400, 0], 80, [])).toBe(0.5);
    expect(slantedName([0, 400], [400, 0], 80, [at(196, 190)])).not.toBe(0.5);
    // Below the line dots are in nobody's way.
    expect(slantedName([0, 400], [400, 0], 80, [at(215, 215)])).toBe(0.5);
  });
});

describe("numbers of dots", () => {
  const plot = { width: 400, height: 200 };
  const none = (): number[] => [];
  const at = (x: number, y: number, r = 6) => ({ x, y, r });
  const middle = ({ from = 0, to = 0 }: { from?: number; to?: number } = {}): number => (from + to) / 2;

  it("stand in their dots, or beside them off roofs, other dots and each other", () => {
    const [inside] = dotNumbers(1, [at(100, 100, 18)], [], none, plot);
    expect(inside).toMatchObject({ text: "1", y: 104 });
    expect(middle(inside)).toBe(100);
    // Too small for it: to the right; to the left at the edge of the plot, or of another dot.
    expect(middle(dotNumbers(1, [at(100, 100)], [], none, plot)[0])).toBeGreaterThan(106);
    expect(middle(dotNumbers(1, [at(395, 100)], [], none, plot)[0])).toBeLessThan(389);
    expect(middle(dotNumbers(1, [at(100, 100), at(116, 100)], [], none, plot)[0])).toBeLessThan(94);
    // A roof at their own height on both sides: above or below it.
    const [below] = dotNumbers(1, [at(100, 100)], [], () => [100], plot);
    expect(Math.abs((below?.y ?? 0) - 104)).toBeGreaterThan(9);
    // One dot within another: both numbers, apart.
    const both = dotNumbers(2, [at(100, 100, 18), at(100, 100, 9)], [], none, plot);
    expect(both.map(({ text }) => text)).toEqual(["1", "2"]);
    expect(Math.hypot(middle(both[0]) - middle(both[1]), (both[0]?.y ?? 0) - (both[1]?.y ?? 0))).toBeGreaterThan(10);
    // Thin rises give way where there is other room.
    const rise = { x: 114, top: 0, bottom: 190 };
    expect(middle(dotNumbers(1, [at(100, 100)], [], none, plot, [rise])[0])).toBeLessThan(110);
  });
  it("know which roofs hold where", () => {
    const compute = [
      { label: "", shortLabel: "", perSecond: 1000, ridge: 10, goal: false },
      { label: "", shortLabel: "", perSecond: 200, ridge: 2, goal: false },
    ];
    const roofs = { product: "", memoryPerSecond: 100, compute, source: "" };
    expect(roofsAt(roofs, 1)).toEqual([100]);
    expect(roofsAt(roofs, 5)).toEqual([200, 500]);
    expect(roofsAt(roofs, 20)).toEqual([1000, 200]);
  });
});

describe("roofline", () => {
  it("draws what has a place on logarithmic axes, long ops first", () => {
    const drawn = drawnDots([
      dot({ op_id: "short", kernel_ns: 1 }),
      dot({ op_id: "long" }),
      dot({ intensity: 0 }),
      dot({ flops_per_second: null }),
    ]);
    expect(drawn.map(({ op_id: op }) => op)).toEqual(["long", "short"]);
  });

  it("sums dots that differ in numbers of their paths only, by time", () => {
    const dots = drawnDots([
      dot({ op_id: "A", name: "/net[0]/conv2d", kernel_ns: 100, flops_per_second: 4e12, intensity: 20 }),
      dot({ op_id: "B", name: "/net[1]/conv2d", kernel_ns: 300, flops_per_second: 8e12, intensity: 40 }),
      dot({ op_id: "C", name: "/net[1]/conv2d", kernel_ns: 350, precision: "fp16" }),
    ]);
    const [first, second] = groupedDots(dots);
    expect(first).toMatchObject({ op_id: "B", ops: ["B", "A"], kernel_ns: 400, flops_per_second: 7e12, intensity: 35 });
    expect(second?.ops).toEqual(["C"]);
    // Rows of the table by path have one direction.
    expect(groupedDots(drawnDots([dot({}), dot({ direction: "backward" })]))).toHaveLength(2);
    // The share of the peak is the quotient of the two rates shown, though single ops are above the roof.
    expect(first?.peak_flops_per_second).toBe(2e12);
    expect(first?.peak_fraction).toBeCloseTo(3.5);
    // The first of those of one precision could gain a quarter of its time: 7e12 become four thirds of it.
    expect(first?.gain_ns).toBe(100);
    expect(first && rateWithGain(first, null)).toBeCloseTo(7e12 / 0.75);
    expect(first && rateWithGain(first, 2.5e11)).toBe(2.5e11 * 35);
    expect(first && rateWithGain(first, 1e11)).toBeNull();
    expect(first && rateWithGain({ ...first, gain_ns: null }, null)).toBeNull();
    expect(first && rateWithGain({ ...first, gain_ns: 0 }, null)).toBeNull();
  });

  it("says what the roofline leaves out, where that is more than little", () => {
    const undrawn = { name: "conv2d", ops: 2, kernel_ns: 1900 };
    expect(undrawnSentence({ dots: [dot({})], undrawn }, 2000)).toBe(
      "Draws 5.0 % of the kernel time. Not drawn: ops without FLOPs, or whose FLOPs or bytes are not known, above all conv2d ×2 (95.0 %).",
    );
    expect(undrawnSentence({ dots: [dot({})], undrawn: { ...undrawn, kernel_ns: 10 } }, 2000)).toMatch(
      / whose FLOPs or bytes are not known\.$/,
    );
    expect(undrawnSentence({ dots: [dot({})], undrawn: null }, 105)).toBe("");
  });

  it("calls a group bound by what bounds most of its time, not by what bounds its longest op", () => {
    const [group] = groupedDots(
      drawnDots([
        dot({ op_id: "A", name: "/l[0]/fc", bound: "memory", kernel_ns: 40 }),
        dot({ op_id: "B", name: "/l[1]/fc", bound: "latency", kernel_ns: 35 }),
        dot({ op_id: "C", name: "/l[2]/fc", bound: "latency", kernel_ns: 25 }),
      ]),
    );
    expect(group?.bound).toBe("latency");
    expect(group && boundsInWords(group.boundTimes, group.kernel_ns)).toBe("latency 60.0\u00a0%, memory 40.0\u00a0%");
    expect(group && boundsOfRow(rowOfDot(group, null))).toBe("latency 60.0\u00a0%, memory 40.0\u00a0%");
    expect(boundsOfRow({ kernel_time_ns: 7, memory_bound_ns: 7 })).toBe("memory");
    expect(boundsOfRow({ bound: "caches" })).toBe("caches");
  });

  it("knows the roofs of one device, in the precisions that occur, and what is within reach", () => {
    const peaks = [
      peak("memory", "", 1e12),
      peak("vector", "fp32", 1e13),
      peak("vector", "fp64", 5e12, 0, false),
      peak("matrix", "fp16", 1e14),
      peak("matrix", "bf16", 1e14),
      peak("vector", "fp32", 9e13, 1),
    ];
    const roofs = roofsOf(peaks, new Set(["fp32"]), "Tensor Core");
    expect(roofs?.memoryPerSecond).toBe(1e12);
    expect(roofs?.compute).toEqual([
      {
        label: "FP16, BF16 Tensor Cores 100 TFLOP/s",
        shortLabel: "FP16, BF16 TC 100 TFLOP/s",
        perSecond: 1e14,
        ridge: 100,
        goal: true,
      },
      { label: "FP32 10.0 TFLOP/s", shortLabel: "FP32 10.0 TFLOP/s", perSecond: 1e13, ridge: 10, goal: false },
    ]);
    expect(roofsOf([], new Set(["fp32"]), "Tensor Core")).toBeNull();
  });

  it("draws the rates of plain units that ops are measured against", () => {
    const peaks = [peak("vector", "fp16", 4e13, 0, false), peak("vector", "fp32", 1e13)];
    const roofs = roofsOf(peaks, new Set(["fp16"]), "Tensor Core");
    expect(roofs?.compute).toEqual([
      { label: "FP32 10.0 TFLOP/s", shortLabel: "FP32 10.0 TFLOP/s", perSecond: 1e13, ridge: null, goal: false },
    ]);
  });

  it("draws equal rates as one roof, be they of plain or of matrix units", () => {
    const peaks = [peak("vector", "fp32", 1.6e14), peak("matrix", "fp32", 1.6e14), peak("matrix", "fp16", 1.6e14)];
    const roofs = roofsOf(peaks, new Set(["fp32"]), "Matrix Core");
    expect(roofs?.compute.map(({ label, goal }) => [label, goal])).toEqual([
      ["FP32 and FP32, FP16 Matrix Cores 160 TFLOP/s", false],
    ]);
  });

  it("holds every dot and roof between its axes", () => {
    const dots = drawnDots([dot({ intensity: 0.02, flops_per_second: 3e6 }), dot({})]);
    const roofs = roofsOf([peak("memory", "", 1e12), peak("vector", "fp32", 9e13)], new Set(["fp32"]), "");
    const { x, y } = axes(dots, roofs);
    expect(along(0.02, x)).toBeGreaterThan(0);
    expect(along(90, x)).toBeLessThan(1);
    expect(along(3e6, y)).toBeGreaterThan(0);
    expect(along(9e13, y)).toBeLessThan(1);
    expect(decades({ from: -2, to: 3 }, 7)).toHaveLength(6);
    expect(decades({ from: 0, to: 12 }, 6)).toHaveLength(7);
    expect(decades({ from: 0.5, to: 2.2 }, 7)).toEqual([5, 10, 20, 50, 100]);
  });

  it("leaves dots of negligible time beyond its axes, and points to them from the edge", () => {
    const tiny = dot({ op_id: "tiny", kernel_ns: 1, intensity: 1, flops_per_second: 1e3 });
    const dots = drawnDots([dot({ kernel_ns: 150 }), dot({ kernel_ns: 100, flops_per_second: 1e11 }), tiny]);
    const { x, y } = axes(dots, null);
    expect(along(1e11, y)).toBeGreaterThan(0);
    expect(along(1e3, y)).toBeLessThan(0);
    const place = dotPlace(along(1, x), along(1e3, y), 2, 400, 300);
    expect(place.y).toBeLessThan(300);
    expect(place.y).toBeGreaterThan(280);
    expect(Math.abs(place.beyond ?? 90)).toBeLessThan(45);
    expect(dotPlace(0.5, 0.5, 2, 400, 300)).toEqual({ x: 200, y: 150, r: 2, beyond: null });
    expect(dotPlace(1.5, 0.5, 2, 400, 300).beyond).toBeCloseTo(-90);
    // One that is hardly slower than the others is drawn, however short.
    const near = drawnDots([...dots.filter(({ op_id: op }) => op !== "tiny"), { ...tiny, flops_per_second: 3e10 }]);
    expect(along(3e10, axes(near, null).y)).toBeGreaterThan(0);
    // Nor does one decide that many shorter ones follow.
    const short = Array.from({ length: 20 }, (_, i) => dot({ op_id: `s${i}`, kernel_ns: 5 }));
    expect(along(1e3, axes(drawnDots([...dots, { ...tiny, kernel_ns: 10 }, ...short]), null).y)).toBeLessThan(0);
    // What takes as long as others is no such dot, however slow it is.
    const slow = drawnDots([dot({}), { ...tiny, kernel_ns: 100 }]);
    expect(along(1e3, axes(slow, null).y)).toBeGreaterThan(0);
  });

  it("calls groups by the op, and namesakes by the nearest module that differs", () => {
    const names = ["/Net[0]/Mlp/Linear[0]/linear", "/Net[0]/Attention/Linear[1]/linear", "/Net[0]/add", "/Net[0]/add"];
    const [first, second, third, fourth] = groupedDots(
      drawnDots(names.map((name, i) => dot({ op_id: `${i}`, name, kernel_ns: 10 - i, precision: `fp${16 * i}` }))),
    );
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) throw new Error();
    expect(tellingNames([first, second, { ...third, ops: ["A", "B"] }], [first, second, third])).toEqual([
      "Mlp/…/linear",
      "Attention/…/linear",
      "add ×2",
    ]);
    // Also of those that are not among the largest.
    expect(tellingNames([first], [first, second])).toEqual(["Mlp/…/linear"]);
    // Of one class of modules: what holds them.
    const inBoth = ["/Net/Mlp2/Linear/linear", "/Net/Attention/Linear/linear", "/Net/Attention/Qkv/linear"].map(
      (pattern, i): typeof first => ({ ...first, pattern, kernel_ns: 3 - i }),
    );
    expect(tellingNames(inBoth, inBoth)).toEqual(["Mlp2/…/linear", "Attention/…/linear", "Qkv/linear"]);
    // Only their precisions differ, which colours tell.
    expect(tellingNames([third, fourth], [third, fourth])).toEqual(["add", "add"]);
    const back = { ...fourth, direction: "backward" };
    expect(tellingNames([third, back], [third, back])).toEqual(["add fwd", "add bwd"]);
  });

  it("makes the area of a dot its time", () => {
    expect(radius(100, 100) / radius(25, 100)).toBeCloseTo(2);
    expect(radius(0, 100)).toBeGreaterThan(0);
  });

  it("finds the small dot on the large one, and none far away", () => {
    const places = [
      { x: 50, y: 50, r: 18 },
      { x: 55, y: 50, r: 3 },
    ];
    expect(dotAt(places, 55, 51, 12)).toBe(1);
    expect(dotAt(places, 40, 50, 12)).toBe(0);
    expect(dotAt(places, 150, 50, 12)).toBeNull();
  });
});
