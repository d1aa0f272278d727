import { describe, expect, it } from "vitest";

import type { DiagnosedDevice, Diagnosis } from "../api/types";
import { mainDevice } from "./parts";

const device = (parts: Partial<DiagnosedDevice["parts"]>) => ({ parts, rows: [] }) as unknown as DiagnosedDevice;
const mean = (devices: Record<string, DiagnosedDevice>) => ({ devices }) as unknown as Diagnosis["mean"];

describe("the GPU that the headline is about", () => {
  it("computes least of those that the program works with, not one that only gets a copy now and then", () => {
    const devices = {
      1: device({ copy: 30 }),
      4: device({ compute_other: 15_000, copy: 200 }),
      6: device({ compute_other: 14_000, communication: 900 }),
    };
    expect(mainDevice({ mean: mean(devices) })?.[0]).toBe("6");
  });

  it("is not one that only copies beside one that computes less", () => {
    const devices = { 0: device({ copy: 300 }), 1: device({ compute_other: 200 }) };
    expect(mainDevice({ mean: mean(devices) })?.[0]).toBe("1");
  });

  it("is any where none computes, and none where none works", () => {
    expect(mainDevice({ mean: mean({ 0: device({ copy: 30 }) }) })?.[0]).toBe("0");
    expect(mainDevice({ mean: mean({}) })).toBeNull();
  });
});
