/** What the Dashboard's bar and chart of iterations show: a step by its parts, from the diagnosis or, without one, from DLProf's numbers. */
import type { DashboardResponse, Diagnosis, DiagnosedDevice, DiagnosedPart, Resource } from "../api/types";
import { withParts, type IterationRow, type PartsByIteration, type SplitRow } from "./iterations";
import { formatDuration } from "../format/time";
import { missingWork } from "./findings";
import { longestLink } from "./moments";
import { causesOf, mainDevice, shownParts } from "./parts";
import type { Changes } from "./url_state";

/** A part of a bar in the words and colours of the screen. */
export interface BarSegment {
  key: string;
  label: string;
  /** What of the label stands on it where there is no room for all of it, and where there is room for no more. */
  shorter?: string;
  short?: string;
  /** Where no legend names it: as much of its name as fits. */
  named?: (fits: (text: string) => boolean) => string;
  ns: number;
  colour: string;
  /** Of the text on it, where its colour is not one of a class of time. */
  ink?: string;
  /** Whether it is striped: what it is called is not known of all of it. */
  striped?: boolean;
  /** Where it has several colours: each with its share, from the left. */
  parts?: readonly (readonly [colour: string, share: number])[];
  about: string;
  to: Changes | null;
}

export interface StepIteration {
  /** As tables name it. */
  number: number;
  wall_ns: number;
  /** Whether means include it. */
  typical: boolean;
  segments: BarSegment[];
}

export interface Step {
  wall_ns: number;
  segments: BarSegment[];
  iterations: StepIteration[];
  /** Whether each of these stands for several, as their mean. */
  binned: boolean;
}

type Parts = Partial<Record<DiagnosedPart, number>>;

/** DLProf's classes as parts: what it cannot tell apart stands for the most likely. */
const PART_OF: Readonly<Record<Resource, DiagnosedPart>> = {
  tensor_core: "compute_tensor",
  other_kernel: "compute_other",
  unknown_kernel: "compute_unknown",
  memory: "copy",
  data_loader: "data_loader",
  io: "io",
  cpu: "host_op",
  other: "unrecorded",
};

function partsOf(resources: readonly (readonly [Resource, number | null | undefined])[]): Parts {
  return Object.fromEntries(resources.map(([resource, ns]) => [PART_OF[resource], ns ?? 0]));
}

/** Parts by their keys, which are those of the diagnosis or DLProf's classes. */
export const partsNamed = (parts: readonly (readonly [key: string, ns: number])[]): Parts =>
  Object.fromEntries(parts.map(([key, ns]) => [(PART_OF as Record<string, string>)[key] ?? key, ns]));

/** What is too short to be seen in a bar, together. */
export const REST = { key: "rest", label: "Rest", colour: "var(--c-outside)" };

/** The segments of a bar; parts of less than a hundredth of it are one, whose explanation names them, but none that is `large` elsewhere. */
export function segmentsOf(parts: Parts, wall: number, unit: string, large?: ReadonlySet<DiagnosedPart>): BarSegment[] {
  const { shown, rest } = shownParts(parts, wall, unit, large);
  const segments = shown.map(({ kind, ns }) => ({ ...kind, ns }));
  const ns = rest.reduce((sum, share) => sum + share.ns, 0);
  if (ns === 0) return segments;
  return [
    ...segments,
    {
      ...REST,
      ns,
      about: rest.map(({ kind, ns: time }) => `${kind.label} ${formatDuration(time)}`).join(", "),
      to: null,
    },
  ];
}

/** Bars that are compared: what any of them shows, all of them show. */
export function comparedSegments(
  bars: readonly { readonly parts: Parts; readonly wall_ns: number }[],
  unit: string,
): BarSegment[][] {
  const large = new Set(
    bars.flatMap(({ parts, wall_ns: wall }) => shownParts(parts, wall, unit).shown.map(({ kind }) => kind.key)),
  );
  return bars.map(({ parts, wall_ns: wall }) => segmentsOf(parts, wall, unit, large));
}

/** The longest moment that a finding about a part names. */
const momentOfPart = ({ findings }: Diagnosis, part: string): Changes | null =>
  longestLink(findings.filter((finding) => finding.part === part).flatMap(({ evidence }) => evidence));

/** How much of a GPU's queued time GPU work is missing from, as the sentence says, 0 to 1; 0 where that is not most of it. */
export function missingOfQueued(diagnosis: Diagnosis, { queued, parts }: DiagnosedDevice): number {
  const missing = queued.graph + queued.unexplained;
  return missingWork(diagnosis) === null || 2 * missing <= parts.queued ? 0 : missing / parts.queued;
}

/** The segments of a bar with such a time, which they leave out, in front of the rest. */
export function withMissing(known: readonly BarSegment[], missing: number, wall: number, unit: string): BarSegment[] {
  const lacking = segmentsOf({ queued: missing }, wall, unit, new Set(["queued"])).map((segment) => ({
    ...segment,
    key: "missing",
    label: "Queued, GPU work missing",
    short: "Queued",
    striped: true,
    about: `${formatDuration(missing)} in which work had been launched and nothing is recorded as running: not known to be idle.`,
  }));
  const isRest = ({ key }: BarSegment): boolean => key === REST.key;
  return [...known.filter((each) => !isRest(each)), ...lacking, ...known.filter(isRest)];
}

/** A GPU's mean; what the sentence says that GPU work is missing from, where it is most of queued time, is told apart from it. */
export function segmentsOfDevice(diagnosis: Diagnosis, device: DiagnosedDevice, unit: string): BarSegment[] {
  const { wall_ns: wall } = diagnosis.mean;
  const { parts } = device;
  const missing = Math.round(missingOfQueued(diagnosis, device) * parts.queued);
  if (missing === 0) return segmentsOf(parts, wall, unit);
  return withMissing(segmentsOf({ ...parts, queued: parts.queued - missing }, wall, unit), missing, wall, unit);
}

