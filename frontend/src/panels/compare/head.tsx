/** The verdict, the two sides as cards, and what to know before reading any number. */
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";

import type { Baseline } from "../../api/client";
import type { CompareResponse, CompareSide } from "../../api/types";
import { Icon } from "../../components/icon";
import { Headline, Sentence } from "../../components/sentence";
import { Duration } from "../../components/value";
import { capitalized, formatCounted } from "../../format/number";
import { ProfilesContext } from "../../frame/profiles";
import { useScope } from "../../frame/scope";
import { arrowOf, directionOf, signedDuration, signedShare } from "../../model/change";
import { withNames } from "../../model/comparison";
import { runOf as runOfProfile } from "../../model/run_name";
import { BaselineIterations } from "./baseline_iterations";

const WORDS = {
  faster: "Faster",
  slower: "Slower",
  no_clear_change: "No clear change",
  cannot_tell: "Cannot tell",
} as const;

/** Verdicts that say which way; of others the colour must not. */
const TOLD: ReadonlySet<string> = new Set(["faster", "slower"]);

interface HeadProps {
  comparison: CompareResponse;
  baseline: Baseline;
  swap: () => void;
}

export function Head({ comparison: comparison, baseline, swap }: HeadProps) {
  const { a, b, change_ns: change } = comparison;
  const headline = withoutWord(comparison.headline);
  const { profile } = useScope();
  const { profiles } = useContext(ProfilesContext);
  // Files of two runs often have the same name.
  const runOf = (id: string): string => runOfProfile(profiles, id);
  // What the headline says already is not said twice.
  const notes = comparison.comparability.filter((sentence) => !headline.includes(sentence));
  return (
    <>
      <header class="headline">
        <h2>
          <span class={`compare-word word-${comparison.verdict}`}>{WORDS[comparison.verdict]}</span>{" "}
          <Headline text={withNames(headline, runOf(baseline.base), runOf(profile))} />
        </h2>
        {comparison.details !== "" && (
          <p class="model-line">
            <span>
              <Sentence text={comparison.details} />
            </span>
          </p>
        )}
      </header>
      <section class="panel compare-head" aria-label="A and B">
        <div class="compare-cards">
          <SideCard letter="A" side={a} run={runOf(baseline.base)} per={comparison.per}>
            <BaselineIterations base={baseline.base} shown={a.aggregation} />
          </SideCard>
          <button type="button" class="icon-button" aria-label="Swap A and B" data-tip="Swap A and B" onClick={swap}>
            <Icon name="swap" />
          </button>
          <SideCard letter="B" side={b} run={runOf(profile)} per={comparison.per} />
          <div class={`compare-change ${TOLD.has(comparison.verdict) ? directionOf(change) : ""}`}>
            <span class="compare-big number">
              {arrowOf(change)} {signedDuration(change)}
            </span>
            <span class="number">{a.value_ns > 0 ? signedShare(change / a.value_ns) : ""}</span>
            {comparison.per === "iteration" && Math.max(a.iterations, b.iterations) > 1 && (
              <span class="muted">on average</span>
            )}
          </div>
        </div>
        {notes.length > 0 && (
          <ul class="compare-notes muted">
            {notes.map((sentence) => (
              <li key={sentence}>
                <Sentence text={sentence} />
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

/** The headline without the word that stands before it. */
const withoutWord = (text: string): string =>
  capitalized(text.replace(/^(?:Cannot tell|No clear change|No change): /, ""));

interface SideCardProps {
  letter: string;
  side: CompareSide;
  /** Empty for profiles of the log directory itself. */
  run: string;
  per: CompareResponse["per"];
  children?: ComponentChildren;
}

function SideCard({ letter, side, run, per, children }: SideCardProps) {
  const { first_iteration: first, last_iteration: last } = side;
  const range = first === null || last === null ? "" : first === last ? `, number ${first}` : `, ${first} to ${last}`;
  return (
    <div class="compare-card">
      <span class="compare-letter" aria-hidden="true">
        {letter}
      </span>
      <div class="compare-card-text">
        <span class="clip" data-tip={[run, side.name].filter(Boolean).join(" · ")}>
          <span class="visually-hidden">{letter}: </span>
          <strong>{run === "" ? side.name : run}</strong> {run !== "" && <span class="muted">{side.name}</span>}
        </span>
        <span class="muted clip">
          {side.device ?? "GPU not named"}
          {side.devices_in_use > 1 && `, ${side.devices_in_use} GPUs`}
        </span>
        <span class="compare-range">
          <span class="muted clip">
            {side.marked ? `${formatCounted(side.iterations, "iteration")}${range}` : "no iterations marked"}
          </span>
          {children}
        </span>
      </div>
      <span class="compare-value">
        <span class="compare-time">
          <Duration ns={side.value_ns} />
        </span>
        <span class="muted">
          {per === "iteration"
            ? side.iterations > 1
              ? "an iteration, mean"
              : "an iteration"
            : per === "call"
              ? "of kernels"
              : "in total"}
        </span>
      </span>
    </div>
  );
}
