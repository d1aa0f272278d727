/** The frame: which profile, which view, and what stands there until they can be shown. */
import { useCallback, useEffect, useState } from "preact/hooks";

import { fetchDashboard } from "../api/client";
import type { DashboardResponse, ProfileEntry } from "../api/types";
import { ErrorBox, Loading, Message } from "../components/message";
import { TooltipLayer } from "../components/tooltip";
import { connectToHost, nameFrame, watchTheme, type HostMessages, type Theme } from "../host/tensorboard";
import { chosenAggregation } from "../model/aggregation";
import { allRuns, chooseProfile } from "../model/picker";
import { forOtherProfile, withValues } from "../model/url_state";
import { Dashboard } from "../panels/dashboard/dashboard";
import { OpsAndKernels } from "../panels/ops_and_kernels/ops_and_kernels";
import { DetailsPane } from "./details_pane";
import { Header } from "./header";
import { Help } from "./help";
import { ImportPage } from "./import_page";
import { KernelDetails } from "./kernel_details";
import { NoProfiles } from "./no_profiles";
import { currentUrl, followUrl, goTo, navigate, useUrl } from "./url";
import { useProfiles, type Profiles } from "./use_profiles";
import { useQuery, type Query } from "./use_query";
import { viewOf, type ViewId } from "./views";

function useTheme(): Theme {
  const [theme, setTheme] = useState<Theme>("light");
  useEffect(() => watchTheme(setTheme), []);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return theme;
}

/** TensorBoard's list of runs, and what to do when it has reloaded its data. */
function useHost(onReload: () => void): string[] | null {
  const [runs, setRuns] = useState<string[] | null>(null);
  useEffect(() => {
    const host: HostMessages = connectToHost();
    const ask = (): void => void host.runs().then(setRuns);
    ask();
    host.onRunsChanged(ask);
    host.onDataReloaded(onReload);
  }, [onReload]);
  return runs;
}

/** The URL's profile by name too, so that a link still means something where ids differ. */
function selectProfile(profile: ProfileEntry): void {
  const names = { profile: profile.id, run: profile.run, capture: profile.name };
  goTo(withValues(forOtherProfile(currentUrl()), names), true);
}

export function App() {
  const theme = useTheme();
  const url = useUrl();
  const [round, setRound] = useState(0);
  const profiles = useProfiles();
  const { reload } = profiles;
  const refresh = useCallback(() => {
    reload();
    setRound((n) => n + 1);
  }, [reload]);
  const hostRuns = useHost(refresh);

  useEffect(followUrl, []);
  useEffect(() => nameFrame("GPU Summary"), []);

  const list = profiles.data?.profiles ?? [];
  const selected = chooseProfile(list, url);
  const aggregation = chosenAggregation(url.aggregation);
  const ready = selected?.state === "ready" ? selected : null;
  const dashboard = useQuery<DashboardResponse>(
    ready === null ? null : JSON.stringify([ready.id, aggregation, round]),
    (signal) => fetchDashboard(ready?.id ?? "", aggregation, signal),
  );
  // While another profile loads, the old one's numbers must not stand under the new one's name.
  const data = dashboard.data?.profile.id === ready?.id ? dashboard.data : null;

  // What was chosen for the user belongs in the URL too: a link copied now has to open this picture.
  useEffect(() => {
    if (selected !== null && url.profile !== selected.id)
      navigate({ profile: selected.id, run: selected.run, capture: selected.name });
  }, [selected, url.profile]);

  const view = viewOf(url.view);
  return (
    <div class="frame">
      <Header
        profiles={list}
        selected={selected}
        runs={allRuns(hostRuns, list)}
        theme={theme}
        view={view}
        aggregations={data?.aggregations ?? []}
        aggregation={data?.aggregation ?? null}
        busy={profiles.loading || dashboard.loading}
        onSelect={selectProfile}
        onRefresh={refresh}
      />
      <div class="frame-body">
        <main class="frame-main" key={selected?.id ?? ""}>
          <Content profiles={profiles} selected={selected} data={data} query={dashboard} view={view} round={round} />
        </main>
        <Details data={data} version={profiles.data?.version ?? ""} />
      </div>
      <TooltipLayer />
    </div>
  );
}

interface ContentProps {
  profiles: Profiles;
  selected: ProfileEntry | null;
  data: DashboardResponse | null;
  query: Query<DashboardResponse>;
  view: ViewId;
  round: number;
}

function Content({ profiles, selected, data, query, view, round }: ContentProps) {
  if (profiles.data === null)
    return profiles.error === null ? (
      <Loading what="the list of profiles" />
    ) : (
      <ErrorBox error={profiles.error} retry={profiles.reload} />
    );
  if (selected === null)
    return profiles.data.scan.state === "scanning" ? (
      <Message icon="search" title="Looking for profiles">
        <p>The log directory is being searched. Profiles appear here as they are found.</p>
        <div class="progress indeterminate" role="progressbar" aria-label="Looking for profiles">
          <div />
        </div>
      </Message>
    ) : (
      <NoProfiles scan={profiles.data.scan} />
    );
  if (selected.state !== "ready")
    return <ImportPage profile={selected} importMode={profiles.data.import_mode} onChange={profiles.reload} />;
  if (query.error !== null && !query.loading)
    return (
      <ErrorBox error={query.error} retry={query.reload}>
        {currentUrl().aggregation !== undefined && (
          <button type="button" class="button" onClick={() => navigate({ aggregation: null })}>
            Show the default
          </button>
        )}
      </ErrorBox>
    );
  if (data === null) return <Loading what="the profile" />;
  switch (view) {
    case "dashboard":
      return <Dashboard data={data} />;
    case "ops":
      return <OpsAndKernels profile={selected.id} aggregation={data.aggregation} round={round} />;
  }
}

function Details({ data, version }: { data: DashboardResponse | null; version: string }) {
  const shown = useUrl().details;
  const close = (): void => navigate({ details: null });
  if (shown === "help")
    return (
      <DetailsPane title="Help" onClose={close}>
        <Help version={version} />
      </DetailsPane>
    );
  if (shown === "kernels" && data !== null)
    return (
      <DetailsPane title="Kernel Details" onClose={close}>
        <KernelDetails data={data} />
      </DetailsPane>
    );
  return null;
}
