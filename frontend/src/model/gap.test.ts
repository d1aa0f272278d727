import { expect, it } from "vitest";

import type { TimelineGap } from "../api/types";
import { gapInWords, seenGap } from "./gap";

const gap: TimelineGap = {
  ...{ device: 0, start: 100, duration: 900, cause: "data_loader", label: "Data loader" },
  parts: [
    { start: 100, duration: 300, part: "launching" },
    { start: 400, duration: 600, part: "data_loader" },
  ],
  ...{ ended_by: null, before: null, after: null },
};

it("a gap is told as far as the window shows it, by the cause of most of that", () => {
  expect(gapInWords(gap, { from: 0, to: 2000 }, "Tensor Core")).toBe("Gap of 900 ns, Data loader");
  expect(gapInWords(gap, { from: 200, to: 450 }, "Tensor Core")).toBe("Gap of 250 ns, Launching");
  expect(seenGap(gap, { from: 200, to: 450 }).parts).toEqual([
    { start: 200, duration: 200, part: "launching" },
    { start: 400, duration: 50, part: "data_loader" },
  ]);
});

it("a gap beside the window is told whole", () => {
  expect(gapInWords(gap, { from: 1500, to: 2000 }, "Tensor Core")).toBe("Gap of 900 ns, Data loader");
});
