import { expect, it } from "vitest";

import type { ProfileEntry } from "../api/types";
import { profileEntry } from "../testing/builders";
import { recordedMeanwhile } from "./same_time";

it("finds the trace that was recorded while a snapshot was, in the same run and rank", () => {
  const headline = {
    gpu_names: [],
    wall_time_ns: 2e9,
    iterations: null,
    average_iteration_ns: null,
    gpu_utilization_fraction: null,
    marked: null,
    computing_fraction: null,
    tensor_core_time_fraction: null,
  };
  const of = (id: string, format: string, captured_at: number | null, rest: Partial<ProfileEntry> = {}): ProfileEntry =>
    profileEntry({ id, format, captured_at, headline, run: "a", ...rest });
  const snapshot = of("s", "pytorch_memory_snapshot", 100, { rank: 0 });
  const trace = of("t", "pytorch", 101.5, { rank: 0 });
  const others = [
    of("later", "pytorch", 103),
    of("elsewhere", "pytorch", 101, { run: "b" }),
    of("other rank", "pytorch", 101, { rank: 1 }),
    of("no time", "pytorch", null),
    of("snapshot", "pytorch_memory_snapshot", 101),
  ];
  expect(recordedMeanwhile([snapshot, trace, ...others], "s").map(({ id }) => id)).toEqual(["t"]);
  expect(recordedMeanwhile([snapshot, trace, ...others], "t").map(({ id }) => id)).toEqual(["s", "snapshot"]);
  expect(recordedMeanwhile([trace], "gone")).toEqual([]);
});
