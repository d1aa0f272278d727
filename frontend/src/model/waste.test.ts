import { describe, expect, it } from "vitest";

import type { DiagnosedFinding, GroupNodes } from "../api/types";
import { nodes } from "../testing/tree";
import { buildTree, Rows } from "./group_tree";
import { mayGainMore, ratedShare } from "./tree_values";
import {
  eligibleSentence,
  findingOf,
  gainsUntold,
  knownGains,
  onUnitsInWords,
  opsOf,
  othersOf,
  partApart,
  wasteOf,
} from "./waste";

const rowsOf = (gains: readonly (number | null)[], limited: readonly number[]): Rows => {
  const causes =
    limited.length === 0
      ? []
      : [{ cause: "x", label: "FP32 tensors", kernel_ns: [...limited], ops: limited.map(() => 1) }];
  const tree = buildTree({ ...nodes(), gain_ns: [...gains] }, "", causes);
  return new Rows(tree, { sort: "", fold: true, visible: null });
};
//             /  un Net L0 L1 Head c0 c1 linear
const SPREAD = [100, 0, 100, 45, 45, 10, 45, 45, 10];
const HEAD = [100, 0, 100, 10, 10, 80, 10, 10, 80];
const NONE = SPREAD.map(() => 0);

describe("which module wastes most", () => {
  it("is the deepest one with most of the gain; alike ones count as one", () => {
    expect(wasteOf(rowsOf(SPREAD, HEAD)).gains?.name).toBe("Layer[0..1]/conv_0..1");
    expect(wasteOf(rowsOf(HEAD, SPREAD)).gains?.name).toBe("Head/linear");
  });

  it("is never the whole model while something below it is known", () => {
    //            /  un Net L0 L1 Head c0 c1 linear
    const EVEN = [100, 0, 100, 22, 22, 40, 22, 22, 40];
    expect(wasteOf(rowsOf(EVEN, HEAD)).gains?.name).toBe("Layer[0..1]/conv_0..1");
  });

  it("is not what takes most, where nobody knows what that could gain", () => {
    const known = { ...nodes(), kernel_time_ns: [100, 0, 100, 30, 30, 40, 30, 30, 40] };
    const gains = { gain_ns: [10, 0, 10, 5, 5, null, 5, 5, null], unrated_time_ns: [40, 0, 40, 0, 0, 40, 0, 0, 40] };
    const tree = buildTree({ ...known, ...gains }, "");
    const rows = new Rows(tree, { sort: "", fold: true, visible: null });
    const untold = wasteOf(rows);
    expect([untold.longest?.name, untold.gains?.name, untold.isLongestUntold]).toEqual([
      "Head/linear", "Layer[0..1]/conv_0..1", true,
    ]); // prettier-ignore
    expect(wasteOf(rowsOf(SPREAD, HEAD)).isLongestUntold).toBe(false);
  });

  it("is none where gains are known of less than half of the kernel time", () => {
    const gains = { gain_ns: [10, null, 10, 5, 5, null, 5, 5, null], unrated_time_ns: [60, 7, 60, 0, 0, 60, 0, 0, 60] };
    const rows = new Rows(buildTree({ ...nodes(), ...gains }, ""), { sort: "", fold: true, visible: null });
    expect(wasteOf(rows).gains).toBeNull();
    const net = rows.find("/Net/");
    expect(net !== null && [mayGainMore(net), ratedShare(net)]).toEqual([true, 0.4]);
    expect(gainsUntold(knownGains(rows), { what: "Shapes", hint: "Record them." })).toBe(
      "What rows could gain is known for 37.4 % of the kernel time; the rest needs shapes. Record them.",
    );
    expect(gainsUntold(0.5, { what: "Shapes", hint: "Record them." })).toBe("");
  });

  it("is the largest part, not the largest below what happens to hold most", () => {
    //             /  un Net L0 L1 Head c0 c1 linear
    const TWO = [100, 0, 100, 24, 24, 52, 24, 24, 28];
    expect(wasteOf(rowsOf(TWO, HEAD)).gains?.name).toBe("Layer[0..1]/conv_0..1");
  });

  it("is a part that gains more than half of all, if it takes less than half of the time", () => {
    const columns: Record<string, unknown[]> = { ...nodes() };
    const more = Object.fromEntries(Object.entries(columns).map(([key, of]) => [key, [...of, of.at(-1)]]));
    const tree = buildTree(
      {
        ...(more as unknown as GroupNodes),
        name: [...nodes().name, "gelu"],
        children: [2, 0, 3, 1, 1, 2, 0, 0, 0, 0],
        //        /  un Net L0 L1 Head c0 c1 linear gelu
        gain_ns: [10, 0, 10, 2, 2, 5.6, 2, 2, 2.7, 2.7],
        gpu_time_ns: [100, 0, 100, 30, 30, 40, 30, 30, 20, 20],
      },
      "",
    );
    const rows = new Rows(tree, { sort: "", fold: true, visible: null });
    expect(wasteOf(rows).gains?.name).toBe("Head");
  });

  it("is told with the finding whose evidence takes most time in it, wherever the rest is", () => {
    const rows = rowsOf(HEAD, HEAD);
    const { gains } = wasteOf(rows);
    if (gains === null) throw new Error("Nothing gains.");
    const finding = (parts: object, ...ops: [op: string, ns: number][]): DiagnosedFinding =>
      ({
        cause: "compute",
        per: "iteration",
        gain: { low_ns: 1, high_ns: 2 },
        evidence: ops.map(([op, time_ns]) => ({ op, time_ns })),
        ...parts,
      }) as unknown as DiagnosedFinding;
    const elsewhere = finding({}, ["LINEAR_0", 3], ["CONV_0", 50]);
    const host = finding({ cause: "launching" }, ["LINEAR_0", 3]);
    const untold = finding({ gain: null }, ["LINEAR_0", 3]);
    const some = finding({}, ["LINEAR_0", 4]);
    const here = finding({}, ["LINEAR_0", 5], ["CONV_0", 8]);
    expect(findingOf(opsOf(rows, gains), [elsewhere, host, untold])).toBeNull();
    expect(findingOf(opsOf(rows, gains), [elsewhere, host, untold, some, here])).toEqual({ ...here, isWider: true });
    const alone = finding({}, ["LINEAR_0", 5]);
    expect(findingOf(opsOf(rows, gains), [alone])).toEqual({ ...alone, isWider: false });
  });

  it("is told apart from what matrix units do not do", () => {
    const { gains, limited } = wasteOf(rowsOf(NONE, HEAD));
    expect(gains).toBeNull();
    expect(limited?.name).toBe("Head/linear");
    const few = HEAD.map((time) => time / 100);
    const nothing = wasteOf(rowsOf(NONE, few));
    expect(nothing).toMatchObject({ gains: null, limited: null, ops: { eligible: 3, using: 2, moreEligible: false } });
    expect(nothing.longest?.values.gpu_time_ns).toBeGreaterThan(0);
  });
});

