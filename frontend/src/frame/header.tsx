import type { Aggregation, ProfileEntry } from "../api/types";
import { Icon } from "../components/icon";
import { aggregationLabel } from "../model/aggregation";
import type { Theme } from "../host/tensorboard";
import { ProfilePicker } from "./profile_picker";
import { currentUrl, navigate } from "./url";
import { VIEWS, type ViewId } from "./views";

interface HeaderProps {
  profiles: readonly ProfileEntry[];
  selected: ProfileEntry | null;
  runs: readonly string[];
  theme: Theme;
  view: ViewId;
  aggregations: readonly Aggregation[];
  aggregation: number | null;
  busy: boolean;
  onSelect: (profile: ProfileEntry) => void;
  onRefresh: () => void;
}

const openView = (view: ViewId): void => navigate({ view: view === "dashboard" ? null : view }, true);

/** Never scrolls away: what is looked at on the first line, from which side on the second. */
export function Header(props: HeaderProps) {
  const { view, aggregations, aggregation, busy, selected } = props;
  return (
    <header class="frame-header">
      <div class="frame-line">
        <button
          type="button"
          class="brand"
          onClick={() => openView("dashboard")}
          aria-label="GPU Summary: to the Dashboard"
        >
          <Logo />
          <span class="brand-name">GPU Summary</span>
        </button>
        <ProfilePicker
          profiles={props.profiles}
          selected={selected}
          runs={props.runs}
          theme={props.theme}
          onSelect={props.onSelect}
        />
        {aggregations.length > 1 && (
          <label class="aggregation-menu">
            <span>Iterations</span>
            <select
              class="input"
              value={aggregation ?? ""}
              data-tip={keyNodeTip(aggregations, aggregation)}
              onChange={(event) => navigate({ aggregation: event.currentTarget.value }, true)}
            >
              {aggregations.map((each) => (
                <option key={each.id} value={each.id} title={each.key_node ?? ""}>
                  {aggregationLabel(each)}
                </option>
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
      <nav class="view-menu" aria-label="Views">
        {VIEWS.map(({ id, label }) => (
          <button type="button" key={id} aria-current={id === view ? "page" : undefined} onClick={() => openView(id)}>
            {label}
          </button>
        ))}
      </nav>
    </header>
  );
}

function keyNodeTip(aggregations: readonly Aggregation[], aggregation: number | null): string {
  const node = aggregations.find(({ id }) => id === aggregation)?.key_node;
  return node ? `Key node: ${node}` : "The iterations whose numbers are aggregated";
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
