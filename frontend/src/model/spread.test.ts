import { describe, expect, it } from "vitest";

import type { IterationRow } from "./iterations";
import { excesses, longOne, oddOne } from "./spread";

const row = (iteration: number, kernels: number, loader: number, profiled = true): IterationRow => ({
  ...{ iteration, stop_iteration: iteration, count: 1, start_ns: 0, duration_ns: kernels + loader, profiled },
  parts: profiled ? { other_kernel: kernels, data_loader: loader } : null,
});

describe("iterations unlike the others", () => {
  const rows = [row(1, 90, 210, false), row(2, 60, 40), row(3, 62, 38), row(4, 64, 76), row(5, 60, 41)];
  it("are told with the part that is most of what they take more than the median", () => {
    const found = excesses(rows);
    expect([...found.keys()]).toEqual([1, 4]);
    expect(found.get(4)).toEqual({ over_ns: 39.5, part: { key: "data_loader", ns: 35.5 } });
    expect(found.get(1)?.part).toBeNull();
    expect(excesses(rows.slice(0, 2)).size).toBe(0);
  });
  it("are told by no part where none is most of it", () => {
    const even = [row(1, 50, 50), row(2, 50, 50), row(3, 50, 50), row(4, 70, 70)];
    expect(excesses(even).get(4)).toEqual({ over_ns: 40, part: null });
  });
  it("may be shorter than the median: then that one is odd, not the longest", () => {
    const short = [row(1, 70, 2), row(2, 94, 2), row(3, 94, 2), row(4, 95, 2)];
    expect(oddOne(short)).toEqual({ iteration: 1, over_ns: -24, part: { key: "other_kernel", ns: 24 } });
  });
  it("are none where all are alike, and never of those that do not count", () => {
    expect(oddOne(rows)?.iteration).toBe(4);
    expect(oddOne([row(1, 50, 50), row(2, 50, 51)])).toBeNull();
    expect(oddOne([row(1, 90, 210, false), row(2, 50, 50), row(3, 50, 51)])).toBeNull();
    expect(oddOne([])).toBeNull();
  });
  it("have a longest one, if it is one that counts and much longer", () => {
    expect(longOne([...rows, row(6, 60, 200)])).toBe(6);
    expect(longOne([row(1, 70, 2), row(2, 94, 2), row(3, 94, 2), row(4, 95, 2)])).toBeNull();
    expect(longOne([row(1, 90, 210, false), row(2, 50, 50), row(3, 50, 51)])).toBeNull();
  });
});
