/** The sentence the Efficiency view begins with: how much was computed, of what the GPUs could, and what is not known of it. */
import type { DashboardResponse, EfficiencyResponse } from "../api/types";
import { formatCount, formatPart, formatScaled } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { formatDuration } from "../format/time";
import { devicesInUse, type Phrase } from "./headline";
import { withGraphsNs } from "./kernel_time";
import { precisionLabel } from "./precisions";

/** Below it a share reads "<0.1 %", of which "at least" would say nothing. */
const LEAST_SHARE = 0.0005;

type Rates = Pick<
  EfficiencyResponse,
  "mfu_fraction" | "flops_per_second" | "product_flops" | "measured_fraction" | "peaks"
>;

/** Whether shapes are known for a part of the products only, so that the truth is more. */
export const isLowerBound = ({ measured_fraction: measured }: Pick<Rates, "measured_fraction">): boolean =>
  measured !== null && measured < 0.995;

/** Where shapes cover less of the time, what is counted from them says nothing of the whole. */
const LEAST_COVERAGE = 0.5;

/** Whether shapes are known of so little that only that is said. */
export const isMostlyUnknown = ({ measured_fraction: measured }: Pick<Rates, "measured_fraction">): boolean =>
  measured !== null && measured < LEAST_COVERAGE;

/** Whether the sentence can only say that it is not known how much was computed. */
export const isUnknown = (rates: Rates): boolean =>
  isMostlyUnknown(rates) || rates.flops_per_second === null || (rates.product_flops ?? 0) === 0;

/** All kernel time as a part of the time of the iterations on the GPUs in use. */
export const kernelsOfWall = (data: DashboardResponse): number | null =>
  shareOf(withGraphsNs(data), (data.gpu_utilization.wall_ns ?? 0) * devicesInUse(data).length);

/** What was computed while kernels ran. */
export interface WhileKernels {
  /** Of what the GPUs could compute, and a second; null where it is not known. */
  share: number | null;
  rate: number | null;
  /** What they could, a second. */
  able: number | null;
}

/**
 * The second half of the sentence, which the bar of the network repeats. `kernels` is all kernel time as a part of the time of the
 * iterations on the GPUs. Where shapes cover too little, nothing is known.
 */
export function whileKernels(rates: Rates, kernels: number | null): WhileKernels {
  if (isMostlyUnknown(rates) || (rates.product_flops ?? 0) === 0) return { share: null, rate: null, able: null };
  const { mfu_fraction: mfu, flops_per_second: rate } = rates;
  const part = kernels !== null && isPart(kernels) ? kernels : 1;
  const share = mfu === null || mfu > part ? null : mfu / part;
  return {
    share,
    rate: rate === null || (mfu !== null && share === null) ? null : rate / part,
    able: attainable(rates),
  };
}

/** The time that rates are over, of one of `iterations`, and the kernel time of a GPU that those while kernels run are over. */
export function timesOfRates(rates: Rates, gpus: number, kernels: number | null, iterations: number): [string, string] {
  const { product_flops: flops, flops_per_second: rate } = rates;
  if (flops === null || rate === null || rate === 0) return ["", ""];
  const ns = (1e9 * flops) / rate / Math.max(iterations, 1);
  const over = `over ${formatDuration(ns)}${iterations > 1 ? " an iteration" : ""}`;
  return [over, `over ${formatDuration(ns * (kernels ?? 1))} of kernel time${gpus > 1 ? " a GPU" : ""}`];
}

/**
 * "The model used 3.1 % of the 16-bit Tensor Core peak over 20.4 ms an iteration, 8.2 % over 7.71 ms of kernel time." `gpus` are those in use, `kernels` is all kernel time as a part of the time of the iterations on them: the page counts
 * everything else in it, too.
 */
export function efficiencySentence(
  rates: Rates,
  gpus: number,
  unit: string,
  kernels: number | null,
  iterations: number,
): Phrase[] {
  const { measured_fraction: measured } = rates;
  if (isMostlyUnknown(rates) && (rates.product_flops ?? 0) > 0)
    return [
      { text: "How much was computed is not known: shapes cover " },
      { text: formatShare(measured), strong: true },
      { text: " of the time of matrix multiplications, convolutions and attention." },
    ];
  const { mfu_fraction: mfu, flops_per_second: rate } = rates;
  const atLeast = isLowerBound(rates) ? "at least " : "";
  const device = gpus > 1 ? "GPUs" : "GPU";
  const running = whileKernels(rates, kernels);
  const able = attainable(rates);
  const [over, overKernels] = timesOfRates(rates, gpus, kernels, iterations);
  const most = able === null ? null : formatScaled(able, "FLOP/s");
  const peak = peakName(rates, gpus, unit);
  if (mfu !== null && (atLeast === "" || mfu >= LEAST_SHARE))
    return [
      { text: `The model used ${atLeast}` },
      { text: formatShare(mfu), strong: true },
      {
        text:
          (peak === "" ? ` of what the ${device} could compute` : ` of the ${gpus > 1 ? "GPUs' " : ""}${peak} peak`) +
          (over === "" ? "" : ` ${over}`),
      },
      ...(kernels !== null && isPart(kernels) && running.share !== null
        ? inKernels(", ", formatShare(running.share), overKernels)
        : []),
      { text: "." },
    ];
  if (rate === null || (rates.product_flops ?? 0) === 0) return [{ text: "How much was computed is not known." }];
  const unknown =
    rates.peaks.length === 0
      ? `what the ${device} could do is not known.`
      : `for some of it the precision, or whether it ran on ${unit}s, is not known.`;
  return [
    { text: `The model computed ${atLeast}` },
    { text: formatScaled(rate, "FLOP/s"), strong: true },
    { text: ` ${over}` },
    ...(kernels !== null && isPart(kernels) ? inKernels(", ", formatScaled(running.rate, "FLOP/s"), overKernels) : []),
    { text: `; ${most === null ? unknown : `the ${device} could compute ${most}.`}` },
  ];
}

