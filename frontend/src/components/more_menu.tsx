/** "More...": the views that go on from where a panel ends. */
import { Icon } from "./icon";
import { useMenu } from "./use_menu";
import type { Changes } from "../model/url_state";
import { ViewLink } from "./view_link";

interface MoreMenuProps {
  /** The panel, for the label. */
  about: string;
  views: readonly { label: string; to: Changes }[];
}

export function MoreMenu({ about, views }: MoreMenuProps) {
  const { open, setOpen, holder, button, close, onKeyDown } = useMenu();
  return (
    <div class="menu-holder" ref={holder} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="more-button"
        ref={button}
        aria-expanded={open}
        aria-label={`More about ${about}`}
        onClick={() => setOpen(!open)}
      >
        <span class="more-text">More…</span> <Icon name="down" />
      </button>
      {open && (
        <div class="menu more-menu" role="group" aria-label={`More about ${about}`}>
          {views.map(({ label, to }) => (
            <ViewLink key={label} to={to} class="menu-item" onFollow={close}>
              {label}
            </ViewLink>
          ))}
        </div>
      )}
    </div>
  );
}
