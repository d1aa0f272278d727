import { expect, it } from "vitest";

import { nodes } from "../testing/tree";
import { buildTree, Rows } from "./group_tree";
import type { TreeRow } from "./tree_row";
import { communicates } from "./tree_values";
import { COLOURS, PANEL_BACKGROUND } from "./resources";
import {
  boundInWords,
  boundOf,
  colourings,
  contrast,
  mainBoundInWords,
  STEP_KEYS,
  stepColours,
  withoutKernels,
  type Step,
} from "./shades";

const rows = new Rows(buildTree(nodes(), ""), { sort: "", fold: true, visible: null });

const rowAt = (key: string): TreeRow => {
  const row = rows.find(key);
  if (row === null) throw new Error(key);
  return row;
};

it("colours a row by each question", () => {
  const all = colourings("Tensor Core", true, true);
  const of = (key: string) => Object.values(all).map((colouring) => colouring.of(rowAt(key)));
  expect(of("/")).toEqual(["mid", "memory", "gainLow", "hostMid"]);
  expect(of("/Net/Layer[0]~/")).toEqual(["high", "memory", "gainLow", "hostMid"]);
  expect(of("/Net/Head/")[0]).toBe("keptOff");
  expect(boundOf(rowAt("/"))).toBe("memory");
  expect(Object.keys(colourings("Tensor Core", false, false))).toEqual(["cores", "host"]);
});

it("communication is no candidate for Tensor Cores", () => {
  const { cores } = colourings("Tensor Core", true, true);
  const none = nodes().kernel_time_ns.map(() => 0);
  const communication_ns = nodes().kernel_time_ns.map((time) => time * 0.6);
  const most = { ...nodes(), communication_ns, memory_bound_ns: none };
  const rows = new Rows(buildTree(most, ""), { sort: "", fold: true, visible: null });
  expect(rows.roots.map((row) => cores?.of(row))).toEqual(["communication"]);
  expect(rows.roots.map(boundOf)).toEqual(["communication"]);
});

it("a bound that is known of less than half of the kernel time is none of the whole", () => {
  const few = { ...nodes(), memory_bound_ns: nodes().kernel_time_ns.map((time) => time * 0.49) };
  const part = new Rows(buildTree(few, ""), { sort: "", fold: true, visible: null });
  expect(part.roots.map(boundOf)).toEqual([""]);
});

it("a sentence names all parts of the kernel time where one bound does not take nearly all of it", () => {
  const wordsOf = (compute: number, inWords = boundInWords): string[] => {
    const times = nodes().kernel_time_ns;
    const parts = {
      compute_bound_ns: times.map((time) => time * compute),
      memory_bound_ns: times.map((time) => time / 2),
    };
    return new Rows(buildTree({ ...nodes(), ...parts }, ""), { sort: "", fold: true, visible: null }).roots.map(
      inWords,
    );
  };
  expect(wordsOf(0.4)[0]).toBe("50.0 % bound by memory, 40.0 % by compute, 10.0 % not known");
  expect(wordsOf(0.5)[0]).toBe("50.0 % bound by memory, 50.0 % by compute");
  expect(wordsOf(0)[0]).toBe("50.0 % bound by memory, 50.0 % not known");
  expect(wordsOf(0.95)[0]).toBe("bound by compute");
  expect(wordsOf(0.95, mainBoundInWords)[0]).toBe("bound by compute");
  expect(wordsOf(0.7, mainBoundInWords)[0]).toBe("mostly bound by compute");
  expect(wordsOf(0.5, mainBoundInWords)[0], "as much by the other").toBe("");
});

it("text can be read on every step, in both themes", () => {
  for (const theme of ["light", "dark"] as const)
    for (const key of STEP_KEYS) {
      const { fill, text } = stepColours(key, theme);
      expect(contrast(fill, text), `${key} ${theme}`).toBeGreaterThanOrEqual(4.5);
    }
});

it("the steps of a question differ in lightness, so that no colour vision is needed", () => {
  for (const theme of ["light", "dark"] as const) {
    // That those of two classes of time differ for every colour vision is checked where they are defined.
    const ofClasses = new Set(Object.values(COLOURS).map((colours) => colours[theme]));
    for (const { legend } of [
      ...Object.values(colourings("Tensor Core", true, true)),
      withoutKernels("Tensor Core", true),
    ]) {
      const fills: string[] = legend.slice(1).map(([step]) => stepColours(step, theme).fill);
      for (const [i, one] of fills.entries())
        for (const other of fills.slice(i + 1))
          if (!ofClasses.has(one) || !ofClasses.has(other)) expect(contrast(one, other)).toBeGreaterThan(1.5);
    }
  }
});

it("what is mostly on matrix units is told at a glance from what is not", () => {
  for (const theme of ["light", "dark"] as const)
    expect(contrast(stepColours("mid", theme).fill, stepColours("high", theme).fill)).toBeGreaterThan(1.8);
});

it("on a dark page every step is told from the panel", () => {
  for (const { legend } of Object.values(colourings("Tensor Core", true, true)))
    for (const [step] of legend)
      expect(contrast(stepColours(step, "dark").fill, PANEL_BACKGROUND.dark), step).toBeGreaterThan(1.5);
});

it("gains that differ by a seventh of the kernel time have other colours", () => {
  const stepOf = (share: number): Step | undefined => {
    const gain_ns = nodes().kernel_time_ns.map((time) => time * share);
    const [root] = new Rows(buildTree({ ...nodes(), gain_ns }, ""), { sort: "", fold: true, visible: null }).roots;
    return root && colourings("Tensor Core", true, true).gain?.of(root);
  };
  expect([0.1, 0.25, 0.4, 0.55, 0.7].map(stepOf)).toEqual(["gainLeast", "gainLow", "gainMid", "gainHigh", "gainMost"]);
});

it("on a dark page what is well is no brighter than what could be better", () => {
  const brightness = (step: Step): number => contrast(stepColours(step, "dark").fill, PANEL_BACKGROUND.dark);
  expect(brightness("high")).toBeLessThan(brightness("keptOff"));
  expect(brightness("gainLeast")).toBeLessThan(brightness("gainMost"));
});

it("collectives that run on the CPU are communication, and other ops there what they could be", () => {
  const none = nodes().kernel_time_ns.map(() => 0);
  const name = nodes().name.map((each) => (each === "Net" ? "collectives" : each));
  const tree = buildTree({ ...nodes(), name, kernel_time_ns: none, communication_ns: none }, "");
  const host = new Rows(tree, { sort: "", fold: true, visible: null });
  const { of, legend } = withoutKernels("Tensor Core", communicates(tree));
  expect(legend.map(([step]) => step)).toContain("communication");
  expect(host.roots.map(of)).toEqual(["eligible"]);
  expect(host.find("/collectives/")).toSatisfy((row: TreeRow) => of(row) === "communication");
  expect(communicates(buildTree({ ...nodes(), kernel_time_ns: none }, ""))).toBe(false);
});
