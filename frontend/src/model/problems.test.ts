import { expect, test } from "vitest";

import { causeAndRemedy, holdsNoGpuWork, problemOf } from "./problems";

const stepsOf = (message: string) => problemOf("unreadable", "a.pb", message)?.steps;

test("a file without GPU work is no file that cannot be read", () => {
  const message = "a.pb holds no GPU work, for the GPU was not recorded (no libcupti); record again.";
  expect(problemOf("unreadable", "a.pb", message)).toMatchObject({ title: "No GPU work in a.pb", steps: [] });
});

test("where the server names the remedy, no others are guessed", () => {
  const converted = "a.pb is damaged: it was converted as text on its way; copy the profile again, as binary.";
  expect(stepsOf(converted)).toEqual([]);
  expect(stepsOf("a.pb holds no event that can be read. Record the profile again.")).toEqual([]);
  expect(stepsOf("a.txt is text, not a profile. Formats tried: PyTorch trace; XPlane profile.")).toHaveLength(3);
});

test("damage is not what a file lacks that was read", () => {
  const intact = [
    "a.pb holds host events only (JAX on CPU); record it where a GPU computes.",
    "a.pb holds a TPU profile; GPU SUMMARY shows GPUs only. Open it with xprof.",
    "a.json holds no events; let the profiler record at least one step.",
  ];
  expect(intact.map(holdsNoGpuWork)).toEqual([true, true, true]);
  expect(holdsNoGpuWork("a.json holds no event that can be read. Record the profile again.")).toBe(false);
});

test("the remedy stands apart from the cause, and the name of the file is not said twice", () => {
  expect(causeAndRemedy("a.pb holds host events only; record it where a GPU computes.", "runs/a.pb")).toEqual({
    cause: "It holds host events only.",
    remedy: "Record it where a GPU computes.",
  });
  expect(causeAndRemedy("a.json holds no event. Left out: 3. Record the profile again.", "a.json")).toEqual({
    cause: "It holds no event. Left out: 3.",
    remedy: "Record the profile again.",
  });
  const tried = "a.txt is text. Formats tried: PyTorch trace; XPlane profile.";
  expect(causeAndRemedy(tried, "a.txt")).toEqual({ cause: tried.replace("a.txt", "It"), remedy: "" });
  expect(causeAndRemedy("Choose A; or B again.", "a.pb").remedy).toBe("");
});
