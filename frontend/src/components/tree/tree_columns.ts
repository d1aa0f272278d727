/** The columns of the tree: what they say, how wide they are, which of them fit. */
import type { CompareResponse } from "../../api/types";
import type { Measure, SHARES } from "../../model/tree_values";
import { fitting } from "../../model/column_fit";

export interface TreeColumn {
  key: "name" | "share" | "limited" | keyof typeof SHARES | "bound" | "a" | "b" | "change" | "change_share" | Measure;
  label: string;
  about: string;
  /** Where the page is too narrow for all, a higher one is left out first. */
  tier?: number;
}

/** Of what the changes are, where the times beside them may be sums. */
const PER = { iteration: "Change per Iteration", call: "Change per Run", capture: "Change" } as const;

/** Of modules of two profiles. */
export const COMPARED: readonly TreeColumn[] = [
  { key: "name", label: "Module", about: "Modules and ranges, and all that is below them." },
  { key: "a", label: "A", about: "Kernel time of the baseline, without copies, by unit of comparison." },
  { key: "b", label: "B", about: "Kernel time of the candidate, without copies, by unit of comparison." },
  { key: "change", label: "Change", about: "B less A: above 0 is more time." },
  { key: "change_share", label: "Change %", about: "Change as a share of A; unknown where A is 0." },
];

/** What rows have no order by. */
export const isOfBoth = (key: TreeColumn["key"]): boolean =>
  key === "a" || key === "b" || key === "change" || key === "change_share";

/** Of the time of all kernels: of less, nobody asks for the cause. */
const LEAST = 0.01;

/** What is off matrix units though it could be on them, as a share of the kernel time, is `limited`. Without GPU work it is not known which ops use the units, and how long they take on a GPU. */
export const columnsFor = (
  unit: string,
  core: string,
  has: { limited: number; onGpu: boolean; rated: boolean; summed: boolean; change: CompareResponse["per"] | null },
): TreeColumn[] => {
  const { limited, onGpu, rated } = has;
  const always = (column: TreeColumn): TreeColumn[] => [column];
  const withGpu = (column: TreeColumn): TreeColumn[] => (onGpu ? [column] : []);
  return [
    ...always({
      key: "name",
      label: "Module",
      about: "Levels of the model: modules and name scopes, their ops at the end.",
    }),
    onGpu
      ? { key: "gpu_share", label: "Share", about: "GPU time over that of the whole model." }
      : { key: "cpu_share", label: "Share", about: "CPU time over that of the whole model." },
    ...withGpu({
      key: "gpu_time_ns",
      label: "GPU Time",
      about: "Time in which kernels, copies and memsets of the ops were running.",
    }),
    ...(has.change !== null
      ? ([
          {
            key: "change",
            label: has.change === "iteration" && !has.summed ? "Change" : PER[has.change],
            about: "Kernel time less that of the baseline A, of modules and ops that both have, by unit of comparison.",
          },
        ] as const)
      : []),
    ...(rated
      ? ([
          {
            key: "gain_ns",
            label: "Could Gain",
            about:
              "Kernel time less the time that it would take at the GPU's published rates, which no kernel quite reaches; for FP32 and TF32 matrix multiplications, at the 16-bit rates.",
          },
          {
            key: "bound",
            label: "Bound by",
            about: "What limits most of the kernel time, compute or memory; a tooltip tells the share of each.",
          },
        ] as const)
      : []),
    ...withGpu({
      key: "share",
      label: `On ${core}`,
      about: `Time of the kernels that use ${unit}s over the time of all kernels of the ops below, as on Ops and in the picture's colours; – where no op is eligible.`,
    }),
    ...(limited > 0
      ? ([
          {
            key: "limited",
            // What is next to nothing leaves its room to others.
            tier: limited < LEAST ? 3 : 0,
            label: `Why Not on ${core}`,
            about: `Why kernels of eligible ops below are not on ${unit}s: the cause with the most kernel time, and that time.`,
          },
        ] as const)
      : []),
    ...always({ key: "calls", label: "Calls", about: "Calls of the ops below.", tier: 1 }),
    ...always({
      key: "eligible_ops",
      label: `${core} Eligible`,
      about: `Ops below that could use ${unit}s.`,
      tier: onGpu ? 1 : 0,
    }),
    ...withGpu({
      key: "using_ops",
      label: `Using ${core}`,
      about: `Ops below of which at least one kernel uses ${unit}s.`,
      tier: 1,
    }),
    ...always({
      key: "cpu_time_ns",
      label: "CPU Time",
      about: "Time that the calls took on the CPU, also before the first GPU work.",
      tier: onGpu ? 2 : 0,
    }),
    ...always({
      key: "cpu_overhead_ns",
      label: "CPU Overhead",
      about: "CPU time of the calls without the time in CUDA calls.",
      tier: 2,
    }),
    ...withGpu({
      key: "gpu_idle_ns",
      label: "Gaps within Calls",
      about: "GPU Idle, as DLProf calls it: time within the calls' work on the GPU in which none of it was running.",
      tier: 2,
    }),
  ];
};

export const isTime = (key: TreeColumn["key"]): key is Measure => key.endsWith("_ns");

/** In CSS pixels; names take what is left, and need at least this, or all that a very narrow page has beside the time. */
const OWN_WIDTH: Readonly<Record<string, number>> = {
  // Of a tree of six levels less than this tells nothing.
  name: 170,
  share: 80,
  limited: 190,
  gpu_share: 72,
  cpu_share: 72,
  bound: 108,
  // Beside its arrow, with which it is sorted at first; the others for their labels in one line.
  gpu_time_ns: 118,
  gain_ns: 112,
  cpu_overhead_ns: 132,
  eligible_ops: 88,
  using_ops: 80,
  change: 110,
  change_share: 104,
  a: 104,
  b: 104,
};
const TIME_WIDTH = 104;
export function widthOf(key: TreeColumn["key"], available: number): number {
  const width = OWN_WIDTH[key] ?? (isTime(key) ? TIME_WIDTH : 72);
  return key === "name" ? Math.min(width, available - TIME_WIDTH) : width;
}

/** Names take so much before columns of higher tiers get any. */
const WHOLE_NAME = 340;

/** What the tree is read for stays however narrow the page is, and so does what it is sorted by. */
export function fittingColumns(columns: readonly TreeColumn[], sort: string, available: number): TreeColumn[] {
  const fixed = new Set(["name", "gpu_time_ns", sort.replace(/^-/, "")]);
  const shown = fitting(
    columns.map(({ key, tier = 0 }) => {
      const width = widthOf(key, available);
      const whole = key === "name" ? Math.max(width, WHOLE_NAME) : width;
      return { key, least: width, whole, ideal: whole, grows: key === "name", fixed: fixed.has(key), tier };
    }),
    available,
  );
  return columns.filter(({ key }) => shown.has(key));
}

export function nextSort(current: string, key: string): string {
  if (current === `-${key}`) return key;
  if (current === key) return `-${key}`;
  return key === "name" || key === "bound" ? key : `-${key}`;
}
