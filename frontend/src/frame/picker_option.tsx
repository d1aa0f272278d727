/** What the picker says of a profile: on its button, and in a row of its list. */
import type { ProfileEntry } from "../api/types";
import { CutName } from "../components/cut_name";
import { Icon } from "../components/icon";
import { formatMoment } from "../format/date";
import { formatShare } from "../format/share";
import { besideOther, busyLabel, formatLabel, gpuLabel, isUnreadable, lengthLabel, rankLabel } from "../model/picker";
import { holdsNoGpuWork } from "../model/problems";

const STATE_TEXT: Record<ProfileEntry["state"], string> = {
  ready: "",
  not_imported: "not imported yet",
  queued: "queued",
  importing: "importing",
  failed: "failed",
  metadata_only: "summary only",
};

export function StateChip({ profile }: { profile: ProfileEntry }) {
  if (profile.state === "ready") return null;
  // It is not damaged: its reason says what is in it.
  if (holdsNoGpuWork(profile.message)) return <span class="chip">no GPU work</span>;
  const share = profile.state === "importing" ? profile.progress?.fraction : null;
  return (
    <span class={`chip chip-${profile.state}`}>
      {STATE_TEXT[profile.state]}
      {share !== null && share !== undefined && ` ${formatShare(Math.round(share * 100) / 100).replace(".0", "")}`}
    </span>
  );
}

/** What distinguishes captures of a run: the rank, then the file. */
export function Capture({ profile }: { profile: ProfileEntry }) {
  const rank = rankLabel(profile);
  return (
    <span class="capture">
      {rank !== "" && <span class="capture-rank">{rank}</span>}
      <span class="capture-name cut-within">
        <CutName name={profile.name} />
      </span>
    </span>
  );
}

/** Of a baseline, what tells it from the profile beside it. */
export function Beside({
  profile,
  other,
  profiles,
  top,
}: { profile: ProfileEntry; other: ProfileEntry | undefined } & { profiles: readonly ProfileEntry[]; top: string }) {
  const { run, rank, name } = besideOther(profile, other, profiles, top);
  return (
    <>
      {run !== "" && <RunName name={run} />}
      {rank + name !== "" && (
        <span class="capture">
          {rank !== "" && <span class="capture-rank">{rank}</span>}
          {name !== "" && <span class="capture-name">{name}</span>}
        </span>
      )}
    </>
  );
}

/** The name of a run. Its folders give way before its last part, which tells it from its neighbours. */
export function RunName({ name }: { name: string }) {
  const last = name.lastIndexOf("/") + 1;
  return (
    <span class="picker-run">
      {last > 0 && <span class="picker-folders">{name.slice(0, last)}</span>}
      <span class="picker-last">{name.slice(last)}</span>
    </span>
  );
}

/** What is known of a profile, first what tells it from others: the end is cut where there is no room; `toTheSecond` when. */
function facts(profile: ProfileEntry, toTheSecond = false): string[] {
  const { headline, captured_at: captured, format, state } = profile;
  return [
    busyLabel(profile),
    gpuLabel(headline?.gpu_names ?? []),
    captured === null ? "" : formatMoment(captured, toTheSecond),
    formatLabel(format),
    state === "not_imported" && headline == null ? "opening reads it" : "",
  ].filter(Boolean);
}

/** What profiles are compared by, each in a column of its own. */
function numbers(profile: ProfileEntry, shared: number | null): string[] {
  return [...(shared === null ? [] : [`${formatShare(shared)} in the same ops`]), lengthLabel(profile)];
}

interface OptionTextProps {
  profile: ProfileEntry;
  /** What its run is called, where no head above tells it. */
  run: string;
  colour: string;
  isCurrent: boolean;
  /** Whether its moment is told to the second, as the minute does not tell it from others. */
  toTheSecond: boolean;
  /** Of a likely baseline: how much of the GPU time is in ops that both have. */
  shared: number | null;
}

/** The two lines of a profile: which it is, and what is known of it. */
export function OptionText({ profile, run, colour, isCurrent, toTheSecond, shared }: OptionTextProps) {
  return (
    <>
      <div class="picker-option-head">
        {run !== "" && (
          <>
            <span class="run-dot" style={{ background: colour }} />
            <RunName name={run} />
          </>
        )}
        <Capture profile={profile} />
        <StateChip profile={profile} />
        {isCurrent && <Icon name="check" />}
      </div>
      {isUnreadable(profile) ? (
        <div class="muted picker-option-details picker-reason" data-tip={profile.message}>
          {profile.message}
        </div>
      ) : (
        <div
          class="muted picker-option-details"
          data-tip={
            profile.message || [...facts(profile, true), ...numbers(profile, shared).filter(Boolean)].join(" · ")
          }
        >
          <span class="clip">
            {/* Each apart, as a name may be written from right to left. */}
            {facts(profile, toTheSecond).map((fact, i) => (
              <>
                {i > 0 && " · "}
                <bdi>{fact}</bdi>
              </>
            ))}
          </span>
          {numbers(profile, shared).map((text) => (
            <span class="picker-number" key={text}>
              {text}
            </span>
          ))}
        </div>
      )}
    </>
  );
}
