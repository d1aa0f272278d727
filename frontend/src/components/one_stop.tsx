import type { ComponentChildren } from "preact";

import { useOneStop } from "./walking";

/** Panels, or fields, whose links and buttons are one tab stop; charts among them are stops of their own. */
export function OneStop({ children }: { children: ComponentChildren }) {
  return (
    <div class="one-stop" {...useOneStop<HTMLDivElement>()}>
      {children}
    </div>
  );
}
