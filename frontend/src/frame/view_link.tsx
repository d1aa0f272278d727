import type { ComponentChildren } from "preact";

import { addressOf, navigate } from "./url";
import type { ViewId } from "./views";

interface ViewLinkProps {
  view: ViewId;
  class?: string;
  label?: string;
  current?: boolean;
  children: ComponentChildren;
}

/** A view as a link: a click shows it here, and what browsers offer for links (a tab of its own, copying) works too. */
export function ViewLink({ view, class: className, label, current = false, children }: ViewLinkProps) {
  const changes = { view: view === "dashboard" ? null : view };
  return (
    <a
      class={className}
      href={addressOf(changes)}
      target="_top"
      aria-label={label}
      aria-current={current ? "page" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(changes, true);
      }}
    >
      {children}
    </a>
  );
}
