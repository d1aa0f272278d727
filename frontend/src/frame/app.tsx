/** The frame: which profile, which view, and what is shown until they are loaded. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";

import { fetchDashboard } from "../api/client";
import type { DashboardResponse, ProfileEntry } from "../api/types";
import { DetailsPane } from "../components/details_pane";
import { lazyView } from "../components/lazy_view";
import { TooltipLayer } from "../components/tooltip";
import { connectToHost, nameFrame, namePage, type HostMessages } from "../host/tensorboard";
import { hasGpuWork } from "../model/headline";
import { allRuns, chooseProfile, NONE_UNLISTED, titleOf, topLabel, unlisted } from "../model/picker";
import { forOtherProfile, wholeNumber, withValues } from "../model/url_state";
import { useConnection } from "./connection";
import { CurrentView } from "./current_view";
import { Header } from "./header";
import { JobBanners } from "./job_banners";
import { JobsContext, useJobs } from "./jobs";
import { LostBanner } from "./lost_banner";
import { ScopeContext, type Scope } from "./scope";
import { ThemeContext, useTheme } from "./theme";
import { currentUrl, followUrl, goTo, navigate, useUrl } from "./url";
import { useProfiles } from "./use_profiles";
import { useQuery } from "./use_query";
import { pageOf } from "./pages";

const Help = lazyView("the help", async () => (await import("./help")).Help);
const KernelDetails = lazyView("the kernel details", async () => (await import("./kernel_details")).KernelDetails);

const NAME = "GPU Summary";

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
function selectProfile(profile: ProfileEntry, view?: "gpus"): void {
  const names = { profile: profile.id, run: profile.run, capture: profile.name, ...(view && { view }) };
  goTo(withValues(forOtherProfile(currentUrl()), names), true);
}

/** The Dashboard's numbers; while another profile loads, the old one's must not stand under the new one's name. */
function useDashboard(profile: string | null, aggregation: number | null, domain: string | null, round: number) {
  const query = useQuery<DashboardResponse>(
    profile === null ? null : JSON.stringify([profile, aggregation, domain, round]),
    (signal) => fetchDashboard({ profile: profile ?? "", aggregation, domain }, signal),
  );
  return { query, data: query.data?.profile.id === profile ? query.data : null };
}

const LOOK_AGAIN_MS = 1000;

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

  useLayoutEffect(followUrl, []);
  useEffect(() => nameFrame(NAME), []);

  const list = profiles.data?.profiles ?? [];
  const top = topLabel(profiles.data?.opened);
  const selected = chooseProfile(list, url, profiles.data?.opened?.profile);
  const aggregation = wholeNumber(url.aggregation);
  const badAggregation = url.aggregation !== undefined && aggregation === null;
  const ready = selected?.state === "ready" && !badAggregation ? selected.id : null;
  const { query, data } = useDashboard(ready, aggregation, url.domain ?? null, round);
  const jobs = useJobs(ready, refresh);
  const connection = useConnection(() => {
    refresh();
    jobs.reload();
  });

  // The list is out of date: the file of a profile in it is gone.
  useEffect(() => {
    if (query.error?.code === "not_found") reload();
  }, [query.error, reload]);

  // It did not know that this version imports the profile anew, which is under way then.
  useEffect(() => {
    if (query.error?.code !== "not_ready") return undefined;
    const timer = setTimeout(refresh, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [query.error, refresh]);

  // What was chosen for the user belongs in the URL too: a link copied now has to open this picture.
  useEffect(() => {
    if (selected !== null && url.profile !== selected.id)
      navigate({ profile: selected.id, run: selected.run, capture: selected.name });
  }, [selected, url.profile]);

  const perfetto = profiles.data?.perfetto ?? null;
  const shown =
    data === null
      ? null
      : JSON.stringify([
          data.aggregation,
          data.domain,
          data.matrix_unit,
          hasGpuWork(data),
          data.performance.profiled_iterations,
          data.gpu_utilization.fraction,
          url.per,
        ]);
  const scope = useMemo(
    (): Scope | null =>
      data === null
        ? null
        : {
            profile: data.profile.id,
            aggregation: data.aggregation,
            domain: data.domain,
            round,
            matrixUnit: data.matrix_unit,
            framework: data.framework,
            onGpu: hasGpuWork(data),
            iterations: data.performance.profiled_iterations ?? 1,
            ...(url.per === "aggregation"
              ? { per: null, summed: data.performance.profiled_iterations ?? 1 }
              : { per: "iteration" as const, summed: 1 }),
            busy: data.gpu_utilization.fraction,
            perfetto,
            title: titleOf(data.profile, top, " · "),
          },
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `shown` says when anything of it has changed
    [ready, shown, round, top, perfetto],
  );

  const page = pageOf(url.view);
  const label = page?.label ?? "";
  const what = selected === null ? "" : titleOf(selected, top, " · ");
  useEffect(() => namePage([label, what, NAME]), [label, what]);
  return (
    <ThemeContext.Provider value={theme}>
      <JobsContext.Provider value={jobs}>
        <ScopeContext.Provider value={scope}>
          <div class="frame">
            <Header
              profiles={list}
              unlisted={profiles.data === null ? NONE_UNLISTED : unlisted(profiles.data.scan, list)}
              selected={selected}
              runs={allRuns(hostRuns, list)}
              top={top}
              theme={theme}
              page={page}
              data={data}
              reaggregate={profiles.data?.reaggregate_mode === "on"}
              busy={profiles.loading || query.loading}
              jobs={profiles.data?.scan.jobs ?? []}
              onSelect={selectProfile}
              onRefresh={refresh}
            />
            <div class="frame-body">
              <main class="frame-main" tabIndex={-1} key={selected?.id ?? ""}>
                <h1 class="visually-hidden">{label === "" ? NAME : label}</h1>
                <LostBanner connection={connection} />
                {ready !== null && (
                  <JobBanners
                    profile={ready}
                    aggregations={data?.aggregations ?? []}
                    fresh={!query.loading}
                    shown={data?.aggregation ?? null}
                  />
                )}
                <CurrentView
                  profiles={profiles}
                  selected={selected}
                  data={data}
                  query={query}
                  page={page}
                  badAggregation={badAggregation}
                />
              </main>
              <Details data={data} version={profiles.data?.version ?? ""} />
            </div>
            <TooltipLayer />
          </div>
        </ScopeContext.Provider>
      </JobsContext.Provider>
    </ThemeContext.Provider>
  );
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
