import { describe, expect, it } from "vitest";

import type { ProfileEntry } from "../api/types";
import { likelyBaselines } from "./likely_baselines";

const profile = (run: string, rest: Partial<ProfileEntry> = {}) => ({
  id: run,
  run,
  rank: null,
  state: "ready" as const,
  headline: { gpu_names: ["A"] } as ProfileEntry["headline"],
  ...rest,
});

describe("likely baselines", () => {
  it("are the nearest first, in the order of the list", () => {
    const profiles = ["jax", "resnet/amp/1", "resnet/fp32", "resnet/amp/2", "resnet/bf16"].map((run) => profile(run));
    expect(likelyBaselines(profiles, "resnet/amp/2").map(({ run }) => run)).toEqual([
      "resnet/amp/1",
      "resnet/fp32",
      "resnet/bf16",
      "jax",
    ]);
    expect(likelyBaselines(profiles, "resnet/amp/2", 1)).toHaveLength(1);
  });

  it("are ready, of the same rank, and of a GPU", () => {
    const profiles = [
      profile("a", { rank: 0 }),
      profile("b", { rank: 1 }),
      profile("c", { rank: 0, state: "not_imported" }),
      profile("d", { rank: 0, headline: null }),
      profile("e", { rank: 0 }),
    ];
    expect(likelyBaselines(profiles, "a").map(({ run }) => run)).toEqual(["e"]);
    expect(likelyBaselines(profiles, "nothing")).toEqual([]);
  });
});
