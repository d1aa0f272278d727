import { describe, expect, it } from "vitest";

import type { ProfileEntry } from "../api/types";
import { profileEntry } from "../testing/builders";
import { aggregationLabel, currentKey } from "./aggregation";
import {
  allRuns,
  besideOther,
  busyLabel,
  byJob,
  chooseProfile,
  entranceOf,
  fewRanks,
  gpuLabel,
  nearestFirst,
  rankLabel,
  runColour,
  searchProfiles,
  sharesMinute,
  titleOf,
  topLabel,
  unlisted,
} from "./picker";

const one = profileEntry({ id: "1", run: "a", name: "x.json", state: "not_imported" });
const two = profileEntry({ id: "2", run: "b", name: "y.json", rank: 3, world_size: 8 });
const three = profileEntry({ id: "3", run: "a", name: "z.json" });
const all = [one, two, three];

describe("which profile a URL means", () => {
  it.each([
    [{ profile: "1" }, "1"],
    [{ profile: "gone", run: "a", capture: "z.json" }, "3"],
    [{ run: "a" }, "3"],
    [{}, "2"],
  ])("%j", (url, id) => {
    expect(chooseProfile(all, url)?.id).toBe(id);
  });

  it("shows no other profile in place of one that is gone", () => {
    expect(chooseProfile(all, { run: "nowhere" })).toBeNull();
    expect(chooseProfile(all, { profile: "gone" })).toBeNull();
  });

  it("begins with what the viewer was started on", () => {
    expect(chooseProfile(all, {}, "3")?.id).toBe("3");
    expect(chooseProfile(all, { profile: "1" }, "3")?.id).toBe("1");
  });

  it("opens the newest with GPU work, and nothing that cannot be read", () => {
    const headline = {
      gpu_names: [],
      wall_time_ns: 1,
      iterations: 1,
      average_iteration_ns: 1,
      marked: null,
      computing_fraction: null,
      tensor_core_time_fraction: 0,
    };
    const ready = (id: string, captured_at: number, gpu: number | null): ProfileEntry =>
      profileEntry({ id, captured_at, headline: { ...headline, gpu_utilization_fraction: gpu } });
    const failed = profileEntry({ id: "f", captured_at: 99, state: "failed" });
    expect(chooseProfile([ready("old", 1, 0.5), ready("new", 2, 0.4), ready("cpu", 3, null), failed], {})?.id).toBe(
      "new",
    );
    const written = (id: string, modified_at: number): ProfileEntry => ({
      ...ready(id, 0, 0.5),
      captured_at: null,
      modified_at,
    });
    expect(chooseProfile([written("a", 1), written("b", 2)], {})?.id).toBe("b");
    // The file of one without a date may be a copy of today.
    expect(chooseProfile([written("copy", 9), ready("dated", 1, 0.5)], {})?.id).toBe("dated");
    expect(chooseProfile([ready("cpu", 3, null), profileEntry({ id: "n", state: "not_imported" })], {})?.id).toBe("n");
    expect(chooseProfile([failed, profileEntry({ id: "n", state: "not_imported" })], {})?.id).toBe("n");
  });

  it("takes one that is not imported rather than none", () => {
    expect(chooseProfile([one], {})?.id).toBe("1");
    expect(chooseProfile([], {})).toBeNull();
  });
});

it("groups by run in the server's order", () => {
  expect(byJob(all, []).map(({ run, profiles }) => [run, profiles.map(({ id }) => id)])).toEqual([
    ["a", ["1", "3"]],
    ["b", ["2"]],
  ]);
});

it("lists the captures of a run newest first, and those of no known date as the server does, behind them", () => {
  const at = (id: string, captured_at: number | null): ProfileEntry => profileEntry({ id, run: "a", captured_at });
  const [group] = byJob([at("none", null), at("old", 1), at("new", 2), at("neither", null)], []);
  expect(group?.profiles.map(({ id }) => id)).toEqual(["new", "old", "none", "neither"]);
});

it("finds by run, file, rank and GPU, all words of the search", () => {
  const ids = (search: string): string[] => searchProfiles(all, search).map(({ id }) => id);
  expect(ids("RANK 3")).toEqual(["2"]);
  expect(ids("A .JSON x")).toEqual(["1"]);
  expect(ids("nothing")).toEqual([]);
  expect(ids(" ")).toEqual(["1", "2", "3"]);
});

it("colours runs by TensorBoard's order, and its palette starts again", () => {
  const runs = allRuns(["r0", "r1"], [profileEntry({ run: "extra" }), profileEntry({ run: "r1" })]);
  expect(runs).toEqual(["r0", "r1", "extra"]);
  expect(runColour("r1", runs, "light")).toBe("#12b5cb");
  expect(runColour("r0", runs, "dark")).toBe("#8e98a3");
  const many = Array.from({ length: 9 }, (_, i) => `r${i}`);
  expect(runColour("r7", many, "light")).toBe(runColour("r0", many, "light"));
});

