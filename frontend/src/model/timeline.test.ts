import { describe, expect, it } from "vitest";

import type { TimelineWindow, TrackInfo } from "../api/types";
import { partKinds } from "./parts";
import {
  anchorIn,
  binClass,
  binShare,
  classColour,
  itemAt,
  iterationAround,
  lanesOf,
  mayShow,
  panned,
  rowsOf,
  stepOf,
  streamsShown,
  threadNames,
  within,
  foldedRows,
  movedBy,
  zoomed,
} from "./timeline";
import { readTimeline, timelineLink } from "./timeline_link";

const whole = { from: 0, to: 1000 };

const track = (id: number, kind: TrackInfo["kind"], more: Partial<TrackInfo>): TrackInfo => ({
  id,
  kind,
  name: `${kind} ${id}`,
  items: 1,
  sum_ns: id,
  launches: 0,
  level: 0,
  ...more,
});

describe("threads", () => {
  const namesOf = (tracks: TrackInfo[]) => rowsOf(tracks, new Set()).map(({ label }) => label);

  it("are numbered by what they launch, as their tracks are", () => {
    const tracks = [
      track(1, "op", { process: 1, thread: 7, launches: 1 }),
      track(2, "op", { process: 1, thread: 25738, launches: 9 }),
    ];
    expect([...threadNames(tracks)]).toEqual([
      ["1/25738", "thread 1"],
      ["1/7", "thread 2"],
    ]);
    expect(namesOf(tracks)).toEqual(["ops · thread 1", "ops · thread 2"]);
  });

  it("are called by what they run where that is known, the main one first", () => {
    const main = track(1, "op", { process: 9, thread: 9, launches: 1 });
    const backward = track(2, "op", { process: 9, thread: 12, launches: 5, backward: true });
    const other = track(3, "op", { process: 9, thread: 13, launches: 2 });
    expect(namesOf([backward, main])).toEqual(["ops · main", "ops · backward"]);
    expect([...threadNames([backward, main, other]).values()]).toEqual(["main", "backward", "thread 3"]);
    const second = track(4, "op", { process: 8, thread: 8 });
    expect([...threadNames([main, second]).values()]).toEqual(["main 1", "main 2"]);
  });
});

describe("the window", () => {
  it("is held by keys at what is selected while that is in sight", () => {
    expect(anchorIn({ from: 100, to: 200 }, { from: 110, to: 130 })).toBe(0.2);
    expect(anchorIn({ from: 100, to: 200 }, { from: 300, to: 310 })).toBe(0.5);
    expect(anchorIn({ from: 100, to: 200 }, null)).toBe(0.5);
  });

  it("zooms at the pointer and stays inside of the capture", () => {
    expect(zoomed({ from: 0, to: 400 }, whole, 0.5, 0.25)).toEqual({ from: 50, to: 250 });
    expect(zoomed({ from: 0, to: 400 }, whole, 100, 0.5)).toEqual(whole);
    expect(zoomed({ from: 500, to: 520 }, whole, 0.001, 0.5)).toEqual({ from: 505, to: 515 });
    expect(panned({ from: 0, to: 400 }, whole, -1)).toEqual({ from: 0, to: 400 });
    expect(panned({ from: 0, to: 400 }, whole, 0.5)).toEqual({ from: 200, to: 600 });
    expect(within({ from: 900, to: 1300 }, whole)).toEqual({ from: 600, to: 1000 });
  });

  it("steps from iteration to iteration", () => {
    const list = [0, 1, 2].map((iteration) => ({ iteration, start: iteration * 100, stop: iteration * 100 + 90 }));
    expect(stepOf(list, { from: 100, to: 190 }, 1)?.iteration).toBe(2);
    expect(stepOf(list, { from: 100, to: 190 }, -1)?.iteration).toBe(0);
    expect(stepOf(list, { from: 0, to: 90 }, -1)).toBeNull();
  });

  it("is in the URL with what is selected", () => {
    const link = timelineLink({ from: 5.4, to: 99, gap: { device: 1, at: 42 } });
    const url = Object.fromEntries(
      Object.entries(link).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
    );
    expect(readTimeline(url)).toEqual({ view: { from: 5, to: 99 }, selected: { device: 1, at: 42 } });
    expect(readTimeline({ "timeline.from": "x", "timeline.item": "7" })).toEqual({ view: null, selected: { item: 7 } });
  });
});

