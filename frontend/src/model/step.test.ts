import { expect, it } from "vitest";

import type { Diagnosis } from "../api/types";
import { dashboard, iterationRow } from "../testing/builders";
import { isWarmUp } from "./step";

it("warm-up are the first iterations of the recording, wherever one looks", () => {
  const rows = [5, 6, 7, 8, 9].map((iteration) => iterationRow({ iteration }));
  const data = dashboard({ iterations: { ...dashboard().iterations, rows } });
  const diagnosis = {
    typical: { start: 2, stop: 3, left_out: [], why: ["warm_up"], said: "", labels: [] },
    iterations: rows.map((_, index) => ({ index })),
  } as unknown as Diagnosis;
  expect(
    rows.filter(({ iteration }) => isWarmUp(iteration, diagnosis, data)).map(({ iteration }) => iteration),
  ).toEqual([5, 6]);
  const other = { ...diagnosis, typical: { ...diagnosis.typical, why: ["became_slower"] } };
  expect(isWarmUp(5, other, data)).toBe(false);
});
