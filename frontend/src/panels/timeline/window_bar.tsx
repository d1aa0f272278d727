/** The buttons that move the window, the search, and what is done with the window. */
import type { ComponentChildren, RefObject } from "preact";

import type { IterationWindow, TimelineOverview } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { formatCount } from "../../format/number";
import { within } from "../../model/timeline";
import { type View } from "../../model/timeline_link";
import { useOneStop } from "../../components/walking";

interface WindowBarProps {
  /** What a key does. */
  act: (key: string) => void;
  step: (by: 1 | -1) => void;
  show: (view: View) => void;
  find: (text: string) => void;
  searching: RefObject<HTMLInputElement>;
  iterations: TimelineOverview["iterations"];
  /** The iteration that the window is. */
  here: IterationWindow | null;
  /** The iteration that the window lies in. */
  inside: IterationWindow | null;
  /** What came of the last action, where it did not lead anywhere. */
  said: string;
  whole: View;
  hasGaps: boolean;
  children: ComponentChildren;
}

export function WindowBar(props: WindowBarProps) {
  const { act, step, show, find, searching, iterations, here, inside, said, whole, hasGaps, children } = props;
  const { typical, longest, list } = iterations;
  const row = useOneStop<HTMLDivElement>();
  return (
    <div class="timeline-bar" role="toolbar" aria-label="Window" {...row}>
      <div class="button-group" role="group" aria-label="Zoom">
        <IconButton icon="plus" label="Zoom in" hint="Zoom in (W)" onClick={() => act("w")} />
        <IconButton icon="minus" label="Zoom out" hint="Zoom out (S)" onClick={() => act("s")} />
        <IconButton
          icon="fit"
          label="Fit"
          hint="Fit what is selected, or the whole recording (F)"
          onClick={() => act("f")}
        />
      </div>
      {list.length > 1 && (
        <div class="button-group" role="group" aria-label="Iteration">
          <IconButton icon="left" label="Previous iteration" hint="Previous iteration ([)" onClick={() => step(-1)} />
          <span class="timeline-here">
            {here !== null
              ? `Iteration ${formatCount(here.iteration)}`
              : inside !== null
                ? `in iteration ${formatCount(inside.iteration)}`
                : "Iteration"}
          </span>
          <IconButton icon="right" label="Next iteration" hint="Next iteration (])" onClick={() => step(1)} />
          {[["Typical", typical] as const, ["Longest", longest] as const].map(
            ([label, one]) =>
              one !== null && (
                <button
                  key={label}
                  type="button"
                  class="button toggle"
                  aria-pressed={here?.iteration === one.iteration}
                  data-tip={label === "Typical" ? "The iteration of median length" : "The longest iteration"}
                  onClick={() => show(within({ from: one.start, to: one.stop }, whole))}
                >
                  {label}
                </button>
              ),
          )}
        </div>
      )}
      {hasGaps && (
        <button type="button" class="button" onClick={() => act("n")}>
          Next gap <kbd aria-hidden="true">N</kbd>
        </button>
      )}
      <input
        ref={searching}
        type="search"
        class="timeline-search"
        placeholder="Search kernels and ops ( / )"
        aria-label="Search kernels and ops"
        onKeyDown={(event) => {
          if (event.key === "Enter") find(event.currentTarget.value);
          else if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <IconButton icon="help" label="Keyboard shortcuts" hint="Keyboard shortcuts (?)" onClick={() => act("?")} />
      {said !== "" && (
        <span class="muted" aria-hidden="true">
          {said}
        </span>
      )}
      <span class="timeline-space" />
      {children}
    </div>
  );
}

interface IconButtonProps {
  icon: IconName;
  label: string;
  hint: string;
  onClick: () => void;
}

function IconButton({ icon, label, hint, onClick }: IconButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} data-tip={hint} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