describe("rows", () => {
  it("of several GPUs are those of the one that the page is about", () => {
    const tracks = [track(1, "device", { device: 0 }), track(2, "device", { device: 1 })];
    const open = (main: number | null) =>
      rowsOf(tracks, new Set(), main).flatMap(({ fold, open }) => (open === true ? [fold] : []));
    expect([open(null), open(1), open(7)]).toEqual([["gpu0"], ["gpu1"], ["gpu0"]]);
  });

  it("of a strip are the busiest streams and those that communicate, whether their items or bins say so", () => {
    const streams = rowsOf(
      [9, 8, 7, 6, 5].map((id) => track(id, "stream", { device: 0, stream: id })),
      new Set(),
    ).filter(({ kind }) => kind === "stream");
    const items = (id: number, of: number) => ({ id, count: 1, items: { start: [0], duration: [1], class: [of] } });
    const bins = (id: number, of: string) => ({ id, count: 9, bins: { class: of, share: "//" } });
    const loaded = [items(9, 0), items(8, 1), items(7, 3), bins(6, "ab"), bins(5, " d")];
    const shown = (most: number, known: typeof loaded) =>
      streamsShown(streams, most, new Map(known.map((data) => [data.id, data])), 3).map(({ track: id }) => id);
    expect(shown(1, [])).toEqual([9]);
    expect(shown(1, loaded)).toEqual([9, 7, 5]);
    expect(shown(3, loaded)).toEqual([9, 8, 7, 5]);
  });

  it("of a strip have something in the window, or are not loaded yet", () => {
    const rows = rowsOf(
      [4, 3, 2, 1].map((id) => track(id, "stream", { device: 0, stream: id })),
      new Set(),
    ).filter(({ kind }) => kind === "stream");
    const tracks = [
      { id: 4, count: 1, items: { start: [500], duration: [10], class: [0] } },
      { id: 3, count: 1, items: { start: [90], duration: [20], class: [0] } },
      { id: 2, count: 9, bins: { class: "a  ", share: "/AA" }, bins_from: 0, bins_to: 300 },
    ];
    const answer = { state: 0, from: 1000, to: 2000, tracks, parts: {} };
    const shown = (known: typeof answer | null) =>
      rows.filter((row) => mayShow(row, { from: 1100, to: 1200 }, known)).map(({ track: id }) => id);
    expect(shown(null)).toEqual([4, 3, 2, 1]);
    expect(shown(answer)).toEqual([3, 1]);
  });

  it("of calls have no colour of a part of wall time", () => {
    const parts = new Set(partKinds("Tensor Core").map(({ colour }) => colour));
    for (const name of ["launch", "copy", "sync", "allocation", "other"])
      expect(parts).not.toContain(classColour("call", name, new Map()));
  });

  it("stand from the host to the streams, busiest first, and the rest is folded", () => {
    const tracks = [
      track(1, "call", { process: 1, thread: 1, launches: 9 }),
      track(2, "op", { process: 1, thread: 1 }),
      track(3, "op", { process: 1, thread: 2 }),
      track(4, "op", { process: 1, thread: 3 }),
      ...Array.from({ length: 15 }, (_, at) => track(10 + at, "stream", { device: 0, stream: at })),
      track(30, "device", { device: 0 }),
      track(31, "queue", { device: 0 }),
    ];
    const rows = rowsOf(tracks, new Set());
    expect(rows.map(({ kind }) => kind).slice(0, 6)).toEqual(["op", "call", "op", "more", "queue", "idle"]);
    expect(
      rows
        .filter(({ kind }) => kind === "stream")
        .map(({ track: id }) => id)
        .slice(0, 2),
    ).toEqual([24, 23]);
    expect(rows.at(-1)?.label).toBe("+ 3 streams");
    expect(rowsOf(tracks, new Set(["streams0"])).filter(({ kind }) => kind === "stream")).toHaveLength(15);
  });
});

describe("items", () => {
  const items = { start: [0, 10, 10, 40], duration: [30, 5, 100, 0], class: [0, 0, 0, 0] };

  it("are found by time: what is drawn there, else the nearest", () => {
    const exactly = { pixel: 0, slack: 0 };
    expect(itemAt(items, 12, exactly)).toBe(2);
    expect(itemAt(items, 12, { ...exactly, skipped: (item) => item === 2 })).toBe(1);
    expect(itemAt(items, 60, exactly)).toBe(2);
    expect(itemAt({ start: [], duration: [], class: [] }, 5, { pixel: 0, slack: 1 })).toBe(-1);
    const apart = { start: [0, 20, 22], duration: [10, 1, 30], class: [0, 1, 0] };
    // A wide one is meant although a thin one is near; a thin one is as wide as it is drawn.
    expect(itemAt(apart, 23, { pixel: 1, slack: 3 })).toBe(2);
    expect(itemAt(apart, 20.5, { pixel: 1, slack: 3 })).toBe(1);
    expect(itemAt(apart, 18, { pixel: 1, slack: 3 })).toBe(1);
    expect(itemAt(apart, 12, { pixel: 1, slack: 3 })).toBe(0);
    expect(itemAt(apart, 15, { pixel: 1, slack: 3 })).toBe(-1);
  });

  it("that overlap stand below each other", () => {
    expect([...lanesOf(items).lane]).toEqual([0, 1, 2, 0]);
    expect(lanesOf(items).lanes).toBe(3);
  });

  it("come as letters where they are many", () => {
    const bins = { class: "a.c", share: "/Af" };
    expect([0, 1, 2].map((at) => binClass(bins, at))).toEqual([0, -1, 2]);
    expect([0, 1].map((at) => binShare(bins, at))).toEqual([1, 0]);
  });
});

