/** While a baseline is chosen: as many of its main numbers and their changes as have room in a line, above every page. */
import { Fragment } from "preact";
import { useContext } from "preact/hooks";

import type { CompareMeasure } from "../api/types";
import { Icon } from "../components/icon";
import { ViewLink } from "../components/view_link";
import { formatShare } from "../format/share";
import {
  behindWord,
  changeOfMeasure,
  colourOfChange,
  isInTotal,
  isNeutral,
  measureKinds,
  NO_CHANGE,
  SUMMED,
  type MeasureKind,
} from "../model/measures";
import { ProfilesContext } from "./profiles";
import { useUrl } from "./url";
import { useBaseline } from "./use_baseline";

export function BaselineStrip() {
  const { data, error } = useBaseline();
  const { base, view } = useUrl();
  const run = useContext(ProfilesContext).profiles.find(({ id }) => id === base)?.run ?? "";
  if (data === null) return error === null ? null : <p class="baseline-strip muted">{error.message}</p>;
  const { verdict, word } = data;
  return (
    <section class={`baseline-strip ${isNeutral(data) ? "neutral" : ""}`} aria-label="Against the baseline">
      <span class="clip">
        A: <strong>{run === "" || run === "." ? data.a.name : run}</strong> → B
        <span class="own-side">: this profile</span>
      </span>
      <span class="baseline-numbers">
        {data.same_program ? (
          measureKinds(data.matrix_unit)
            .filter(({ key }) => key !== "kernels")
            // What the page is about comes first.
            .sort((one, other) => Number(isLed(view, other)) - Number(isLed(view, one)))
            .map((kind) => (
              <Fragment key={kind.key}>
                {/* It is said of times, not of memory. */}
                {kind.key === "iteration_time" && verdict !== "faster" && verdict !== "slower" && (
                  <strong data-tip={[behindWord(data), data.certainty].filter(Boolean).join(" ")}>
                    {word === "Cannot tell" ? "Cannot tell what changed" : word}:
                  </strong>
                )}
                <Numbers
                  kind={data.inputs_differ || isInTotal(kind, data.per) ? { ...kind, better: null } : kind}
                  measure={data.measures[kind.key]}
                />
              </Fragment>
            ))
        ) : (
          <span class="muted">These seem to be different programs, so changes tell nothing.</span>
        )}
      </span>
      {/* The menu leads there for the keyboard. */}
      <ViewLink to={{ view: "compare" }} class="more-button" tabIndex={-1}>
        Compare <Icon name="right" />
      </ViewLink>
    </section>
  );
}

const isLed = (view: string | undefined, { key }: MeasureKind): boolean => view === "memory" && key === "memory_peak";

interface NumbersProps {
  kind: MeasureKind;
  measure: CompareMeasure | undefined;
}

function Numbers({ kind, measure }: NumbersProps) {
  if (measure?.a == null || measure.b === null) return null;
  const change = changeOfMeasure(kind, measure.a, measure.b);
  const text = change.size || change.share;
  // Bounds are of a ratio, and shares change in points.
  const interval = kind.format === formatShare ? null : measure.interval;
  return (
    <span class="number">
      <span class="muted" data-tip={kind.key === "kernel_time" ? SUMMED : undefined}>
        {kind.label}
      </span>{" "}
      {kind.format(measure.a)} → {kind.format(measure.b)}{" "}
      <span class={text === "" ? "muted" : colourOfChange(change, interval)}>{text || NO_CHANGE}</span>
    </span>
  );
}
