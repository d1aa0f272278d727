import { expect, test } from "vitest";

import type { TimelineWindow } from "../../api/types";
import type { TrackRow } from "../../model/timeline";
import { axisStep, draw, Strips, type Palette, type Scene } from "./drawing";

const LETTER = 6;

/** What is written on a canvas while a track is drawn, one pixel to a ns, but for the axis. */
function textsOf(track: object, row: Partial<TrackRow>, queue: Scene["queue"] = null): string[] {
  const texts: string[] = [];
  const context = new Proxy({} as CanvasRenderingContext2D, {
    get: (_, name) =>
      name === "measureText"
        ? (text: string) => ({ width: text.length * LETTER })
        : name === "fillText"
          ? (text: string) => texts.push(text)
          : () => undefined,
    set: () => true,
  });
  const palette = { classes: { op: [{ css: "#888888", rgb: [136, 136, 136], onIt: "#111" }] } } as unknown as Palette;
  const scene: Scene = {
    view: { from: 0, to: 500 },
    answer: { from: 0, to: 500, tracks: [{ id: 1, ...track }] } as unknown as TimelineWindow,
    rows: [{ key: "row", track: 1, height: 18, ...row } as TrackRow],
    palette,
    width: 500,
    marked: [],
    lines: [],
    dragged: null,
    hits: null,
    causes: [],
    cut: false,
    queue,
    lacking: new Set<number>(),
    queued: -1,
  };
  draw(context, scene, new Strips());
  return texts.filter((text) => !/\d [mnµ]?s$/.test(text));
}

function written(slices: readonly (readonly [name: string, start: number, duration: number])[]): string[] {
  const items = {
    id: slices.map((_, at) => at),
    start: slices.map(([, start]) => start),
    duration: slices.map(([, , duration]) => duration),
    class: slices.map(() => 0),
    name: slices.map((_, at) => at),
  };
  return textsOf({ items, names: slices.map(([name]) => name) }, { kind: "op", label: "ops" });
}

test("the peak of a queue is that of the window, however its bins were drawn, and nothing while it is not known", () => {
  const row = { kind: "queue", label: "queue length", device: 0 } as const;
  for (const depth of [
    [350.4, 12],
    [349.2, 351.0, 3.5, 2],
  ]) {
    const track = { depth, bins_from: 0, bins_to: 500 };
    expect(textsOf(track, row, { device: 0, most: 352 })).toEqual(["peak 352"]);
    expect(textsOf(track, row, { device: 1, most: 352 })).toEqual([]);
    expect(textsOf(track, row)).toEqual([]);
  }
});

test("the name of a slice stands where it has room", () => {
  expect(written([["convolution", 10, 200]])).toEqual(["convolution"]);
});

test("a name is not cut to pieces by slices that lie on its slice: it ends before them, or is left out", () => {
  const behind = ["mul", 150, 2] as const;
  expect(written([["convolution", 10, 200], behind])).toEqual(["convolution"]);
  expect(written([["convolution", 10, 200], ["mul", 60, 2], behind])).toEqual(["convol…"]);
  expect(written([["convolution", 10, 200], ["mul", 20, 2], behind])).toEqual([]);
});

test("what ended before the window leaves the name alone", () => {
  expect(
    written([
      ["convolution", -100, 300],
      ["mul", -50, 20],
    ]),
  ).toEqual(["convolution"]);
});

test("an axis has at least three marks where their labels have room", () => {
  expect(axisStep(7.81e9, 380)).toBe(2e9);
  expect(axisStep(7.81e9, 1100)).toBe(1e9);
  expect(axisStep(20e6, 1100)).toBe(2e6);
  // Not closer than they can be read.
  expect(axisStep(7.81e9, 120)).toBe(10e9);
});
