import { expect, test } from "vitest";

import { problemOf } from "./problems";

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