describe("how much of a row is on matrix units", () => {
  const said = (parts: Partial<ReturnType<typeof nodes>>): string => {
    const root = new Rows(buildTree({ ...nodes(), ...parts }, ""), { sort: "", fold: false, visible: null }).find(
      "/Net/",
    );
    return root === null ? "" : onUnitsInWords(root, "Tensor Core");
  };
  const all = (value: number): number[] => nodes().parent.map(() => value);

  it("is told as far as it is known", () => {
    expect(said({})).toBe("40.0 % of its kernel time is on Tensor Cores");
    expect(said({ unknown_time_ns: all(1) })).toBe("At least 40.0 % of its kernel time is on Tensor Cores");
    expect(said({ tensor_core_time_ns: all(0), unknown_ops: all(1) })).toBe(
      "Whether its kernels use Tensor Cores is not known",
    );
  });

  it("is no question of copies and collectives", () => {
    expect(said({ kernel_time_ns: all(0) })).toBe("It launches no kernels: its time is that of copies and memsets");
    // The kernels of CUDA graphs that were recorded as a whole are not known.
    expect(said({ kernel_time_ns: all(0), unknown_ops: all(1) })).toBe(
      "Whether its kernels use Tensor Cores is not known",
    );
    expect(said({ communication_ns: all(98) })).toBe("98.0 % of its kernel time is communication");
  });

  it("leaves the wait for other ranks out of what its cause is measured by", () => {
    const few = HEAD.map((time) => time / 100);
    const causes = [{ cause: "x", label: "FP32 tensors", kernel_ns: few, ops: few.map(() => 1) }];
    const waiting = { ...nodes(), communication_ns: [95, 0, 95, 0, 0, 0, 0, 0, 0] };
    const rows = new Rows(buildTree(waiting, "", causes), { sort: "", fold: true, visible: null });
    expect(wasteOf(rows).limited?.name).toBe("Head/linear");
  });
});

describe("how many ops use matrix units", () => {
  it("is told as far as it is known", () => {
    const said = (eligible: number, using: number, moreEligible = false, moreUsing = false): string =>
      eligibleSentence({ eligible, using, moreEligible, moreUsing }, "Tensor Core");
    expect(said(3, 1)).toBe("1 of 3 eligible ops uses Tensor Cores.");
    expect(said(193, 192, true)).toBe("192 of the 193 ops known to be eligible use Tensor Cores.");
    expect(said(5, 4, false, true)).toBe("At least 4 of 5 eligible ops use Tensor Cores.");
    expect(said(0, 0, true, true)).toBe("Whether any op could use Tensor Cores is not known.");
    expect(said(0, 0)).toBe("No op is eligible for Tensor Cores.");
  });
});

it("a module that differs from its like in more than its number stands apart, and is told", () => {
  const othersThan = (ops: readonly number[]): string[] => {
    const structure = nodes().structure.map((each, i) => each + (ops[i] ?? 0) * 10);
    const name = nodes().name.map((each) => each.replace(/_\d$/, ""));
    const rows = new Rows(buildTree({ ...nodes(), structure, ops: [...ops], name }, ""), {
      sort: "",
      fold: true,
      visible: null,
    });
    const layer = rows.rowOf(6);
    if (layer === null) throw new Error("There is no such row.");
    return othersOf(rows, layer);
  };
  const { ops } = nodes();
  expect(othersThan(ops.map((count, i) => (i === 4 ? 9 : count)))).toEqual(["/Net/Layer[1]/conv"]);
  expect(othersThan(ops)).toEqual([]);
});

it("is told from others of its path by the number that differs", () => {
  const [path, other] = [
    "/m/Conv::call[2]/Conv::forward/Conv::own/conv2d",
    "/m/Conv::call/Conv::forward/Conv::own/conv2d",
  ];
  expect(partApart(path, "Conv::own/conv2d", [other])).toBe("Conv::call[2]");
  expect(partApart(other, "Conv::own/conv2d", [path])).toBe("Conv::call");
  expect(partApart("/Net/Layer[1]/", "Layer[1]", ["/Net/Layer[2]/"]), "its name says it").toBe("");
});