it("labels ranks and aggregations", () => {
  expect(rankLabel(two)).toBe("rank 3 of 8");
  expect(rankLabel(one)).toBe("");
  expect(rankLabel({ rank: 0, world_size: 1 })).toBe("");
  expect(gpuLabel(["H100", "H100", "A100"])).toBe("2 × H100, A100");
  expect(aggregationLabel({ id: 1, iter_start: 0, iter_stop: 9, iterations: 10, key_node: "", label: "" })).toBe(
    "0 .. 9",
  );
  expect(aggregationLabel({ id: 1, iter_start: null, iter_stop: null, iterations: 1, key_node: "", label: "" })).toBe(
    "all 1",
  );
});

it("calls the folder at the top what the user knows it as", () => {
  const opened = { name: "profiles", profile: null, code: "", message: "" };
  const file = { run: ".", name: "x.json" };
  expect(titleOf(file, topLabel(null), " · ")).toBe("log directory · x.json");
  expect(titleOf(file, topLabel(opened), " · ")).toBe("profiles · x.json");
  expect(titleOf(file, topLabel({ ...opened, name: "x.json", profile: "1" }), " · ")).toBe("x.json");
  expect(titleOf(one, topLabel(null), "\n")).toBe("a\nx.json");
});

it("says why there may be more profiles", () => {
  const scan = {
    state: "done" as const,
    directories: 1,
    finished_at: 1,
    refused: [],
    reports: [],
    jobs: [],
    others: [],
    others_count: 0,
  };
  expect(unlisted({ ...scan, truncated: false, remote: [] }, []).why).toEqual([]);
  expect(unlisted({ ...scan, truncated: true, remote: ["s3://b is denied."] }, []).why).toEqual([
    "There are more files than are searched: name a folder further down as the log directory.",
    "s3://b is denied.",
  ]);
});

it("tells of reports that were not exported beside them", () => {
  const exported = { run: "a", name: "x.nsys-rep" };
  const elsewhere = { run: "b", name: "x.nsys-rep" };
  const left = { run: "a", name: "x2.nsys-rep" };
  const scan = {
    state: "done" as const,
    directories: 1,
    finished_at: 1,
    truncated: false,
    refused: [],
    reports: [exported, elsewhere, left],
    jobs: [],
    others: [],
    others_count: 0,
    remote: [],
  };
  expect(unlisted(scan, [{ run: "a", name: "x.sqlite" }]).reports).toEqual([elsewhere, left]);
});

it("tells apart the ways to find iterations that are of one kind", () => {
  const ways = [
    { kind: "numbered_range", label: "batch N", count: 80 },
    { kind: "numbered_range", label: "epoch N", count: 4 },
    { kind: "whole_capture", label: "", count: 1 },
  ];
  const shown = (label: string, keyNode = "") =>
    currentKey({
      aggregation: 2,
      aggregations: [{ id: 2, iter_start: 0, iter_stop: 3, iterations: 4, key_node: keyNode, label }],
      iterations: {
        unit: "ns",
        binned: false,
        rows: [],
        proposal: null,
        source: { kind: "numbered_range", label: "batch N", candidates: ways },
      },
    });
  expect(shown("epoch N")).toEqual({ keyOp: "", way: "epoch N" });
  expect(shown("unheard of")).toEqual({ keyOp: "", way: "batch N" });
  expect(shown("")).toEqual({ keyOp: "", way: "whole_capture" });
  expect(shown("LINEAR_2", "LINEAR_2")).toEqual({ keyOp: "LINEAR_2", way: "" });
});

describe("ranks of a job", () => {
  const ranks = [10, 2, 0, 1].map((rank) => profileEntry({ id: `r${rank}`, run: `job/host${rank % 2}`, rank }));
  const other = profileEntry({ id: "o", run: "job/host1" });
  const jobs = [{ run: "." }, { run: "job" }];

  it("stand together, whatever folders they are in, by rank", () => {
    const groups = byJob([...ranks, other, profileEntry({ id: "x", run: "jobs" })], jobs.slice(1));
    expect(groups.map(({ run, job, profiles }) => [run, job, profiles.map(({ id }) => id)])).toEqual([
      ["job", true, ["r0", "r1", "r2", "r10"]],
      ["job/host1", false, ["o"]],
      ["jobs", false, ["x"]],
    ]);
    expect(byJob(ranks, jobs)[0]?.run).toBe("job");
    expect(byJob(ranks.slice(0, 1), jobs)[0]?.job).toBe(false);
  });

  it("are listed by search, not by scrolling", () => {
    const [group = { run: "", profiles: [] }] = byJob(ranks, jobs);
    expect(fewRanks(group, ranks[0] ?? null, 2).map(({ id }) => id)).toEqual(["r0", "r1", "r10"]);
    const ready = { ...group, profiles: group.profiles.map((each) => ({ ...each, state: "not_imported" as const })) };
    expect(entranceOf(ready)?.id).toBe("r0");
    expect(entranceOf({ ...ready, profiles: [...ready.profiles, profileEntry({ id: "ready" })] })?.id).toBe("ready");
  });
});

