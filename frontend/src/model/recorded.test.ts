import { expect, it } from "vitest";

import { dashboard } from "../testing/builders";
import { isRecorded, recordedSentence } from "./recorded";

it.each([
  ["io", null, 0, false],
  ["io", 0, 0, true],
  ["memory", null, 0, false],
  ["tensor_core", null, 0, false],
  ["tensor_core", null, 5, true],
  ["tensor_core", 5, 0, true],
] as const)("%s of %s ns beside %s ns that no rule tells", (resource, time, untold, known) => {
  const parts = [
    { resource, time_ns: time, fraction: null },
    { resource: "unknown_kernel" as const, time_ns: untold, fraction: null },
  ];
  expect(isRecorded(resource, dashboard({ resource_breakdown: parts }))).toBe(known);
});

it.each([
  [["steps", "shapes", "ops"], "Recorded: ops, input shapes and iterations."],
  [["nvtx"], "Recorded: NVTX ranges."],
  [["of a later version"], ""],
  [[], ""],
])("%s reads %s", (recorded, text) => {
  expect(recordedSentence(recorded)).toBe(text);
});
