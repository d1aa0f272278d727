import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import { fetchBaselines } from "../api/client";
import type { BaselinesResponse, LikelyBaseline, OtherFile, ProfileEntry } from "../api/types";
import { Icon } from "../components/icon";
import { useMenu } from "../components/use_menu";
import { formatCount } from "../format/number";
import {
  byJob,
  entranceOf,
  fewRanks,
  isUnreadable,
  matches,
  nearestFirst,
  NONE_UNLISTED,
  runColour,
  runLabel,
  searchProfiles,
  sharesMinute,
  titleOf,
  type RunGroup,
  type Unlisted,
} from "../model/picker";
import { pathOf } from "../model/other_files";
import { Beside, Capture, OptionText, RunName, StateChip } from "./picker_option";
import { OtherFiles, otherFilesTitle, Reports } from "./unlisted_files";
import { useQuery } from "./use_query";
import type { Theme } from "../host/tensorboard";

interface PickerProps {
  profiles: readonly ProfileEntry[];
  /** Why there may be more than these, and which files are none. */
  unlisted?: Unlisted;
  selected: ProfileEntry | null;
  runs: readonly string[];
  /** What the run `.` is called. */
  top: string;
  theme: Theme;
  /** The runs that are, or are above, the ranks of a job. */
  jobs?: readonly { run: string }[];
  /** `view` is that of the job, where it is chosen instead of one of its ranks. */
  onSelect: (profile: ProfileEntry, view?: "gpus") => void;
  /** What is chosen, where that is not the profile of the page: `Baseline`. */
  role?: string;
  /** The profile of whose program those come first that are chosen from: its id. */
  baselineOf?: string;
}

/** Run, rank and capture in one: a button that opens a searchable list, grouped by run. */
export function ProfilePicker(props: PickerProps) {
  const { profiles, unlisted, selected, runs, top, theme, jobs, onSelect, role, baselineOf } = props;
  const { open, setOpen, holder, button, close, onKeyDown } = useMenu();
  // Asked for before the list opens, so that it opens with them.
  const [near, setNear] = useState(false);
  const likely = useLikely(near || open ? baselineOf : undefined, profiles.length);

  if (profiles.length === 0) return null;
  return (
    <div class="picker menu-holder" ref={holder} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={role === undefined ? "picker-button" : "base-button"}
        ref={button}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={
          role === undefined ? undefined : `${role}: ${selected === null ? "none" : titleOf(selected, top, " ")}`
        }
        data-tip={open || selected === null ? undefined : titleOf(selected, top, "\n")}
        onPointerEnter={() => setNear(true)}
        onFocus={() => setNear(true)}
        onClick={() => setOpen(!open)}
      >
        {selected === null ? (
          <span class="capture">{role === undefined ? "Select a profile" : "Compare with…"}</span>
        ) : baselineOf !== undefined ? (
          <>
            <span class="run-dot" style={{ background: runColour(selected.run, runs, theme) }} />
            <Beside
              profile={selected}
              other={profiles.find(({ id }) => id === baselineOf)}
              profiles={profiles}
              top={top}
            />
            <StateChip profile={selected} />
          </>
        ) : (
          <>
            {runLabel(selected.run, top) !== "" && (
              <>
                <span class="run-dot" style={{ background: runColour(selected.run, runs, theme) }} />
                <RunName name={runLabel(selected.run, top)} />
              </>
            )}
            <Capture profile={selected} />
            <StateChip profile={selected} />
          </>
        )}
        <Icon name="down" />
      </button>
      {open && (
        <PickerList
          profiles={profiles}
          selected={selected}
          runs={runs}
          top={top}
          theme={theme}
          {...(unlisted === undefined ? {} : { unlisted })}
          {...(jobs === undefined ? {} : { jobs })}
          {...(role === undefined ? {} : { role })}
          {...(baselineOf === undefined ? {} : { baselineOf })}
          likely={likely}
          onClose={close}
          onSelect={(profile, view) => {
            onSelect(profile, view);
            close();
          }}
        />
      )}
    </div>
  );
}

interface Option {
  profile: ProfileEntry;
  /** The job's page instead of the profile's own. */
  view?: "gpus";
}

const SAME_PROGRAM = "Likely baselines: of the same program";
const SIMILAR_OPS = "Likely baselines: with similar ops";

type Likely = ReadonlyMap<string, LikelyBaseline>;

/** The likely baselines of a profile by their ids; null until they are known. */
function useLikely(profile: string | undefined, count: number): Likely | null {
  const { data, loading } = useQuery<BaselinesResponse>(
    profile === undefined ? null : JSON.stringify(["baselines", profile, count]),
    (signal) => fetchBaselines(profile ?? "", signal),
  );
  return loading && data === null ? null : new Map(data?.baselines.map((one) => [one.profile, one]));
}

