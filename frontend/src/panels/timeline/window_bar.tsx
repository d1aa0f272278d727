/** The buttons that move the window, the search, and what is done with the window. */
import type { ComponentChildren, RefObject } from "preact";

import type { TimelineOverview } from "../../api/types";
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
  whole: View;
  hasGaps: boolean;
  children: ComponentChildren;
}

export function WindowBar(props: WindowBarProps) {
  const { act, step, show, find, searching, iterations, whole, hasGaps, children } = props;
  const { typical, longest, list } = iterations;
  const row = useOneStop<HTMLDivElement>();
  return (
    <div class="timeline-bar" role="toolbar" aria-label="Window" {...row}>
      <button type="button" class="button" onClick={() => act("w")} aria-label="Zoom in">
        + W
      </button>
      <button type="button" class="button" onClick={() => act("s")} aria-label="Zoom out">
        − S
      </button>
      <button type="button" class="button" onClick={() => act("f")}>
        Fit F
      </button>
      {list.length > 1 && (
        <>
          <button type="button" class="button" onClick={() => step(-1)}>
            ‹ Previous
          </button>
          <button type="button" class="button" onClick={() => step(1)}>
            Next ›
          </button>
          {typical !== null && (
            <button
              type="button"
              class="button"
              onClick={() => show(within({ from: typical.start, to: typical.stop }, whole))}
            >
              Typical
            </button>
          )}
          {longest !== null && (
            <button
              type="button"
              class="button"
              onClick={() => show(within({ from: longest.start, to: longest.stop }, whole))}
            >
              Longest
            </button>
          )}
        </>
      )}
      {hasGaps && (
        <button type="button" class="button" onClick={() => act("n")}>
          Next gap N
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
      <button type="button" class="button" onClick={() => act("?")} aria-label="Keyboard shortcuts">
        ?
      </button>
      <span class="timeline-space" />
      {children}
    </div>
  );
}
