import { expect, it } from "vitest";

import type { TimelineGap } from "../api/types";
import { blockLabel, gapInWords, lengthIn, seenGap, seenLength } from "./gap";

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

it("the way to a gap tells as much of it as the gap then does", () => {
  expect(seenLength(gap, { from: 200, to: 450 })).toBe(250);
  expect(seenLength(gap, { from: 1500, to: 2000 })).toBe(900);
});

it("pieces of one cause count together, however many calls the host made in it", () => {
  const parts = [
    { start: 100, duration: 250, part: "launching" },
    { start: 350, duration: 400, part: "queued" },
    { start: 750, duration: 250, part: "launching" },
  ];
  expect(seenGap({ ...gap, parts }, { from: 0, to: 2000 }).cause).toBe("launching");
});

it("a gap beside the window is told whole", () => {
  expect(gapInWords(gap, { from: 1500, to: 2000 }, "Tensor Core")).toBe("Gap of 900 ns, Data loader");
});

const view = { from: 1_000_000, to: 3_000_000 };
const known = { from: 0, to: 4_000_000 };
const block = { from: 1_200_000, to: 1_843_000 };

it("a block of idle time tells its own length, and none where the strip shows only part of it", () => {
  const shown = { view, known, marked: [], cut: false };
  expect(blockLabel(block, "Launching", shown)).toEqual({ on: block, texts: ["Launching 643 µs", "Launching"] });
  expect(blockLabel({ from: 500_000, to: 2_000_000 }, "Queued", shown).texts).toEqual(["Queued"]);
  expect(blockLabel({ from: 2_000_000, to: 3_500_000 }, "Queued", shown).texts).toEqual(["Queued"]);
});

it("nor where what is loaded ends with it, so that nobody knows how it goes on", () => {
  const shown = { view, known: view, marked: [], cut: false };
  expect(blockLabel({ from: 1_000_000, to: 2_000_000 }, "Queued", shown).texts).toEqual(["Queued"]);
  expect(lengthIn({ from: 1_000_000, to: 2_000_000 }, view)).toBe("at least 1.00 ms");
  expect(lengthIn(block, view)).toBe("643 µs");
});

it("where tables count what a window shows, so does the label of a block", () => {
  const shown = { view, known, marked: [], cut: true };
  expect(blockLabel({ from: 500_000, to: 2_000_000 }, "Queued", shown).texts).toEqual(["Queued 1.00 ms", "Queued"]);
});

it("a stretch that is pointed out has its own length on it, and that of the block around it where it is known", () => {
  const mark = { from: 1_459_000, to: 1_843_000 };
  const shown = { view, known, marked: [mark], cut: false };
  expect(blockLabel(block, "Launching", shown)).toEqual({
    on: mark,
    texts: ["Launching 384 µs of 643 µs", "Launching 384 µs", "384 µs"],
  });
  expect(blockLabel({ ...block, from: 500_000 }, "Launching", shown).texts[0]).toBe("Launching 384 µs of 1.34 ms");
  expect(blockLabel({ ...block, from: 0 }, "Launching", shown).texts).toEqual(["Launching 384 µs", "384 µs"]);
  expect(blockLabel(mark, "Launching", shown).texts).toEqual(["Launching 384 µs", "384 µs"]);
});

it("of a gap of several causes that is pointed out each block tells its length", () => {
  const shown = { view, known, marked: [{ from: 1_100_000, to: 2_400_000 }], cut: false };
  expect(blockLabel(block, "Launching", shown)).toEqual({ on: block, texts: ["Launching 643 µs", "Launching"] });
});