/** By the diagnosis: of the GPU that computes least. Null where no GPU did any work. */
export function stepOf(diagnosis: Diagnosis, data: DashboardResponse): Step | null {
  const main = mainDevice(diagnosis);
  if (main === null) return null;
  const [id, device] = main;
  const unit = data.matrix_unit;
  const number = numberOf(diagnosis, data);
  const { selected } = diagnosis.mean;
  const segments = comparedSegments(
    diagnosis.iterations.map((each) => ({ parts: each.devices[id]?.parts ?? {}, wall_ns: each.wall_ns })),
    unit,
  );
  return {
    wall_ns: diagnosis.mean.wall_ns,
    segments: segmentsOfDevice(diagnosis, device, unit).map((segment) => ({
      ...segment,
      about: [segment.about, ...causesOf(device, segment.key)].join("\n"),
      to: momentOfPart(diagnosis, segment.key) ?? segment.to,
    })),
    // Of very many, the diagnosis tells none.
    ...(diagnosis.iterations.length === 0
      ? iterationsWithout(data)
      : {
          binned: false,
          iterations: diagnosis.iterations.map((each, i) => ({
            number: number(each.index),
            wall_ns: each.wall_ns,
            // The user may have chosen others than the typical ones.
            typical: selected.length === 0 ? each.typical : selected.includes(each.index),
            segments: segments[i] ?? [],
          })),
        }),
  };
}

/** How tables name an iteration of the diagnosis, which counts them from 0. */
function numberOf(diagnosis: Diagnosis, data: DashboardResponse): (index: number) => number {
  const numbers = data.iterations.binned ? [] : data.iterations.rows.map(({ iteration }) => iteration);
  return (index) => (numbers.length === diagnosis.iterations.length ? (numbers[index] ?? index) : index);
}

/** The iterations that means are of, as tables name them; null where tables show no single ones. */
export function typicalNumbers(diagnosis: Diagnosis, data: DashboardResponse): number[] | null {
  const number = numberOf(diagnosis, data);
  return data.iterations.binned
    ? null
    : diagnosis.iterations.flatMap(({ index, typical }) => (typical ? [number(index)] : []));
}

/** Whether an iteration is one of the warm-up, with which a recording begins. */
export const isWarmUp = (iteration: number, diagnosis: Diagnosis, data: DashboardResponse): boolean =>
  diagnosis.typical.why.includes("warm_up") && iteration < numberOf(diagnosis, data)(diagnosis.typical.start);

/** How long CUDA graphs that were recorded as a whole run in an iteration, on the GPU that computes least; 0 where it is not known. */
export function graphTimeOf(diagnosis: Diagnosis, data: DashboardResponse, iteration: number): number {
  const main = mainDevice(diagnosis);
  const number = numberOf(diagnosis, data);
  const own = diagnosis.iterations.find(({ index }) => number(index) === iteration);
  return main === null ? 0 : (own?.devices[main[0]]?.of_which_graph_ns ?? 0);
}

/** The parts of each iteration on the GPU that computes least; null where none did any work. */
export function partsByIteration(diagnosis: Diagnosis, data: DashboardResponse): PartsByIteration | null {
  const main = mainDevice(diagnosis);
  if (main === null) return null;
  const number = numberOf(diagnosis, data);
  return new Map(diagnosis.iterations.map((each) => [number(each.index), each.devices[main[0]]?.parts ?? {}]));
}

/**
 * The bars split like that of the Dashboard: by the parts of the diagnosis, null where these do not tell all of them; without any
 * by DLProf's classes under the names of parts, as there.
 */
export function splitRows<Row extends IterationRow>(
  rows: readonly Row[],
  diagnosis: Diagnosis | null,
  data: DashboardResponse,
): SplitRow<Row>[] | null {
  const parts = diagnosis === null ? null : partsByIteration(diagnosis, data);
  if (parts !== null) return withParts(rows, parts);
  return rows.map((row) => ({
    ...row,
    parts:
      row.parts === null
        ? null
        : Object.fromEntries(Object.entries(row.parts).map(([key, ns]) => [PART_OF[key as Resource], ns])),
  }));
}

/** By DLProf's resource usage, for databases that cannot be diagnosed. */
export function stepWithout(data: DashboardResponse): Step | null {
  const { average_iteration_ns: mean, profiled_iterations: count, wall_clock_ns: wall } = data.performance;
  const step = mean ?? wall;
  if (step === null) return null;
  const unit = data.matrix_unit;
  const all = partsOf(
    data.resource_breakdown.map(({ resource, time_ns: ns }) => [resource, (ns ?? 0) / Math.max(count ?? 1, 1)]),
  );
  return {
    wall_ns: step,
    segments: segmentsOf(all, step, unit),
    ...iterationsWithout(data),
  };
}

function iterationsWithout(data: DashboardResponse): Pick<Step, "iterations" | "binned"> {
  const bars = data.iterations.rows.map((row) => {
    const count = Math.max(row.count, 1);
    const classes = Object.entries(row.parts ?? {}) as [Resource, number | null][];
    return {
      number: row.iteration,
      wall_ns: row.duration_ns / count,
      typical: row.profiled,
      parts: partsOf(classes.map(([resource, ns]) => [resource, (ns ?? 0) / count])),
    };
  });
  const segments = comparedSegments(bars, data.matrix_unit);
  return {
    binned: data.iterations.binned,
    iterations: bars.map(({ number, wall_ns, typical }, i) => ({
      number,
      wall_ns,
      typical,
      segments: segments[i] ?? [],
    })),
  };
}
