import { expect, it } from "vitest";

import { dashboard } from "../testing/builders";
import { isRecorded, recordedSentence } from "./recorded";

const breakdown = (io: number) => [{ resource: "io" as const, time_ns: io, fraction: 0 }];

it("knows of no kind of GPU work where none was recorded, and of all where some was", () => {
  const gpu = (memory: number) => [
    { resource: "tensor_core" as const, time_ns: 0, fraction: 0 },
    { resource: "memory" as const, time_ns: memory, fraction: 0 },
  ];
  expect(isRecorded("tensor_core", dashboard({ recorded: ["ops"], resource_breakdown: gpu(0) }))).toBe(false);
  expect(isRecorded("tensor_core", dashboard({ recorded: ["ops"], resource_breakdown: gpu(5) }))).toBe(true);
});

it.each([
  ["io", ["ops"], 0, false],
  ["io", ["ops"], 5, true],
  ["io", ["io"], 0, true],
  ["io", null, 0, true],
  ["data_loader", ["syncs"], 0, false],
  ["data_loader", ["nvtx"], 0, true],
  ["cpu", [], 0, true],
] as const)("%s with %s recorded and %s ns", (resource, recorded, io, known) => {
  const data = dashboard({ recorded: recorded === null ? null : [...recorded], resource_breakdown: breakdown(io) });
  expect(isRecorded(resource, data)).toBe(known);
});

it.each([
  [["steps", "shapes", "ops"], "Recorded: ops, input shapes and steps."],
  [["nvtx"], "Recorded: NVTX ranges."],
  [["of a later version"], ""],
  [[], ""],
])("%s reads %s", (recorded, text) => {
  expect(recordedSentence(recorded)).toBe(text);
});
