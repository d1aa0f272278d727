import { describe, expect, it } from "vitest";

import { momentsOf } from "./moments";

const evidence = {
  path: "/train",
  call: "cudaFree",
  kind: "call" as const,
  device: "1",
  count: 1,
  time_ns: 5,
  iteration: 0,
  op: null,
  detail: null,
};

describe("the moments of a finding", () => {
  it("are the longest stretches of its evidence", () => {
    const rows = [
      { ...evidence, from_ns: 10, to_ns: 20 },
      { ...evidence, from_ns: 40, to_ns: 90 },
      { ...evidence, from_ns: null, to_ns: null },
    ];
    expect(momentsOf(rows)).toEqual([
      { from: 40, to: 90, device: 1, what: "cudaFree in train", name: "train", full: "cudaFree in /train" },
      { from: 10, to: 20, device: 1, what: "cudaFree in train", name: "train", full: "cudaFree in /train" },
    ]);
    expect(momentsOf([])).toEqual([]);
  });

  it("are named with what a number is of", () => {
    const named = (path: string) => momentsOf([{ ...evidence, path, from_ns: 10, to_ns: 20 }])[0]?.name;
    expect(named("/model/layers/0")).toBe("layers/0");
    expect(named("/0")).toBe("0");
  });
});
