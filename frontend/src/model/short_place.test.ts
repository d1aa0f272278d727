import { describe, expect, it } from "vitest";

import { shortPath, shortPlace } from "./short_place";

const letters = (text: string): number => text.length;

describe("shortPlace", () => {
  it("leaves a place that fits as it is", () => {
    expect(shortPlace("/model/encoder/", 15, letters)).toBe("/model/encoder/");
  });
  it("cuts at a slash and says so, never within a word", () => {
    expect(shortPlace("/model/encoder/attention/", 24, letters)).toBe("…/encoder/attention/");
    expect(shortPlace("/model/encoder/attention/", 12, letters)).toBe("…/attention/");
    expect(shortPlace("/model/encoder/attention/", 3, letters)).toBe("…/");
    expect(shortPlace("Optimizer.step#Adam.step/", 8, letters)).toBe("…/");
    expect(shortPlace("unassociated_", 8, letters)).toBe("…");
    expect(shortPlace("/", 0, letters)).toBe("/");
  });
});

it("cuts a path in a sentence where it is too long to be read there", () => {
  expect(shortPath("/model/encoder/linear")).toBe("/model/encoder/linear");
  expect(shortPath(`/${"range/".repeat(12)}block/conv2d`)).toBe(`…/${"range/".repeat(7)}block/conv2d`);
  expect(shortPath("")).toBe("");
});
