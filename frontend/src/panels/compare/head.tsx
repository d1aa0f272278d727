/** The verdict, which profiles the two sides are, and what to know before reading any number. */
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";

import type { Baseline } from "../../api/client";
import type { CompareResponse, CompareSide } from "../../api/types";
import { Icon } from "../../components/icon";
import { Headline, Sentence } from "../../components/sentence";
import { capitalized, formatCounted } from "../../format/number";
import { ViewLink } from "../../components/view_link";
import { ProfilesContext } from "../../frame/profiles";
import { useScope } from "../../frame/scope";
import { withNames } from "../../model/comparison";
import { behindWord } from "../../model/measures";
import { withoutStart } from "../../model/short_place";
import type { Changes } from "../../model/url_state";
import { runOf as runOfProfile } from "../../model/run_name";
import { BaselineIterations } from "./baseline_iterations";
import { showTable } from "./show_table";

interface HeadProps {
  comparison: CompareResponse;
  baseline: Baseline;
  swap: () => void;
  /** Whether it says what to know before reading any change. */
  withNotes: boolean;
}

export function Head({ comparison: comparison, baseline, swap, withNotes }: HeadProps) {
  const { a, b } = comparison;
  const headline = capitalized(behindWord(comparison));
  const { profile } = useScope();
  const { profiles } = useContext(ProfilesContext);
  // Files of two runs often have the same name.
  const runOf = (id: string): string => runOfProfile(profiles, id);
  const [runA, runB] = [runOf(baseline.base), runOf(profile)];
  const [nameA, nameB] = withoutStart(runA, runB);
  // Of two files of one folder, what tells them apart stands first.
  const [fileA, fileB] = runA === runB ? withoutStart(a.name, b.name) : [a.name, b.name];
  const rankOf = (id: string): number | null => profiles.find((each) => each.id === id)?.rank ?? null;
  // What the headline says already is not said twice.
  const notes = withNotes ? comparison.comparability.filter((sentence) => !headline.includes(sentence)) : [];
  return (
    <>
      <header class="headline">
        <h2>
          <span class={`compare-word word-${comparison.verdict}`}>{comparison.word}</span>{" "}
          <LinkedHeadline text={withNames(headline, nameA, nameB)} named={comparison.named} />
        </h2>
        {comparison.certainty !== "" && (
          <p class="model-line">
            <span>
              <Sentence text={comparison.certainty} />
            </span>
          </p>
        )}
      </header>
      <section class="panel compare-head" aria-label="A and B">
        <div class="compare-sides">
          <Side
            letter="A"
            side={a}
            run={runA}
            names={runA === runB ? [fileA, runA] : [nameA, fileA]}
            rank={rankOf(baseline.base)}
          >
            <BaselineIterations base={baseline.base} shown={a.aggregation}>
              {iterationsOf(a)}
            </BaselineIterations>
          </Side>
          <button type="button" class="icon-button" aria-label="Swap A and B" data-tip="Swap A and B" onClick={swap}>
            <Icon name="swap" />
          </button>
          <Side
            letter="B"
            side={b}
            run={runB}
            names={runA === runB ? [fileB, runB] : [nameB, fileB]}
            rank={rankOf(profile)}
          >
            <span class="clip">{iterationsOf(b)}</span>
          </Side>
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

/** Before a number that only some rows of the table below add up to, and behind it. */
const OF_SOME = /(?<=^|[ ,])\d[\d.,]* \S+(?= of it (?:is )?in | (?:more|less) in (?!total))/;

/** The headline, in which a click on the number of what it names shows the rows that add up to it. */
function LinkedHeadline({ text, named }: { text: string; named: CompareResponse["named"] }) {
  const found = OF_SOME.exec(text);
  if (named === null || found === null) return <Headline text={text} />;
  const [number] = found;
  return (
    <>
      <Headline text={text.slice(0, found.index)} />
      <ViewLink class="link-button" to={showing(named)} tip="Show the rows that add up to it" onFollow={showTable}>
        <Headline text={number} />
      </ViewLink>
      <Headline text={text.slice(found.index + number.length)} />
    </>
  );
}

/** The table of groups with these rows alone. */
const showing = ({ column, value }: NonNullable<CompareResponse["named"]>): Changes => ({
  "compare.tab": null,
  "compare.row": null,
  "cgroups.row": null,
  "cgroups.page": null,
  "cgroups.search": null,
  "cgroups.where.kind": null,
  "cgroups.where.op_type": null,
  "cgroups.where.name": null,
  [`cgroups.where.${column}`]: `=${value}`,
});

interface SideProps {
  letter: string;
  side: CompareSide;
  /** Empty for profiles of the log directory itself. */
  run: string;
  /** What is shown of its run and its file, what tells A and B apart first. */
  names: readonly [name: string, more: string];
  rank: number | null;
  /** Its iterations. */
  children: ComponentChildren;
}

/** Named like those of A that can be chosen. */
function iterationsOf({ first_iteration: first, last_iteration: last, marked, iterations }: CompareSide): string {
  if (!marked) return "whole recording";
  if (first === null || last === null) return formatCounted(iterations, "iteration");
  return first === last ? `iteration ${first}` : `iterations ${first} to ${last}`;
}

function Side({ letter, side, run, names: [name, more], rank, children }: SideProps) {
  const device = side.device ?? "GPU not named";
  return (
    <div class="compare-side">
      <span class="compare-letter" aria-hidden="true">
        {letter}
      </span>
      <div class="compare-side-text">
        <span class="clip" data-tip={[run, side.name].filter(Boolean).join(" · ")}>
          <span class="visually-hidden">{letter}: </span>
          <strong>{name === "" ? more : name}</strong> {rank !== null && `rank ${rank} `}
          {name !== "" && <span class="muted">{more}</span>}
        </span>
        <span class="compare-recorded muted">
          <span class="clip">
            {device}
            {side.devices_in_use > 1 && `, ${side.devices_in_use} GPUs`}
          </span>
          <span aria-hidden="true">·</span>
          {children}
        </span>
      </div>
    </div>
  );
}
