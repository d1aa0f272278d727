/** The main numbers of both sides beside each other, and how they changed. */
import type { CompareMeasure, CompareResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { UNKNOWN } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import { navigate, useUrl } from "../../frame/url";
import {
  boundsOf,
  changeOfMeasure,
  colourOfChange,
  isInTotal,
  measureKinds,
  type MeasureKind,
} from "../../model/measures";

interface Row extends Pick<CompareMeasure, "a" | "b" | "is_least" | "interval"> {
  kind: MeasureKind;
  label: string;
}

const ABOUT = {
  iteration: "Times are of one iteration: the mean of those that are compared, kernel time also over the GPUs in use.",
  call: "Kernel time is that of one run of the program, as the number of calls tells it, and of one GPU.",
  capture: "Of the whole recordings; kernel time and idle time are those of one GPU, the mean of those in use.",
} as const;

/** With more rows, those that repeat in other words what the others tell stand there on demand. */
const MOST_ROWS = 6;
const FURTHER: ReadonlySet<string> = new Set(["kernels", "gpu_utilization", "tokens_per_s"]);

/** Of the mean and the median, only the one that the headline tells, which is first. */
const isDecisive = ({ kind }: Row, at: number, all: readonly Row[]): boolean =>
  !FURTHER.has(kind.key) && all.findIndex((each) => each.kind.key === kind.key) === at;

export function KeyNumbers({ comparison }: { comparison: CompareResponse }) {
  const { same_program: changes } = comparison;
  const all = changes ? rowsOf(comparison) : ownRows(comparison);
  const isAll = useUrl()["compare.numbers"] === "all";
  const rows = isAll || !changes || all.length <= MOST_ROWS ? all : all.filter(isDecisive);
  const bounded = changes && rows.some(({ interval }) => interval !== null);
  return (
    <Panel
      title={changes ? "Key Numbers" : "Side by Side"}
      about={
        changes
          ? `${ABOUT[comparison.per]}${bounded ? " The bounds are those of the median ratio of all pairs of an iteration of B and one of A, or of recordings where there are several." : ""}`
          : "Each number is of one side alone. Changes between different programs tell nothing, so none is shown."
      }
    >
      <table class={`plain-table key-numbers ${changes ? "with-changes" : ""}`}>
        <thead>
          <tr>
            <th />
            <th class="right">A</th>
            <th class="right">B</th>
            {changes && (
              <th class="of-both" colSpan={2}>
                Change
              </th>
            )}
            {bounded && <th class="right interval">95 % interval</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <MeasureRow key={row.label} row={row} changes={changes} bounded={bounded} />
          ))}
        </tbody>
      </table>
      {changes && all.length > MOST_ROWS && (
        <p class="note-below">
          <button
            type="button"
            class="link-button"
            aria-expanded={isAll}
            onClick={() => navigate({ "compare.numbers": isAll ? null : "all" })}
          >
            {isAll ? "Show fewer" : `Show all ${all.length}`}
          </button>
        </p>
      )}
    </Panel>
  );
}

interface MeasureRowProps {
  row: Row;
  changes: boolean;
  bounded: boolean;
}

function MeasureRow({ row, changes, bounded }: MeasureRowProps) {
  const { kind, a, b } = row;
  const change = changeOfMeasure(kind, a, b);
  const colour = colourOfChange(change, row.interval);
  return (
    <tr>
      <th scope="row">{row.label}</th>
      {[a, b].map((value, side) => (
        <td key={side} class={value === null ? "right unknown" : "right number"}>
          {value === null ? UNKNOWN : `${row.is_least && value > 0 ? "≥ " : ""}${kind.format(value)}`}
        </td>
      ))}
      {changes && (
        <>
          <td class={`right number ${colour}`}>{change.size}</td>
          <td class={`right number ${colour}`}>{change.share}</td>
        </>
      )}
      {bounded && <td class="right number muted interval">{boundsOf(row)}</td>}
    </tr>
  );
}

/** What is known of both sides. Of the mean and the median of iterations, the one that the headline tells is first. */
function rowsOf(comparison: CompareResponse): Row[] {
  const { measures, matrix_unit: unit, per, of_medians: ofMedians, inputs_differ: neutral, a, b } = comparison;
  const rows = measureKinds(unit).flatMap((each): Row[] => {
    const kind = neutral ? { ...each, isCost: false } : each;
    const measure = measures[kind.key];
    if (measure === undefined || (measure.a === null && measure.b === null)) return [];
    // Recordings of other amounts of work: less of it is not better.
    if (isInTotal(kind, per)) {
      if (!measure.a && !measure.b) return [];
      return [{ ...measure, kind: { ...kind, isCost: false }, label: `${kind.label}, in total` }];
    }
    // Bounds are of a ratio, and shares change in points.
    const interval = kind.format === formatShare ? null : measure.interval;
    const row = { ...measure, interval, kind, label: kind.label };
    if (kind.key !== "iteration_time" || measure.a_median === null || Math.max(a.iterations, b.iterations) < 2)
      return [row];
    // The bounds are those of the change that the headline tells, and stand beside its times.
    const mean = { ...row, label: `${kind.label}, mean` };
    const ofMedian = { ...row, label: `${kind.label}, median`, a: measure.a_median, b: measure.b_median };
    return ofMedians ? [ofMedian, { ...mean, interval: null }] : [mean, { ...ofMedian, interval: null }];
  });
  if (per === "iteration" || a.recording_ns === null || b.recording_ns === null) return rows;
  const recording = timeRow("Recording", a.recording_ns, b.recording_ns);
  // What the page is about is first; how long work took is read beside how busy the GPU was.
  const before = per === "capture" ? 0 : rows.findIndex(({ kind }) => kind.key === "gpu_utilization");
  return before < 0 ? [...rows, recording] : [...rows.slice(0, before), recording, ...rows.slice(before)];
}

/** Of a time that is neither better nor worse where it is less. */
const timeRow = (label: string, a: number | null, b: number | null): Row => ({
  kind: { key: "", label: "", format: formatDuration, isCost: false },
  label,
  a,
  b,
  is_least: false,
  interval: null,
});

/** What each side is by itself, whatever the other does. */
function ownRows({ measures, matrix_unit: unit, a, b }: CompareResponse): Row[] {
  const iteration = timeRow("Iteration, mean", a.iteration_ns, b.iteration_ns);
  const others = measureKinds(unit).flatMap((kind): Row[] => {
    const measure = measures[kind.key];
    if (
      measure === undefined ||
      kind.format === formatDuration ||
      kind.key === "kernels" ||
      (measure.a === null && measure.b === null)
    )
      return [];
    const label = kind.key === "tensor_core_share" ? `Kernel time on ${unit}s` : kind.label;
    return [{ ...measure, kind, label, interval: null }];
  });
  return iteration.a === null && iteration.b === null ? others : [iteration, ...others];
}
