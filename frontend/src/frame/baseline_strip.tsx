/** While a baseline is chosen: its main numbers and the change, above every page. */
import { useContext } from "preact/hooks";

import type { CompareMeasure } from "../api/types";
import { ViewLink } from "../components/view_link";
import { formatBytes } from "../format/bytes";
import { significant } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration } from "../format/time";
import { arrowOf, directionOf, signedDuration, signedPoints, signedShare } from "../model/change";
import { ProfilesContext } from "./profiles";
import { useUrl } from "./url";
import { useBaseline } from "./use_baseline";

const MEASURES = [
  ["iteration_time", "Iteration", formatDuration],
  ["kernel_time", "Kernel time", formatDuration],
  ["tensor_core_share", "of it on Tensor Cores", formatShare],
  ["idle_time", "Idle", formatDuration],
  ["gpu_utilization", "GPU utilization", formatShare],
  ["memory_peak", "Peak memory", formatBytes],
  ["samples_per_s", "Samples/s", significant],
  ["tokens_per_s", "Tokens/s", significant],
] as const;

export function BaselineStrip() {
  const { data, error } = useBaseline();
  const { base } = useUrl();
  const run = useContext(ProfilesContext).profiles.find(({ id }) => id === base)?.run ?? "";
  if (data === null) return error === null ? null : <p class="baseline-strip muted">{error.message}</p>;
  return (
    <section class="baseline-strip" aria-label="Against the baseline">
      <span>
        A: <strong>{run === "" || run === "." ? data.a.name : run}</strong> → B: this profile
      </span>
      {MEASURES.map(([name, label, format]) => (
        <Numbers key={name} label={label} measure={data.measures[name]} format={format} />
      ))}
      {/* The menu leads there for the keyboard. */}
      <ViewLink to={{ view: "compare" }} class="link-button" tabIndex={-1}>
        Compare
      </ViewLink>
    </section>
  );
}

interface NumbersProps {
  label: string;
  measure: CompareMeasure | undefined;
  format: (value: number) => string;
}

function Numbers({ label, measure, format }: NumbersProps) {
  if (measure?.a == null || measure.b === null) return null;
  const change = measure.b - measure.a;
  const isTime = format === formatDuration;
  const fraction = measure.a > 0 ? change / measure.a : 0;
  const words = isTime
    ? signedDuration(change)
    : format === formatShare
      ? signedPoints(change)
      : Math.abs(fraction) < 0.001
        ? ""
        : signedShare(fraction);
  return (
    <span class="number">
      <span class="muted">{label}</span> {format(measure.a)} → {format(measure.b)}{" "}
      <span class={isTime ? `change-${directionOf(change)}` : ""}>{words !== "" && `${arrowOf(change)} ${words}`}</span>
    </span>
  );
}
