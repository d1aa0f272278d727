import { describe, expect, it } from "vitest";

import { binInWords } from "./pointing";

const word = (number: number): string => ["nothing", "kernels"][number] ?? "";

describe("what is at the pointer", () => {
  const ends = { id: 1, count: 9, bins_from: 100, bins_to: 500 };

  it("is what takes most of a bin, and how much of it", () => {
    const track = { ...ends, bins: { class: ".b..", share: "Af/A" } };
    expect(binInWords(track, 210, false, word)).toBe("kernels in 49.2 % of this pixel, 100 ns");
    expect(binInWords(track, 110, false, word)).toBe("");
    expect(binInWords(track, 600, false, word)).toBe("");
  });

  it("is the value of a curve", () => {
    expect(binInWords({ ...ends, depth: [1, 2.5] }, 499, false, word)).toBe("queue length 2.5 on average");
    expect(binInWords({ ...ends, depth: [1, 2.5] }, 101, false, word)).toBe("queue length 1");
    expect(binInWords({ ...ends, in_use_bytes: [0, 2048] }, 300, false, word)).toBe("2.00 KiB in use");
  });
});
