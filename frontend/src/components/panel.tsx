import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

import { Info } from "./tooltip";

interface PanelProps {
  title: string;
  /** What the panel shows, for the (i) beside its title. */
  about?: string;
  /** Place in the grid: a class of `dashboard.css`. */
  class?: string;
  /** Buttons and badges to the right of the title. */
  tools?: ComponentChildren;
  children: ComponentChildren;
}

/** A titled card. */
export function Panel({ title, about, tools, children, class: place = "" }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel ${place}`} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {about !== undefined && <Info term={title} text={about} />}
        {tools !== undefined && tools !== false && <div class="panel-tools">{tools}</div>}
      </header>
      <div class="panel-body">{children}</div>
    </section>
  );
}
