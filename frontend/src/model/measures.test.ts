import { expect, test } from "vitest";

import { behindWord, boundsOf, changeOfMeasure, colourOfChange, isNeutral, measureKinds } from "./measures";

const kindOf = (key: string) => {
  const kind = measureKinds("Matrix Core").find((each) => each.key === key);
  if (kind === undefined) throw new Error(key);
  return kind;
};

test("of what costs less is better, of throughput more, and shares change in points", () => {
  expect(changeOfMeasure(kindOf("iteration_time"), 80e6, 20e6)).toEqual({
    size: "▼ −60.0 ms",
    share: "−75.0 %",
    direction: "less",
  });
  expect(changeOfMeasure(kindOf("tensor_core_share"), 0, 0.289)).toEqual({
    size: "▲ +28.9 points",
    share: "",
    direction: "same",
  });
  expect(changeOfMeasure(kindOf("samples_per_s"), 100, 150)).toEqual({
    size: "",
    share: "▲ +50.0 %",
    direction: "less",
  });
  expect(changeOfMeasure(kindOf("tokens_per_s"), 150, 100).direction).toBe("more");
  expect(changeOfMeasure(kindOf("tokens_per_s"), 1000, 1005).direction).toBe("same");
  expect(changeOfMeasure(kindOf("kernels"), 10, 20).direction).toBe("same");
  expect(kindOf("tensor_core_share").label).toBe("of it on Matrix Cores");
});

test("kernels are counted, be it on average", () => {
  expect([29, 52.667, 1793.5].map(kindOf("kernels").format)).toEqual(["29", "52.7", "1,794"]);
});

test("nothing is said of a side that is unknown, nor of bytes that round to the same", () => {
  expect(changeOfMeasure(kindOf("memory_peak"), null, 5).size).toBe("");
  expect(changeOfMeasure(kindOf("memory_peak"), 2 ** 30, 2 ** 30 + 4096)).toMatchObject({
    size: "",
    direction: "same",
  });
  expect(changeOfMeasure(kindOf("memory_peak"), 2 ** 30, 2 ** 29).size).toBe("▼ −512 MiB");
});

test("the bounds of an estimate share one unit", () => {
  expect(boundsOf({ interval: [0.276, 0.282] })).toBe("−72.4 to −71.8 %");
  expect(boundsOf({ interval: null })).toBe("");
});

test("nothing has a colour where it cannot be told whether anything changed", () => {
  const pair = { inputs_differ: false, per: "iteration", verdict: "faster" } as const;
  expect(isNeutral(pair)).toBe(false);
  expect(isNeutral({ ...pair, verdict: "cannot_tell" })).toBe(true);
  expect(isNeutral({ ...pair, per: "capture" })).toBe(true);
  expect(isNeutral({ ...pair, inputs_differ: true })).toBe(true);
});

test("colours no change that may be none", () => {
  expect(changeOfMeasure(kindOf("kernel_time"), 3.39e9, 3.41e9)).toMatchObject({ share: "+0.6 %", direction: "same" });
  const change = changeOfMeasure(kindOf("idle_time"), 100e3, 135e3);
  expect(colourOfChange(change, null)).toBe("change-more");
  expect(colourOfChange(change, [1.1, 1.4])).toBe("change-more");
  expect(colourOfChange(change, [0.9, 1.4])).toBe("muted");
});

test("the word of a headline stands before it alone", () => {
  const unsure = { word: "Cannot tell", headline: "Cannot tell: kernels of B take 1.00 ms more." };
  expect(behindWord(unsure)).toBe("kernels of B take 1.00 ms more.");
  const sure = { word: "Faster", headline: "An iteration of B takes 72.1 % less time: 19.8 ms." };
  expect(behindWord(sure)).toBe(sure.headline);
});
