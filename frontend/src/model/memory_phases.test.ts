import { describe, expect, it } from "vitest";

import { mergedPhases } from "./memory_phases";

describe("the strip of phases", () => {
  const parts = [
    { phase: "forward", from: 0, to: 10 },
    { phase: "backward", from: 10, to: 20 },
    { phase: "forward", from: 21, to: 21 },
    { phase: "backward", from: 22, to: 30 },
    { phase: "backward", from: 40, to: 50 },
  ];

  it("has parts of one phase that touch on the screen as one, also around an instant of another", () => {
    expect(mergedPhases(parts, 1)).toEqual([
      { phase: "forward", from: 0, to: 10 },
      { phase: "backward", from: 10, to: 30 },
      { phase: "backward", from: 40, to: 50 },
    ]);
  });

  it("has all of them where there is room", () => {
    expect(mergedPhases(parts, 0)).toEqual(parts);
    expect(parts[1]?.to).toBe(20);
  });

  it("keeps many narrow parts of one phase", () => {
    const narrow = Array.from({ length: 100 }, (_, at) => ({ phase: "backward", from: 10 + at, to: 10.5 + at }));
    expect(mergedPhases([{ phase: "forward", from: 0, to: 9 }, ...narrow], 10)).toEqual([
      { phase: "forward", from: 0, to: 9 },
      { phase: "backward", from: 10, to: 109.5 },
    ]);
  });
});
