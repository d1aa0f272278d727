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
      { ...evidence, path: "/test", call: null, count: null, from_ns: 40, to_ns: 60 },
      { ...evidence, from_ns: null, to_ns: null },
    ];
    const train = { what: "cudaFree in train", name: "train", full: "cudaFree in /train" };
    expect(momentsOf(rows)).toEqual([
      { from: 40, to: 90, device: 1, ...train, count: 1 },
      { from: 40, to: 60, device: 1, what: "test", name: "test", full: "/test", count: null },
    ]);
    expect(momentsOf([])).toEqual([]);
  });

  it("are one for each place and GPU, the longest, with how often there is such a one", () => {
    const rows = [
      { ...evidence, call: "forward", count: 48, from_ns: 10, to_ns: 20 },
      { ...evidence, call: "backward", count: 48, from_ns: 40, to_ns: 90 },
      { ...evidence, device: "0", count: 3, from_ns: 40, to_ns: 50 },
      { ...evidence, path: "/eval", call: "forward", from_ns: 1, to_ns: 2 },
      { ...evidence, path: "/eval", call: "backward", count: null, from_ns: 5, to_ns: 6 },
    ];
    const told = momentsOf(rows).map(({ from, device, name, count }) => ({ from, device, name, count }));
    expect(told).toEqual([
      { from: 40, device: 1, name: "train", count: 48 },
      { from: 40, device: 0, name: "train", count: 3 },
      { from: 1, device: 1, name: "eval", count: 1 },
    ]);
  });

  it("are told apart where their ops are called alike", () => {
    const rows = ["/net/block/norm", "/net/block/cut/norm", "/net/relu"].map((path, i) => ({
      ...evidence,
      path,
      from_ns: 10,
      to_ns: 90 - i,
    }));
    expect(momentsOf(rows).map(({ name }) => name)).toEqual(["block/norm", "cut/norm", "relu"]);
  });

  it("are named with what a number is of", () => {
    const named = (path: string) => momentsOf([{ ...evidence, path, from_ns: 10, to_ns: 20 }])[0]?.name;
    expect(named("/model/layers/0")).toBe("layers/0");
    expect(named("/0")).toBe("0");
  });
});
