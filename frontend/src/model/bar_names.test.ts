import { expect, it } from "vitest";

import { barName, type NamedPiece } from "./bar_names";

const op = (name: string, pass = ""): NamedPiece => ({ name, pass, isKernel: false });
const kernel = (name: string): NamedPiece => ({ name, pass: "", isKernel: true });
const inLetters =
  (most: number) =>
  (text: string): boolean =>
    text.length <= most;

it.each([
  [op("Attention/Linear/linear", "fwd"), 30, "Attention/Linear/linear fwd"],
  [op("Attention/Linear/linear", "fwd"), 24, "Attention/…/linear fwd"],
  [op("Attention/Linear/linear", "fwd"), 12, "linear fwd"],
  // An op's end tells what it is, from a word on.
  [op("LinearWithGradAccumulationAndAsyncCommunication", "bwd"), 25, "…AsyncCommunication bwd"],
  [op("scaled_dot_product_attention"), 12, "…_attention"],
  [op("embedding", "bwd"), 8, "…bedding"],
  [op("attention"), 3, ""],
  // A kernel's beginning does.
  [kernel("no op:\u00a0elementwise_kernel"), 40, "no op:\u00a0elementwise_kernel"],
  [kernel("no op:\u00a0elementwise_kernel"), 20, "elementwise_kernel"],
  [kernel("no op:\u00a0elementwise_kernel"), 12, "elementwise…"],
])("a piece of a bar is called as much as fits", (piece, letters, name) => {
  expect(barName(piece, [], inLetters(letters))).toBe(name);
});

it("tells pieces apart that end alike", () => {
  const [norm, attention] = [op("Qwen2RMSNorm/mul", "fwd"), op("Qwen2Attention/mul", "fwd")];
  expect(barName(norm, [attention], inLetters(10))).toBe("…Norm/mul");
  expect(barName(attention, [norm], inLetters(10))).toBe("…ntion/mul");
  // Where nothing of its place fits, what it does says more than nothing.
  expect(barName(attention, [norm], inLetters(8))).toBe("mul fwd");
  // Of another direction it is told apart by that.
  expect(barName(norm, [op("Qwen2Attention/mul", "bwd")], inLetters(10))).toBe("mul fwd");
});
