import type { ComponentChildren } from "preact";

import { addressOf, navigate, newestAddressOf, useUrl } from "../frame/url";
import { arriving, type Changes } from "../model/url_state";

interface ViewLinkProps {
  /** What the link changes of what is on screen. */
  to: Changes;
  class?: string;
  label?: string;
  tip?: string;
  current?: boolean;
  /** `-1` where arrow keys reach it. */
  tabIndex?: number;
  /** Called when the link is followed on this page. */
  onFollow?: () => void;
  children: ComponentChildren;
}

/** Whether the browser is asked to open a link elsewhere: in a tab or window of its own, or as a download. */
const opensElsewhere = (event: MouseEvent): boolean => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;

/** Another view as a link: a click shows it here, and what browsers offer for links (a tab of its own, copying) works too. */
export function ViewLink({
  to,
  class: className,
  label,
  tip,
  current = false,
  tabIndex,
  onFollow,
  children,
}: ViewLinkProps) {
  const changes = arriving(useUrl(), to);
  // What is still being moved is not in the URL when the link is drawn; it is once the link is pressed.
  const refresh = ({ currentTarget }: { currentTarget: Element }): void =>
    currentTarget.setAttribute("href", newestAddressOf(changes));
  return (
    <a
      class={className}
      href={addressOf(changes)}
      target="_top"
      aria-label={label}
      aria-current={current ? "page" : undefined}
      data-tip={tip}
      tabIndex={tabIndex}
      onPointerDown={refresh}
      onKeyDown={refresh}
      onClick={(event) => {
        if (opensElsewhere(event)) return;
        event.preventDefault();
        navigate(changes, true);
        onFollow?.();
      }}
    >
      {children}
    </a>
  );
}
