import { useLayoutEffect, useRef, useState } from "preact/hooks";

import type { DashboardResponse, ProfileEntry } from "../api/types";
import { Icon } from "../components/icon";
import { ViewLink } from "../components/view_link";
import { useOneStop, walk } from "../components/walking";
import type { Theme } from "../host/tensorboard";
import { AggregationMenu } from "./aggregation_menu";
import { ProfilePicker } from "./profile_picker";
import { currentUrl, navigate, useUrl } from "./url";
import { PAGES, toPage, type Page } from "./pages";
import type { Unlisted } from "../model/picker";

interface HeaderProps {
  profiles: readonly ProfileEntry[];
  /** Why there may be more profiles, and which files are none. */
  unlisted: Unlisted;
  selected: ProfileEntry | null;
  runs: readonly string[];
  /** What the run `.` is called. */
  top: string;
  theme: Theme;
  page: Page | null;
  data: DashboardResponse | null;
  reaggregate: boolean;
  busy: boolean;
  jobs: readonly { run: string }[];
  onSelect: (profile: ProfileEntry, view?: "gpus") => void;
  onRefresh: () => void;
}

/** Never scrolls away: what is looked at on the first line, from which side on the second. */
export function Header(props: HeaderProps) {
  const { page, data, busy, selected } = props;
  const menu = useRef<HTMLElement>(null);
  const line = useOneStop<HTMLDivElement>();
  useLayoutEffect(() => {
    const pages = menu.current;
    const current = pages?.querySelector("[aria-current]")?.getBoundingClientRect();
    if (pages === null || current === undefined) return;
    const { left, right } = pages.getBoundingClientRect();
    // Not scrollIntoView, after which the first Tab would begin here and leave out what stands before.
    pages.scrollLeft += Math.min(current.left - left, 0) + Math.max(current.right - right, 0);
  }, [page]);
  return (
    <header class="frame-header">
      <Skips />
      <div class="frame-line" role="toolbar" aria-label="Profile" {...line}>
        <ViewLink to={toPage("dashboard")} class="brand" label="GPU Summary: to the Dashboard">
          <Logo />
          <span class="brand-name">GPU Summary</span>
        </ViewLink>
        <ProfilePicker
          profiles={props.profiles}
          unlisted={props.unlisted}
          selected={selected}
          runs={props.runs}
          top={props.top}
          theme={props.theme}
          jobs={props.jobs}
          onSelect={props.onSelect}
        />
        {selected !== null && props.profiles.length > 1 && <BaselinePicker {...props} />}
        {data !== null && data.aggregations.length > 1 && (
          <AggregationMenu data={data} allowDeletion={props.reaggregate} />
        )}
        {data !== null && data.domains.length > 1 && (
          <label class="domain-menu">
            <span>Domain</span>
            <select
              class="input"
              value={data.domain}
              data-tip="NVTX domain whose ranges are the ops"
              onChange={(event) => navigate({ domain: event.currentTarget.value }, true)}
            >
              {data.domains.map((domain) => (
                <option key={domain}>{domain}</option>
              ))}
            </select>
          </label>
        )}
        <div class="frame-tools">
          <button
            type="button"
            class={busy ? "icon-button spinning" : "icon-button"}
            aria-label="Refresh"
            data-tip="Refresh"
            onClick={props.onRefresh}
          >
            <Icon name="refresh" />
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label="Help"
            data-tip="Help: terms and keys"
            onClick={() => navigate({ details: currentUrl().details === "help" ? null : "help" })}
          >
            <Icon name="help" />
          </button>
        </div>
      </div>
      <nav class="view-menu" aria-label="Pages" ref={menu} onKeyDown={walk}>
        {PAGES.map((each, i) => (
          <ViewLink
            key={each.id}
            to={toPage(each.id)}
            current={each === page}
            tabIndex={each === (page ?? PAGES[0]) ? 0 : -1}
            {...(i > 0 && PAGES[i - 1]?.group !== each.group ? { class: "new-group" } : {})}
          >
            {each.label}
          </ViewLink>
        ))}
      </nav>
    </header>
  );
}

const TABLES = ".frame-main :is([role=grid], [role=treegrid])";

/** What only the keyboard sees: past the menu to the page, and past whatever is above a table to its rows. */
function Skips() {
  const [tables, setTables] = useState<readonly string[]>([]);
  const look = (): void =>
    setTables([...document.querySelectorAll(TABLES)].map((table) => table.getAttribute("aria-label") ?? ""));
  const to = (at: number): void => {
    const table = [...document.querySelectorAll<HTMLElement>(TABLES)][at];
    table?.querySelector<HTMLElement>("tbody [tabindex='0']")?.focus();
  };
  const row = useOneStop<HTMLDivElement>();
  return (
    <div class="skips" role="toolbar" aria-label="Skip" {...row}>
      <button
        type="button"
        class="button skip"
        onFocus={look}
        onClick={() => document.querySelector<HTMLElement>(".frame-main")?.focus()}
      >
        Skip to the page
      </button>
      {tables.map((name, i) => (
        <button key={i} type="button" class="button skip" onClick={() => to(i)}>
          Skip to the table: {name}
        </button>
      ))}
    </div>
  );
}

/** The slot of the baseline that this profile is compared with; it is kept from page to page. */
function BaselinePicker({ profiles, selected, runs, top, theme, jobs }: HeaderProps) {
  const { base } = useUrl();
  const baseline = profiles.find(({ id }) => id === base) ?? null;
  const choose = (id: string | null): void =>
    navigate(
      { base: id, base_aggregation: null, "compare.row": null, ...(id === null ? {} : { view: "compare" }) },
      true,
    );
  return (
    <div class="versus">
      <span class="muted" aria-hidden="true">
        vs
      </span>
      <ProfilePicker
        profiles={profiles}
        selected={baseline}
        runs={runs}
        top={top}
        theme={theme}
        jobs={jobs}
        role="Baseline"
        {...(selected === null ? {} : { baselineOf: selected.id })}
        onSelect={({ id }) => choose(id)}
      />
      {base !== undefined && (
        <button
          type="button"
          class="icon-button"
          aria-label="No baseline"
          data-tip="No baseline"
          onClick={() => choose(null)}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

/** Three bars of a profile. */
function Logo() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <path class="logo-one" d="M2 4h16v3H2z" />
      <path class="logo-two" d="M2 8.5h10v3H2z" />
      <path class="logo-three" d="M8 13h9v3H8z" />
    </svg>
  );
}
