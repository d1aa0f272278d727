import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

import { PictureMenu } from "./charts/picture_menu";
import { ofIterations } from "../format/number";
import { useScope } from "../frame/scope";
import { SumNote } from "./sum_note";
import { Info } from "./tooltip";
import { useOneStop } from "./walking";

interface PanelProps {
  title: string;
  /** What the panel shows, for the (i) beside its title. */
  about?: string;
  /** Whether its times are of the aggregated iterations, or most of it means over all that they did. */
  summed?: boolean | "means";
  /** Place in the grid: a class of `dashboard.css`. */
  class?: string;
  /** Buttons and badges to the right of the title. */
  tools?: ComponentChildren;
  /** Whether its chart, an `svg.picture`, can be copied. */
  picture?: boolean;
  /** Whether its links and buttons are one tab stop with those of its head: there are few, and charts are stops of their own. */
  walked?: boolean;
  children: ComponentChildren;
}

/** A titled card. */
export function Panel({
  title,
  about,
  summed = false,
  tools,
  picture = false,
  walked = false,
  children,
  class: place = "",
}: PanelProps) {
  const id = useId();
  const row = useOneStop<HTMLElement>();
  const [whole, head] = walked ? [row, {}] : [{}, row];
  return (
    <section class={`panel ${place}`} aria-labelledby={id} {...whole}>
      <header class="panel-head" {...head}>
        <h2 id={id}>{title}</h2>
        {about !== undefined && <Info term={title} text={about} />}
        {summed === true && <SumNote />}
        {summed === "means" && <OverIterations />}
        {((tools !== undefined && tools !== false) || picture) && (
          <div class="panel-tools">
            {tools}
            {picture && <PictureMenu title={title} />}
          </div>
        )}
      </header>
      <div class="panel-body">{children}</div>
    </section>
  );
}

/** Of which iterations means over all calls, kernels or time are. */
function OverIterations() {
  const text = ofIterations("over", useScope().iterations);
  return text === "" ? null : <span class="muted sum-note">{text}</span>;
}
