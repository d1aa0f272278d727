/** The page shown in place of a view until its profile is imported. */
import { useEffect, useState } from "preact/hooks";

import { cancelImport, startImport } from "../api/client";
import { type ApiError } from "../api/request";
import type { ProfileEntry } from "../api/types";
import { Properties } from "../components/properties";
import { ErrorBox, Message, Snippet } from "../components/message";
import { Progress } from "../components/progress";
import { ViewLink } from "../components/view_link";
import { formatBytes } from "../format/bytes";
import { UNKNOWN } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration } from "../format/time";
import { chooseProfile, formatLabel, gpuLabel } from "../model/picker";
import { pathOf } from "../model/other_files";
import { holdsNoGpuWork } from "../model/problems";
import { ProblemPage } from "./problem_page";
import { asApiError } from "./use_query";

interface ImportPageProps {
  profile: ProfileEntry;
  /** All that are here, of which another is offered where this one cannot be read. */
  profiles: readonly ProfileEntry[];
  importMode: "auto" | "off";
  /** Called after the server was asked for something, to look at its list again. */
  onChange: () => void;
}

/** Profiles whose import was started by opening them: once, so that a cancelled import stays cancelled. */
const opened = new Set<string>();

/** Whether another attempt may succeed: a source is imported anew, and what the storage failed to give is fetched anew. */
const isRetried = ({ kind, code }: ProfileEntry): boolean => kind === "source" || code === "import_failed";

export function ImportPage({ profile, profiles, importMode, onChange }: ImportPageProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const { id, state } = profile;
  const ask = (action: (id: string) => Promise<unknown>): void => {
    setError(null);
    action(id).then(onChange, (failure: unknown) => setError(asApiError(failure)));
  };

  useEffect(() => {
    if (state !== "not_imported" || importMode !== "auto" || opened.has(id)) return;
    opened.add(id);
    ask(startImport);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each profile and state
  }, [id, state, importMode]);

  const newest = chooseProfile(
    profiles.filter((each) => each.state === "ready"),
    {},
  );
  const failure = error === null ? null : <ErrorBox error={error} />;
  if (state === "importing" || state === "queued")
    return (
      <>
        <UnderWay profile={profile} onCancel={() => ask(cancelImport)} />
        {failure}
      </>
    );
  if (state === "failed")
    return (
      <>
        <ProblemPage
          error={{ code: profile.code, message: profile.message, hint: "" }}
          name={profile.name}
          title={
            profile.kind === "source" && !holdsNoGpuWork(profile.message)
              ? `${profile.name} could not be imported`
              : undefined
          }
          place={`${pathOf(profile)} · ${formatBytes(profile.size_bytes)}`}
          retry={importMode === "auto" && isRetried(profile) ? () => ask(startImport) : undefined}
        >
          {newest !== null && (
            <ViewLink class="button" to={{ profile: newest.id, run: null, capture: null }}>
              Open the newest: {pathOf(newest)}
            </ViewLink>
          )}
        </ProblemPage>
        {failure}
      </>
    );
  if (state === "metadata_only") return <SummaryOnly profile={profile} />;
  return (
    <>
      <NotImported profile={profile} importMode={importMode} onImport={() => ask(startImport)} />
      {failure}
    </>
  );
}

/** The event file came here alone: its headline is all there is. */
function SummaryOnly({ profile }: { profile: ProfileEntry }) {
  const { headline } = profile;
  return (
    <Message title={`Only the summary of ${profile.name} is here`}>
      <p>
        The database and the recording it was made from are not below this log directory. Copy the database beside the
        event file to see all of it.
      </p>
      {headline !== null && (
        <Properties
          rows={[
            ["GPUs", gpuLabel(headline.gpu_names) || UNKNOWN],
            ["Wall clock time", formatDuration(headline.wall_time_ns)],
            ["Average iteration time", formatDuration(headline.average_iteration_ns)],
            ["GPU utilization", formatShare(headline.gpu_utilization_fraction)],
          ]}
        />
      )}
    </Message>
  );
}

function NotImported({
  profile,
  importMode,
  onImport,
}: {
  profile: ProfileEntry;
  importMode: "auto" | "off";
  onImport: () => void;
}) {
  return (
    <Message title={`${profile.name} is not imported yet`}>
      <p>
        {article(formatLabel(profile.format))} recording of {formatBytes(profile.size_bytes)}. It is read once into a
        DLProf database; from then on it opens at once.
      </p>
      {profile.message !== "" && <p class="muted">{profile.message}</p>}
      {importMode === "auto" ? (
        <button type="button" class="button button-primary" onClick={onImport}>
          Import
        </button>
      ) : (
        <>
          <p>
            This server does not import (it was started with --dlprof_import off). On a command line, in the run's
            directory:
          </p>
          <Snippet what="the command that imports this profile" text={`dlprof import "${profile.name}"`} />
        </>
      )}
    </Message>
  );
}

const article = (noun: string): string => `${/^[aeiou]/i.test(noun) ? "An" : "A"} ${noun}`;

function UnderWay({ profile, onCancel }: { profile: ProfileEntry; onCancel: () => void }) {
  const { state, progress } = profile;
  const fraction = progress?.fraction ?? null;
  const queued = state === "queued";
  return (
    <Message title={queued ? `${profile.name} waits to be imported` : `Importing ${profile.name}`}>
      <p>
        {queued ? "Another import is running; this one comes next." : (progress?.stage ?? "Starting")}
        {!queued && progress !== null && ` · ${Math.round(progress.elapsed_s)} s`}
      </p>
      <Progress fraction={fraction} label={`Importing ${profile.name}`} />
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </Message>
  );
}
