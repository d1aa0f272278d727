/** The main numbers of both sides beside each other, and how they changed. */
import type { CompareMeasure, CompareResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { capitalized, UNKNOWN } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import {
  boundsOf,
  changeOfMeasure,
  colourOfChange,
  isInTotal,
  measureKinds,
  NO_CHANGE,
  SUMMED,
  type MeasureKind,
} from "../../model/measures";

/** Beside each other; more are in rows of as many as even out. */
const MOST_COLUMNS = 6;

interface Row extends Pick<CompareMeasure, "a" | "b" | "is_least" | "interval"> {
  kind: MeasureKind;
  label: string;
}

const ABOUT = {
  iteration: `Times are of one iteration: the mean of those that are compared, kernel time also over the GPUs in use. ${SUMMED}`,
  call: "Kernel time is that of one run of the program, as the number of calls tells it, and of one GPU.",
  capture: "Of the whole recordings; kernel time and idle time are those of one GPU, the mean of those in use.",
} as const;

export function KeyNumbers({ comparison }: { comparison: CompareResponse }) {
  const { same_program: changes } = comparison;
  const rows = changes ? rowsOf(comparison) : ownRows(comparison);
  const bounded = changes && rows.some(({ interval }) => interval !== null);
  return (
    <Panel
      title={changes ? "Key Numbers" : "Side by Side"}
      about={
        changes
          ? `${ABOUT[comparison.per]}${bounded ? " The bounds, sure to 95 %, are those of the median ratio of all pairs of an iteration of B and one of A, or of recordings where there are several." : ""}`
          : "Each number is of one side alone. Changes between different programs tell nothing, so none is shown."
      }
    >
      <ul class="key-numbers" style={{ "--columns": Math.ceil(rows.length / Math.ceil(rows.length / MOST_COLUMNS)) }}>
        {rows.map((row) => (
          <Tile key={row.label} row={row} changes={changes} />
        ))}
      </ul>
    </Panel>
  );
}

function Tile({ row, changes }: { row: Row; changes: boolean }) {
  const { kind, a, b, is_least: isLeast } = row;
  const change = changeOfMeasure(kind, a, b);
  const bounds = changes ? boundsOf(row) : "";
  return (
    <li>
      <strong>{row.label}</strong>
      {[a, b].map((value, side) => (
        <span key={side}>
          <span class="muted">{side === 0 ? "A" : "B"}</span>{" "}
          <span class={value === null ? "unknown" : "number"}>
            {value === null ? UNKNOWN : `${isLeast && value > 0 ? "≥ " : ""}${kind.format(value)}`}
          </span>
        </span>
      ))}
      {changes && (
        <span class={`number ${colourOfChange(change, row.interval)}`}>
          {[change.size, change.share].filter(Boolean).join(", ") || (a === null || b === null ? "" : NO_CHANGE)}
        </span>
      )}
      {bounds !== "" && (
        <small class="muted number" data-tip="95 % interval">
          {bounds}
        </small>
      )}
    </li>
  );
}

/** What is known of both sides. */
function rowsOf(comparison: CompareResponse): Row[] {
  const { measures, matrix_unit: unit, per, of_medians: ofMedians, inputs_differ: neutral, a, b } = comparison;
  const rows = measureKinds(unit).flatMap((each): Row[] => {
    const kind = neutral ? { ...each, better: null } : each;
    const measure = measures[kind.key];
    if (measure === undefined || (measure.a === null && measure.b === null)) return [];
    // Recordings of other amounts of work: less of it is not better.
    if (isInTotal(kind, per)) {
      if (!measure.a && !measure.b) return [];
      return [{ ...measure, kind: { ...kind, better: null }, label: `${kind.label.replace(/, .*/, "")}, in total` }];
    }
    // Bounds are of a ratio, and shares change in points.
    const interval = kind.format === formatShare ? null : measure.interval;
    const row = { ...measure, interval, kind, label: capitalized(kind.label) };
    if (kind.key !== "iteration_time" || measure.a_median === null || Math.max(a.iterations, b.iterations) < 2)
      return [row];
    // That which the headline tells; the median stands beside the dots, too.
    return ofMedians
      ? [{ ...row, label: `${kind.label}, median`, a: measure.a_median, b: measure.b_median }]
      : [{ ...row, label: `${kind.label}, mean` }];
  });
  if (per === "iteration" || a.recording_ns === null || b.recording_ns === null) return rows;
  const recording = timeRow("Recording, with idle time", a.recording_ns, b.recording_ns);
  // What the page is about is first; how long work took is read beside how busy the GPU was.
  const before = per === "capture" ? 0 : rows.findIndex(({ kind }) => kind.key === "gpu_utilization");
  return before < 0 ? [...rows, recording] : [...rows.slice(0, before), recording, ...rows.slice(before)];
}

/** Of a time that is neither better nor worse where it is less. */
const timeRow = (label: string, a: number | null, b: number | null): Row => ({
  kind: { key: "", label: "", format: formatDuration, better: null },
  label,
  a,
  b,
  is_least: false,
  interval: null,
});

/** What each side is by itself, whatever the other does. */
function ownRows({ measures, matrix_unit: unit, a, b }: CompareResponse): Row[] {
  const isMean = Math.max(a.iterations, b.iterations) > 1;
  const iteration = timeRow(isMean ? "Iteration, mean" : "Iteration", a.iteration_ns, b.iteration_ns);
  const others = measureKinds(unit).flatMap((kind): Row[] => {
    const measure = measures[kind.key];
    if (
      measure === undefined ||
      kind.format === formatDuration ||
      kind.key === "kernels" ||
      (measure.a === null && measure.b === null)
    )
      return [];
    // It does not follow the kernel time that it is of.
    const label = capitalized(kind.label.replace(/^of it /, ""));
    return [{ ...measure, kind, label, interval: null }];
  });
  return iteration.a === null && iteration.b === null ? others : [iteration, ...others];
}
