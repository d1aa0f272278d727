import { describe, expect, it } from "vitest";

import { baseOf, walkTo } from "./timeline_walk";

const whole = { from: 0, to: 100_000 };
const base = { from: 0, to: 10_000 };
const from = { view: base, base, whole, width: 1000, part: false };

describe("a walk", () => {
  it("stays where what it comes to is wide enough", () => {
    expect(walkTo({ start: 1000, duration: 400 }, from)).toEqual({ base, shown: base });
  });

  it("goes closer to what is narrower than 40 pixels, and back to the window for what is not", () => {
    const walk = walkTo({ start: 5000, duration: 40 }, from);
    expect(walk).toEqual({ base, shown: { from: 4520, to: 5520 } });
    expect(baseOf(walk, walk.shown)).toEqual(base);
    expect(baseOf(walk, { from: 0, to: 500 })).toEqual({ from: 0, to: 500 });
    expect(walkTo({ start: 8000, duration: 500 }, { ...from, view: walk.shown })).toEqual({ base, shown: base });
  });

  it("takes its window along", () => {
    expect(walkTo({ start: 49_500, duration: 1000 }, from).base).toEqual({ from: 45_000, to: 55_000 });
    expect(walkTo({ start: 40_000, duration: 20_000 }, from).shown).toEqual({ from: 38_000, to: 62_000 });
  });

  it("leaves what goes on beyond the window where a part of it will do", () => {
    const before = { start: 9000, duration: 2000 };
    expect(walkTo(before, { ...from, part: true }).shown).toEqual(base);
    expect(walkTo(before, from).shown).toEqual({ from: 5000, to: 15_000 });
  });
});
