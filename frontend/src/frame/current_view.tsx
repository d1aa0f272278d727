/** The current page, or what is shown until there is one. */
import type { ProfileEntry, DashboardResponse } from "../api/types";
import { lazyView } from "../components/lazy_view";
import { ErrorBox, Loading, Message } from "../components/message";
import { profileIsMissing } from "../model/picker";
import { isOfMemory } from "../model/same_time";
import { BaselineStrip } from "./baseline_strip";
import { PAGES, type Page } from "./pages";
import { OfMemoryAlone } from "./of_memory_alone";
import { DashboardLink, ProblemPage } from "./problem_page";
import { ProfilesContext } from "./profiles";
import { goTo, useUrl } from "./url";
import type { Profiles } from "./use_profiles";
import type { Query } from "./use_query";

const NoProfiles = lazyView("the page without profiles", async () => (await import("./no_profiles")).NoProfiles);
const ImportPage = lazyView("the import", async () => (await import("./import_page")).ImportPage);

interface CurrentViewProps {
  profiles: Profiles;
  selected: ProfileEntry | null;
  data: DashboardResponse | null;
  query: Query<DashboardResponse>;
  page: Page | null;
  /** Whether the address names an aggregation in a way that cannot be one. */
  badAggregation: boolean;
}

export function CurrentView(props: CurrentViewProps) {
  const { profiles, selected, data, query, page } = props;
  const url = useUrl();
  const list = profiles.data;
  if (list === null)
    return profiles.error === null ? (
      <Loading what="the list of profiles" />
    ) : (
      <ErrorBox error={profiles.error} retry={profiles.reload} />
    );
  const { opened } = list;
  if (opened !== null && opened.code !== "" && selected === null)
    return (
      <ProblemPage
        error={{ code: opened.code === "not_found" ? "" : opened.code, message: opened.message, hint: "" }}
        name={opened.name}
        retry={profiles.reload}
      >
        {opened.code === "not_found" && <NotThere name={opened.name} />}
      </ProblemPage>
    );
  if (selected === null && list.profiles.length > 0 && profileIsMissing(list.profiles, url))
    return list.scan.state === "scanning" ? <Searching /> : <MissingProfile run={url.run} capture={url.capture} />;
  if (selected === null)
    return list.scan.state === "scanning" ? <Searching /> : <NoProfiles scan={list.scan} opened={opened} />;
  const unready: ProfileEntry | null =
    selected.state !== "ready"
      ? selected
      : query.error?.code === "not_ready"
        ? { ...selected, state: "not_imported" }
        : null;
  if (unready !== null)
    return (
      <ImportPage profile={unready} profiles={list.profiles} importMode={list.import_mode} onChange={profiles.reload} />
    );
  if (page === null || props.badAggregation) {
    const message =
      page === null
        ? `There is no page "${url.view ?? ""}". There are: ${PAGES.map(({ label }) => label).join(", ")}.`
        : `"${url.aggregation ?? ""}" is not the number of an aggregation.`;
    return (
      <ProblemPage error={{ code: "bad_parameter", message, hint: "" }} name={selected.name}>
        <DashboardLink />
      </ProblemPage>
    );
  }
  // A server that does not answer is told of above what was loaded before.
  const isStale = data !== null && query.error?.code === "unreachable";
  if (query.error !== null && !query.loading && !isStale)
    return (
      <ProblemPage error={query.error} name={selected.name} retry={query.reload}>
        <DashboardLink />
      </ProblemPage>
    );
  if (data === null) return <Loading what="the profile" />;
  return (
    <ProfilesContext.Provider
      value={{
        profiles: list.profiles,
        importMode: list.import_mode,
        reaggregates: list.reaggregate_mode === "on",
        reload: profiles.reload,
      }}
    >
      {url.base !== undefined && page.id !== "compare" && <BaselineStrip />}
      {isOfMemory(selected) && OF_TIMES.has(page.id) ? (
        <OfMemoryAlone />
      ) : (
        <page.Show data={data} reaggregate={list.reaggregate_mode === "on"} />
      )}
    </ProfilesContext.Provider>
  );
}

/** Pages that are about nothing but times. */
const OF_TIMES: ReadonlySet<string> = new Set(["recommendations", "modules", "ops", "efficiency", "iterations"]);

function Searching() {
  return (
    <Message icon="search" title="Looking for profiles">
      <p>The log directory is being searched. Profiles appear here as they are found.</p>
      <div class="progress indeterminate" role="progressbar" aria-label="Looking for profiles">
        <div />
      </div>
    </Message>
  );
}

function NotThere({ name }: { name: string }) {
  return (
    <ul class="steps" aria-label="What to do">
      <li>Check the spelling of {name} and the folder that dlprofviewer was started in.</li>
      <li>Start it again with the right path: dlprofviewer PATH. A folder with profiles works too.</li>
    </ul>
  );
}

/** The page for a link to a profile that is missing; another profile must not be shown in its place unasked. */
function MissingProfile({ run, capture }: { run: string | undefined; capture: string | undefined }) {
  return (
    <Message icon="search" title="The profile of this link is not here">
      <p>
        The address names {capture === undefined ? "a profile" : <strong>{capture}</strong>}
        {run === undefined ? "" : ` of run ${run}`}, which is not in this log directory: it was moved or deleted, or the
        link comes from another server.
      </p>
      <p>Nothing is selected. Choose a profile in the list above, or:</p>
      <button type="button" class="button button-primary" onClick={() => goTo({}, true)}>
        Show the first profile
      </button>
    </Message>
  );
}