it("profiles whose own names have what is searched for come before those of such GPUs", () => {
  const headline = { gpu_names: ["NVIDIA H100"] };
  const of = (run: string, more: object = {}) => ({
    run,
    name: "x",
    rank: null,
    format: "pytorch",
    headline: null,
    ...more,
  });
  const profiles = [of("job", { headline }), of("other"), of("h100_bert")] as unknown as ProfileEntry[];
  expect(searchProfiles(profiles, "H100").map(({ run }) => run)).toEqual(["h100_bert", "job"]);
});

describe("what tells a baseline from the profile beside it", () => {
  const entry = (id: string, run: string, name: string, rank: number | null = null): ProfileEntry =>
    profileEntry({ id, run, name, rank, world_size: rank === null ? null : 8 });
  const own = entry("1", "series/batch_032", "a.json");
  const other = entry("2", "series/batch_128", "b.json");
  const whole = [own, other];

  it("is the end of its run, and no file where the run is enough", () => {
    expect(besideOther(other, own, whole, "logs")).toEqual({ run: "batch_128", rank: "", name: "" });
    expect(besideOther(entry("3", "series", "c.json"), own, whole, "logs")).toEqual({
      run: "series",
      rank: "",
      name: "",
    });
    expect(besideOther(entry("3", ".", "c.json"), own, whole, "logs")).toEqual({ run: "logs", rank: "", name: "" });
  });

  it("is the file, or the rank, where a run holds several", () => {
    const near = entry("4", "series/batch_032", "d.json");
    expect(besideOther(near, own, [...whole, near], "logs")).toEqual({ run: "", rank: "", name: "d.json" });
    const ranks = [entry("5", "job", "r0.json", 0), entry("6", "job", "r1.json", 1)];
    expect(besideOther(ranks[1] ?? own, own, [...whole, ...ranks], "logs")).toEqual({
      run: "job",
      rank: "rank 1 of 8",
      name: "",
    });
  });
});

describe("which profiles are nearest to another", () => {
  it("is told by the folders above both, and keeps the order of equally near ones", () => {
    const own = profileEntry({ id: "own", run: "series/cnn/new" });
    const runs = ["alone", "other/cnn/new", "series/mlp/x", "series/cnn/old", "series/cnn/older", "series/cnn/new"];
    const others = runs.map((run) => profileEntry({ id: run, run }));
    expect(nearestFirst([own, ...others], own).map(({ id }) => id)).toEqual([
      "series/cnn/old",
      "series/cnn/older",
      "series/cnn/new",
      "series/mlp/x",
      "alone",
      "other/cnn/new",
    ]);
    expect(nearestFirst(others, undefined)).toEqual(others);
  });
});

describe("how much the GPUs did", () => {
  const profileOf = (computing: number | null, ran: number | null, format = "pytorch") =>
    profileEntry({
      state: "ready",
      format,
      headline: {
        gpu_names: [],
        wall_time_ns: 1,
        iterations: 1,
        average_iteration_ns: 1,
        marked: true,
        gpu_utilization_fraction: ran,
        computing_fraction: computing,
        tensor_core_time_fraction: null,
      },
    });
  it.each([
    ["computing 50.0 %", profileOf(0.5, 0.7)],
    ["kernels ran 70.0 %", profileOf(null, 0.7)],
    ["no GPU work recorded", profileOf(null, null)],
    ["", profileOf(null, null, "pytorch_memory_snapshot")],
    ["", one],
  ])("%s", (said, profile) => {
    expect(busyLabel(profile)).toBe(said);
  });
});

it("finds by all that a row shows, and tells captures of one minute apart by their seconds", () => {
  const at = new Date(2024, 11, 4, 10, 20, 5).getTime() / 1000;
  const of = (id: string, run: string, captured_at: number): ProfileEntry => profileEntry({ id, run, captured_at });
  const profiles = [of("a", "x", at), of("b", "x", at + 7), of("c", "y", at), of("d", "x", at - 3600)];
  expect(searchProfiles(profiles, "2024-12 10:20").map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(profiles.map((each) => sharesMinute(each, profiles))).toEqual([true, true, false, false]);
});