/** "777 GFLOP an iteration, 39.3 of 312 TFLOP/s": what the sentence is made of; empty where nothing was counted. */
export function workInWords(rates: Rates, iterations: number): string {
  const { product_flops: flops, flops_per_second: rate } = rates;
  if (flops === null || flops === 0) return "";
  const able = attainable(rates);
  const counted = `${formatScaled(flops / Math.max(iterations, 1), "FLOP")}${iterations > 1 ? " an iteration" : ""}`;
  if (isMostlyUnknown(rates)) return `${counted} in those whose shapes are known.`;
  return `${counted}${rate === null || able === null ? "" : `, ${formatPart(rate, able, "FLOP/s")}`}.`;
}

/** What the GPUs could compute in the precisions in which the products ran, FLOP/s; null where it is not known. */
const attainable = ({ flops_per_second: rate, mfu_fraction: mfu }: Rates): number | null =>
  rate !== null && mfu !== null && mfu > 0 ? rate / mfu : null;

/** A rate is that of one precision if it differs from its peak by less than this part of it. */
const SAME_RATE = 0.002;

/** In these matrix units compute most. */
const GOALS: ReadonlySet<string> = new Set(["fp16", "bf16"]);

/** `FP32`; what is as fast in both 16-bit types is told once. */
function named(precisions: readonly string[]): string {
  const all = new Set(precisions);
  return [...GOALS].every((one) => all.has(one)) ? "16-bit" : [...all].map(precisionLabel).join(" and ");
}

/** Whose published peak the rates are compared with: `FP32`, `16-bit Tensor Core`; empty for a mix of several. */
function peakName(rates: Rates, gpus: number, unit: string): string {
  const able = attainable(rates);
  if (able === null) return "";
  const of = (unitOf: string): string =>
    named(
      rates.peaks
        .filter(
          (peak) =>
            peak.unit === unitOf &&
            peak.used &&
            Math.abs(able / ((peak.per_second ?? 0) * Math.max(gpus, 1)) - 1) < SAME_RATE,
        )
        .map(({ precision }) => precision),
    );
  const matrix = of("matrix");
  return [matrix === "" ? "" : `${matrix} ${unit}`, of("vector")].filter(Boolean).join(" and ");
}

/** The peak of 16 bits on matrix units, where what was computed is compared with a lower one; null for a mix, and without any. */
function goalOf(rates: Rates, gpus: number, unit: string): { name: string; most: number; share: number } | null {
  const able = attainable(rates);
  if (able === null || peakName(rates, gpus, unit) === "") return null;
  const goals = rates.peaks.filter((peak) => peak.unit === "matrix" && GOALS.has(peak.precision));
  const best = Math.max(...goals.map(({ per_second: rate }) => rate ?? 0), 0);
  const most = best * Math.max(gpus, 1);
  if (most <= able * (1 + SAME_RATE)) return null;
  const fastest = goals.filter(({ per_second: rate }) => rate === best).map(({ precision }) => precision);
  return { name: `${named(fastest)} ${unit}`, most, share: (rates.flops_per_second ?? 0) / most };
}

/**
 * What the share of the sentence leaves open: how little it is of what matrix units could do in 16 bits, or that it is of a mix of peaks.
 */
export function attainableAbout(rates: Rates, gpus: number, unit: string): string {
  const able = attainable(rates);
  if (able === null || isMostlyUnknown(rates)) return "";
  const goal = goalOf(rates, gpus, unit);
  if (goal !== null)
    return `Of the ${goal.name} peak, ${formatScaled(goal.most, "FLOP/s")}, the model used ${isLowerBound(rates) ? "at least " : ""}${formatShare(goal.share)}.`;
  return peakName(rates, gpus, unit) !== ""
    ? ""
    : `${formatScaled(able, "FLOP/s")} is what the published peaks allow for this mix of precisions.`;
}

/** Whether kernels took a part of the time only, so that two shares differ. */
export const isPart = (kernels: number): boolean => kernels > 0 && kernels < 0.995;

const inKernels = (before: string, text: string, over: string): Phrase[] => [
  { text: before },
  { text, strong: true },
  { text: ` ${over}` },
];

/** Which iterations are shown, if the server sends only the first ones; empty if it sends all. */
export const iterationsShown = (listed: number, profiled: number | null): string =>
  profiled !== null && listed < profiled
    ? `The first ${formatCount(listed)} of ${formatCount(profiled)} iterations.`
    : "";
