import { expect, test } from "vitest";

import { movedTo } from "./old_links";

test("a link to a former view opens the page that it became a part of, with what was selected", () => {
  expect(movedTo({ view: "op_types", "types.sort": "ops" })).toEqual({
    view: "ops",
    "ops.by": "type",
    "types.sort": "ops",
  });
  expect(movedTo({ view: "groups", "groups.row": "/a" })).toEqual({ view: "modules", "groups.row": "/a" });
  expect(movedTo({ view: "graph", "graph.row": "/a", profile: "p" })).toEqual({
    view: "modules",
    "groups.as": "graph",
    "groups.row": "/a",
    profile: "p",
  });
  expect(movedTo({ view: "kernels_by_op", "oiters.row": "3", "oops.row": "CONV_1" })).toEqual({
    view: "iterations",
    "iters.by": "op",
    "iters.row": "3",
    "oops.row": "CONV_1",
  });
});

test("a link to an op or a search shows op by op, and one to the page its own grouping", () => {
  expect(movedTo({ view: "ops", "ops.row": "CONV_1" })).toEqual({ view: "ops", "ops.row": "CONV_1", "ops.by": "none" });
  expect(movedTo({ view: "ops" })).toEqual({ view: "ops" });
});

test("rows of grouped ops are found by our words for their direction", () => {
  expect(movedTo({ view: "ops", "paths.row": "/m/linear bprop", "names.row": "add fprop" })).toEqual({
    view: "ops",
    "paths.row": "/m/linear backward",
    "names.row": "add forward",
  });
});

test("other links stay as they are", () => {
  const state = { view: "iterations", "iterations.from": "3" };
  expect(movedTo(state)).toBe(state);
});
