/** Compare without a baseline: which recordings are worth comparing with, and how the program has changed so far. */
import { useContext } from "preact/hooks";

import { fetchBaselines } from "../../api/client";
import type { BaselinesResponse, ProfileEntry } from "../../api/types";
import { CutName } from "../../components/cut_name";
import { Panel } from "../../components/panel";
import { ViewLink } from "../../components/view_link";
import { formatMoment } from "../../format/date";
import { formatCount, formatCounted, significant } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatDuration } from "../../format/time";
import { ProfilesContext } from "../../frame/profiles";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { signedShare } from "../../model/change";
import { gpuLabel } from "../../model/picker";
import { Series } from "./series";

/** How to choose a baseline, and those that are worth it: most of their GPU time is in the same ops. */
export function NoBaseline() {
  const { profile } = useScope();
  const { profiles } = useContext(ProfilesContext);
  const query = useQuery<BaselinesResponse>(
    profiles.length > 1 ? JSON.stringify(["baselines", profile, profiles.length]) : null,
    (signal) => fetchBaselines(profile, signal),
  );
  const own = profiles.find(({ id }) => id === profile);
  // Programs are recognised by the ops that use a GPU.
  const hasNothing = own?.headline?.gpu_utilization_fraction === null;
  const related = (query.data?.baselines ?? []).flatMap(
    ({ profile: id, shared_fraction: shared, same_program: same }) =>
      profiles.filter((each) => each.id === id).map((entry): Offered => ({ entry, shared, same })),
  );
  const unopened =
    own === undefined || hasNothing
      ? []
      : neighbours(own, profiles, related.some(({ same }) => same) ? 1 : 0).slice(0, MOST_UNOPENED);
  const listed = [
    ["Of the same program", "Likely baselines", related.filter(({ same }) => same)],
    ["With similar ops", "Similar ops", related.filter(({ same }) => !same)],
  ] as const;
  // Recordings of one loop follow each other within a minute.
  const moments = [...(own === undefined ? [] : [{ entry: own }]), ...related].flatMap(
    ({ entry: { captured_at: at } }) => (at === null ? [] : [formatMoment(at)]),
  );
  const toTheSecond = new Set(moments).size < moments.length;
  const others = profiles.length - 1;
  const more = (query.data?.related.length ?? 1) - 1 - related.filter(({ same }) => same).length;
  const compared = query.data?.compared ?? 0;
  // Only those of the same rank are looked at.
  const ofRank = profiles.every(({ rank }) => rank === own?.rank)
    ? ""
    : own?.rank == null
      ? " without a rank"
      : " of this rank";
  return (
    <>
      <header class="headline">
        <h2>Choose a baseline</h2>
        <p class="model-line">
          <span>
            Compare tells what changed from a baseline A to this profile B, where, and whether it is more than noise. A
            should be another recording of the same program: before a change, with other options, or on another GPU.
          </span>
        </p>
      </header>
      <Panel
        title="Other Recordings"
        about="Those of the same program come first: most of the GPU time of both is in ops that both have; where one names no ops, kernels of one name take alike shares of both."
        tools={
          others > 0 && (
            <button
              type="button"
              class={related.length > 0 || query.loading ? "button" : "button button-primary"}
              onClick={chooseBaseline}
            >
              {related.length > 0 || query.loading ? "Choose another" : "Choose a baseline"}
            </button>
          )
        }
      >
        {query.loading && <p class="muted">Looking for recordings of the same program…</p>}
        {related.length === 0 && !query.loading && (compared > 0 || unopened.length === 0) && (
          <p>{hasNothing ? WITHOUT_GPU_WORK : noneRelated(others, compared, ofRank)}</p>
        )}
        {related.length > 0 && own !== undefined && (
          <table class="plain-table baselines">
            <thead>
              <tr>
                <th>Recording</th>
                <th>GPU</th>
                <th class="right">Recorded</th>
                <th class="right">Iterations</th>
                <th class="right">Mean iteration, or recording</th>
                <th>Time in common</th>
              </tr>
            </thead>
            <tbody>
              <BaselineRow entry={own} shared={null} same isOwn toTheSecond={toTheSecond} own={own} />
            </tbody>
            {listed.map(
              ([title, label, rows]) =>
                rows.length > 0 && (
                  <tbody key={label} aria-label={label}>
                    <tr>
                      <th class="muted" colSpan={6}>
                        {title}
                      </th>
                    </tr>
                    {rows.map((each) => (
                      <BaselineRow key={each.entry.id} {...each} {...{ toTheSecond, own }} />
                    ))}
                  </tbody>
                ),
            )}
          </table>
        )}
        {unopened.length > 0 && (
          <details class="note-below">
            <summary>{formatCounted(unopened.length, "file")} not imported yet, perhaps of the same program</summary>
            <ul aria-label="Not imported yet">
              {unopened.map(({ id, run, name }) => (
                <li key={id}>
                  <ViewLink class="link-button" to={{ base: id }}>
                    {[run, name].filter((part) => part !== "" && part !== ".").join("/")}
                  </ViewLink>
                </li>
              ))}
            </ul>
          </details>
        )}
        {more > 0 && (
          <p class="note-below">
            <button type="button" class="link-button" onClick={chooseBaseline}>
              {formatCount(more)} more
            </button>{" "}
            of the same program.
          </p>
        )}
        {profiles.some(({ run, rank }) => run === own?.run && rank !== own.rank) && (
          <p class="note-below">
            <ViewLink class="link-button" to={{ view: "gpus" }}>
              GPUs and Ranks
            </ViewLink>{" "}
            compares the ranks of this recording with each other.
          </p>
        )}
        <p class="muted note-below">
          With four or more marked iterations on both sides, it also tells whether a change is more than noise.
        </p>
      </Panel>
      {related.some(({ same }) => same) && <Series offered={related.filter(({ same }) => same).length > 1} />}
    </>
  );
}