const NONE_LIKELY: Likely = new Map();

/** Whether the rows of a group name their run: its own head does not. */
const isAlone = (group: { title?: string; options: readonly Option[] }): boolean =>
  group.title !== undefined || group.options.length === 1;

/** The names of files as a tooltip, as many as can be read there. */
const firstPaths = (files: readonly OtherFile[], most = 20): string =>
  [...files.slice(0, most).map(pathOf), ...(files.length > most ? ["…"] : [])].join("\n");

/** Rows drawn at once; a search finds the others. */
const MOST_SHOWN = 300;

function PickerList(props: PickerProps & { likely: Likely | null; onClose: () => void }) {
  const { profiles, unlisted = NONE_UNLISTED, selected, runs, top, theme, jobs = [], onSelect, onClose, role } = props;
  const likely = props.likely ?? NONE_LIKELY;
  const id = useId();
  const [search, setSearch] = useState("");
  // Nothing can be compared with what cannot be read.
  const beside = profiles.find((profile) => profile.id === props.baselineOf);
  // Another run of a program often lies beside it: that is known before the server has compared the ops.
  const offered =
    role === undefined
      ? profiles
      : nearestFirst(
          profiles.filter((profile) => !isUnreadable(profile)),
          beside,
        );
  const matching = searchProfiles(offered, search);
  const reports = unlisted.reports.filter((file) => matches(pathOf(file), search));
  const others = unlisted.others.filter((file) => matches(`${pathOf(file)} ${file.reason}`, search));
  const isSearched = search.trim() !== "";
  // Those of the same program first, the rest as ever.
  const related = [...likely.keys()].flatMap((each) => matching.filter((profile) => profile.id === each));
  const ofProgram = (same: boolean): ProfileEntry[] =>
    nearestFirst(
      related.filter(({ id: each }) => likely.get(each)?.same_program === same),
      beside,
    );
  const unrelated = matching.filter((profile) => !related.includes(profile));
  // What cannot be read stands at the end, with the reason.
  const sorted = [...unrelated.filter((profile) => !isUnreadable(profile)), ...unrelated.filter(isUnreadable)];
  const whole: RunGroup[] = [
    { run: "", title: SAME_PROGRAM, profiles: ofProgram(true) },
    { run: "", title: SIMILAR_OPS, profiles: ofProgram(false) },
    ...byJob(
      sorted.filter((profile) => !isUnreadable(profile)),
      jobs,
    ),
    ...byJob(sorted.filter(isUnreadable), []),
  ];
  const options: Option[] = [];
  const groups = whole.map((group) => {
    const listed = isSearched ? group.profiles : fewRanks(group, selected);
    const room = Math.max(MOST_SHOWN - options.length, 0);
    const entrance = group.job === true && role === undefined ? entranceOf(group) : undefined;
    const mine: Option[] = entrance === undefined ? [] : [{ profile: entrance, view: "gpus" }];
    mine.push(...listed.slice(0, room).map((profile) => ({ profile })));
    options.push(...mine);
    return { ...group, options: mine, more: group.profiles.length - listed.length };
  });
  const atFirst = Math.max(
    options.findIndex(({ profile, view }) => view === undefined && profile.id === selected?.id),
    0,
  );
  // Null until another is pointed at: the one shown, of a search the first hit.
  const [active, setActive] = useState<number | null>(null);
  // Those of the same program come before the others once they are known.
  useEffect(() => setActive(null), [likely.size]);
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const current = Math.min(active ?? (isSearched ? 0 : atFirst), options.length - 1);
  const optionId = (index: number): string => `${id}-option-${index}`;

  // Before the browser paints, so that what is typed at once after opening lands in the search.
  useLayoutEffect(() => input.current?.focus(), []);
  const scrolled = useRef(false);
  const known = useRef(likely.size);
  useLayoutEffect(() => {
    // What comes first once it is known is seen first, too.
    if (known.current !== likely.size) scrolled.current = false;
    known.current = likely.size;
    const option = list.current?.querySelector(`[id="${id}-option-${current}"]`);
    option?.scrollIntoView({ block: scrolled.current ? "nearest" : "center" });
    if (!scrolled.current && list.current) {
      // Above the first row stands what is yet to come; else a whole row stands below the search.
      const { top } = list.current.getBoundingClientRect();
      const rows = [...list.current.querySelectorAll("[role=option], .picker-group")].map((row) =>
        row.getBoundingClientRect(),
      );
      const first = current === 0 ? undefined : rows.find((row) => row.bottom > top + 1);
      list.current.scrollTop = first === undefined ? 0 : list.current.scrollTop + first.top - top;
    }
    scrolled.current = true;
  }, [current, id, search, likely.size]);

  const onKey = (event: KeyboardEvent): void => {
    const highlighted = options[current];
    if (event.key === "ArrowDown") setActive(Math.min(current + 1, options.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(current - 1, 0));
    else if (event.key === "PageDown") setActive(Math.min(current + 10, options.length - 1));
    else if (event.key === "PageUp") setActive(Math.max(current - 10, 0));
    else if (event.key === "Enter" && highlighted !== undefined) onSelect(highlighted.profile, highlighted.view);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  let index = -1;
  return (
    <div
      class="menu picker-menu"
      role="dialog"
      aria-label={role === undefined ? "Select a profile" : `Select the ${role.toLowerCase()}`}
    >
      <div class="search">
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={options.length > 0 ? optionId(current) : undefined}
          aria-label="Search runs, ranks and captures"
          placeholder="Search runs, ranks, captures, GPUs"
          autocomplete="off"
          spellcheck={false}
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            setActive(null);
            // The first hit stands at the top, whatever the list showed before; without a search the one shown in the middle.
            list.current?.scrollTo(0, 0);
            scrolled.current = event.currentTarget.value.trim() !== "";
          }}
          onKeyDown={onKey}
        />
      </div>
      <div class="picker-scroll" role="group" aria-label="Profiles and files" tabIndex={0} ref={list}>
        {props.likely === null && <p class="muted picker-more">Looking for likely baselines…</p>}
        <div id={`${id}-list`} role="listbox" aria-label="Profiles">
          {groups
            .filter((group) => group.options.length > 0)
            .map((group, at, groups) => (
              <div
                role="group"
                aria-label={group.title ?? (runLabel(group.run, top) || "Profile")}
                key={`${group.run} ${group.profiles[0]?.id ?? ""}`}
              >
                {(group.title ?? groups[at - 1]?.title) !== undefined && (
                  <div class="picker-group" aria-hidden="true">
                    {group.title ?? "Others"}
                  </div>
                )}
                {!isAlone(group) && runLabel(group.run, top) !== "" && (
                  <div class="picker-group" aria-hidden="true">
                    <span class="run-dot" style={{ background: runColour(group.run, runs, theme) }} />
                    <span>{runLabel(group.run, top)}</span>
                  </div>
                )}
                {group.options.map(({ profile, view }) => {
                  index += 1;
                  const mine = index;
                  const isCurrent = view === undefined && profile.id === selected?.id;
                  return (
                    <div
                      key={`${profile.id} ${view ?? ""}`}
                      id={optionId(mine)}
                      role="option"
                      class={`picker-option${mine === current ? " active" : ""}${isAlone(group) ? " alone" : ""}`}
                      aria-selected={isCurrent}
                      onClick={() => onSelect(profile, view)}
                      onPointerMove={() => setActive(mine)}
                    >
                      {view === undefined ? (
                        <OptionText
                          profile={profile}
                          run={isAlone(group) ? runLabel(profile.run, top) : ""}
                          colour={runColour(profile.run, runs, theme)}
                          isCurrent={isCurrent}
                          toTheSecond={sharesMinute(profile, profiles)}
                          shared={group.title === undefined ? null : (likely.get(profile.id)?.shared_fraction ?? null)}
                        />
                      ) : (
                        <>
                          <div class="picker-option-head">
                            <strong>Job</strong>
                          </div>
                          <div class="muted picker-option-details">
                            {formatCount(group.profiles.length)} ranks compared: who costs time, and why
                          </div>
                        </>
                      )}
                    </div>
                  );
                })}
                {group.more > 0 && (
                  <p class="muted picker-more">
                    {formatCount(group.more)} more ranks: search for them, such as “rank 12”.
                  </p>
                )}
              </div>
            ))}
        </div>
        {matching.length === 0 && <p class="nothing">No profile matches.</p>}
        {options.length >= MOST_SHOWN && (
          <p class="muted picker-more">
            {formatCount(options.length)} of {formatCount(matching.length)} are listed; search to find the others.
          </p>
        )}
        {unlisted.why.map((sentence) => (
          <p class="muted picker-more" key={sentence}>
            {sentence}
          </p>
        ))}
        {reports.length > 0 && (
          <div class="muted picker-more">
            <Reports reports={reports} />
          </div>
        )}
        {others.length > 0 && (
          // What is searched for is seen at once.
          <details class="muted picker-more" open={isSearched} key={String(isSearched)}>
            <summary data-tip={firstPaths(others)}>
              {otherFilesTitle(isSearched ? others.length : unlisted.othersCount)}
            </summary>
            <OtherFiles files={others} />
            {!isSearched && unlisted.othersCount > others.length && (
              <p>{formatCount(unlisted.othersCount - others.length)} more are not named.</p>
            )}
          </details>
        )}
      </div>
    </div>
  );
}