describe("the iteration around a window", () => {
  const list = [
    { iteration: 4, start: 0, stop: 500 },
    { iteration: 5, start: 500, stop: 1000 },
  ];

  it("is the one that holds all of it", () => {
    expect(iterationAround(list, { from: 600, to: 700 })?.iteration).toBe(5);
    expect(iterationAround(list, { from: 499, to: 700 })?.iteration).toBe(5);
  });

  it("is none where it reaches into another", () => {
    expect(iterationAround(list, { from: 400, to: 700 })).toBeNull();
  });
});

describe("rows of what does nothing", () => {
  const rows = rowsOf([track(1, "op", { thread: 1, process: 1 }), track(2, "stream", { device: 0 })], new Set());
  const answer = (start: number): TimelineWindow => ({
    state: 0,
    from: 0,
    to: 1000,
    parts: {},
    tracks: [{ id: 1, count: 1, items: { start: [start], duration: [10], class: [0] } }],
  });

  it("are one, which says so", () => {
    const shown = foldedRows(rows, { from: 100, to: 200 }, answer(500));
    expect(shown.map(({ label }) => label)).toEqual(["no host work here", "stream 2"]);
  });

  it("are without the levels of modules that have nothing", () => {
    const levels = rowsOf(
      [
        track(1, "range", { level: 0, thread: 1, process: 1 }),
        track(2, "range", { level: 1, thread: 1, process: 1 }),
        track(3, "stream", { device: 0 }),
      ],
      new Set(),
    );
    const first = { ...answer(150), tracks: [...answer(150).tracks, { id: 2, count: 0, items: undefined }] };
    const shown = foldedRows(levels, { from: 100, to: 200 }, first as unknown as TimelineWindow);
    expect(shown.map(({ key }) => key)).toEqual(["range1", "stream3"]);
    const none = { ...first, tracks: [1, 2].map((id) => ({ id, count: 0, items: undefined })) };
    const beside = [...levels, ...rowsOf([track(4, "op", { thread: 1, process: 1 })], new Set())];
    expect(
      foldedRows(beside, { from: 100, to: 200 }, none as unknown as TimelineWindow).map(({ empty }) => empty === true),
    ).toEqual([true, false, false]);
  });

  it("are one for each of its threads that does nothing", () => {
    const ofThree = rowsOf(
      [1, 2, 3].map((id) =>
        track(id, id === 3 ? "stream" : "op", id === 3 ? { device: 0 } : { thread: id, process: 1 }),
      ),
      new Set(),
    );
    const one = answer(150).tracks[0];
    const both = { ...answer(150), tracks: [...answer(150).tracks, { ...one, id: 2, count: 0, items: undefined }] };
    const shown = foldedRows(ofThree, { from: 100, to: 200 }, both as TimelineWindow);
    expect(shown.map(({ label }) => label)).toEqual(["ops · main", "thread 2", "stream 3"]);
  });

  it("are low where they are of streams", () => {
    const idle = { ...answer(150), tracks: [...answer(150).tracks, { id: 2, count: 0, items: undefined }] };
    const shown = foldedRows(rows, { from: 100, to: 200 }, idle as unknown as TimelineWindow);
    expect(shown.map(({ height }) => height)).toEqual([rows[0]?.height, 14]);
  });

  it("are as high as a row for each lane of overlapping work", () => {
    const streams = rowsOf([track(1, "stream", { device: 0 })], new Set());
    const overlapping = { start: [0, 5, 20], duration: [10, 10, 10], class: [0, 0, 0] };
    const loaded = { ...answer(150), from: 100, tracks: [{ id: 1, count: 3, items: overlapping }] };
    const shown = foldedRows(streams, { from: 100, to: 200 }, loaded);
    expect(shown.map(({ height }) => height)).toEqual([48]);
  });

  it("stay as they are while the pointer is on them, and come back in sight of it", () => {
    const idle = { ...answer(500), tracks: [...answer(500).tracks, { id: 2, count: 0, items: undefined }] };
    const view = { from: 100, to: 200 };
    const held = foldedRows(rows, view, idle as unknown as TimelineWindow, rows);
    expect(held.map(({ key, height }) => [key, height])).toEqual(rows.map(({ key, height }) => [key, height]));
    const folded = foldedRows(rows, view, idle as unknown as TimelineWindow);
    expect(folded.map(({ height }) => height)).toEqual([14, 14]);
    expect(foldedRows(rows, view, answer(150), folded)).toEqual(rows);
    expect(movedBy(folded, rows, 20)).toBe(4);
    expect(movedBy(folded, rows, 5)).toBe(0);
  });

  it("stay where it does something, and until that is known", () => {
    expect(foldedRows(rows, { from: 100, to: 200 }, answer(150))).toEqual(rows);
    expect(foldedRows(rows, { from: 100, to: 200 }, null)).toEqual(rows);
  });
});