interface Offered {
  entry: ProfileEntry;
  /** Share of this profile's GPU time in ops that both have; null where it is not known. */
  shared: number | null;
  /** Whether these are runs of one program. */
  same: boolean;
}

/**
 * Profiles that nobody opened yet and that may be of the same program: of the same format and rank, with GPU work as far as
 * is known, the nearest first, and with at least so many folders in common.
 */
function neighbours(own: ProfileEntry, profiles: readonly ProfileEntry[], least: number): ProfileEntry[] {
  const folders = own.run.split("/");
  const near = ({ run }: ProfileEntry): number => run.split("/").filter((each, i) => each === folders[i]).length;
  return profiles
    .filter(
      (each) =>
        each.id !== own.id &&
        each.state === "not_imported" &&
        each.rank === own.rank &&
        each.format === own.format &&
        near(each) >= least &&
        (each.headline === null || (each.headline.gpu_utilization_fraction ?? 0) > 0),
    )
    .sort((a, b) => near(b) - near(a));
}

/** Most profiles that are offered though nothing is known of their ops. */
const MOST_UNOPENED = 4;

/** How long the iterations of `entry` take beside those of `own`; empty where those of either are not marked: recordings may be of other work. */
function longerThan(own: ProfileEntry, entry: ProfileEntry): string {
  const [here, there] = [own, entry].map(({ headline }) =>
    (headline?.iterations ?? 0) > 1 ? (headline?.average_iteration_ns ?? 0) : 0,
  );
  if (!here || !there || own === entry) return "";
  const ratio = there / here;
  if (ratio >= 2) return `${significant(ratio)} times as long`;
  return Math.abs(ratio - 1) < LEAST_SHOWN ? "as long" : signedShare(ratio - 1);
}

/** Of a mean: less is not told as a difference. */
const LEAST_SHOWN = 0.005;

interface BaselineRowProps extends Offered {
  own: ProfileEntry;
  isOwn?: boolean;
  toTheSecond: boolean;
}

function BaselineRow({ entry, shared, own, isOwn = false, toTheSecond }: BaselineRowProps) {
  const { id, run, name, headline, captured_at: at } = entry;
  const title = run === "" || run === "." ? name : run;
  return (
    <tr>
      <th scope="row">
        {isOwn ? (
          <>
            <strong>{title}</strong> <span class="muted nowrap">this profile, B</span>
          </>
        ) : (
          <ViewLink class="link-button" to={{ base: id }}>
            {title}
          </ViewLink>
        )}
        {title !== name && (
          <div class="muted cut-within" data-tip={name}>
            <CutName name={name} />
          </div>
        )}
      </th>
      <td>{gpuLabel(headline?.gpu_names ?? []) || "–"}</td>
      <td class="right number">{at === null ? "–" : formatMoment(at, toTheSecond)}</td>
      {/* One may be all of the recording, which marks none. */}
      <td class="right number">{(headline?.iterations ?? 0) > 1 ? formatCount(headline?.iterations) : "–"}</td>
      <td class="right number">
        {headline?.average_iteration_ns == null ? "–" : formatDuration(headline.average_iteration_ns)}
        <div class="muted">{longerThan(own, entry)}</div>
      </td>
      {shared === null ? (
        <td class="muted">{isOwn ? "" : "unknown"}</td>
      ) : (
        <td class="number bar-cell" style={{ "--bar": shared }}>
          {formatShare(shared)}
        </td>
      )}
    </tr>
  );
}

/** Opens the list behind “vs”. */
const chooseBaseline = (): void => document.querySelector<HTMLElement>(".versus .base-button")?.click();

const RECORD = "Record the program once more, and put the recording below the log directory";

const WITHOUT_GPU_WORK =
  "This recording holds no GPU work, by which other recordings of its program would be recognised: choose one in the list behind “vs” above.";

/** Why no baseline is proposed, and what to do. */
function noneRelated(others: number, compared: number, ofRank: string): string {
  if (others === 0) return `There is no other profile here yet. ${RECORD}.`;
  const choose = "choose one in the list behind “vs” above";
  if (compared === 0) return `No other profile here is${ofRank || " imported"}: ${choose}.`;
  const none =
    compared === 1
      ? `The only other imported profile${ofRank} seems to be of another program: it spends most of its GPU time in other ops`
      : `All ${formatCount(compared)} other imported profiles${ofRank} seem to be of other programs: they spend most of their GPU time in other ops`;
  return `${none}. ${RECORD}, or ${choose}.`;
}
