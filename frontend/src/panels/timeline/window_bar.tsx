/** The buttons that move the window, and the search. */
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";

import type { IterationWindow, TimelineOverview } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { formatCount } from "../../format/number";
import { within } from "../../model/timeline";
import { type View } from "../../model/timeline_link";
import { useOneStop } from "../../components/walking";

const TYPING_PAUSE_MS = 250;

interface WindowBarProps {
  /** What a key does. */
  act: (key: string) => void;
  step: (by: 1 | -1) => void;
  show: (view: View) => void;
  /** To the next one of a text that is searched for, or the one before. */
  find: (text: string, by: 1 | -1) => void;
  /** What is typed, once the typing pauses. */
  onSearch: (text: string) => void;
  /** How often it is found in the window, and which of them is selected; null until it is known. */
  hits: { count: number | null; place: number } | null;
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
}

export function WindowBar(props: WindowBarProps) {
  const { act, step, show, find, onSearch, hits, searching, iterations, here, inside, said, whole, hasGaps } = props;
  const { typical, longest, list } = iterations;
  const row = useOneStop<HTMLDivElement>();
  const typing = useRef<number | undefined>(undefined);
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
          if (event.key === "Enter") find(event.currentTarget.value, event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") event.currentTarget.blur();
        }}
        onInput={(event) => {
          const text = event.currentTarget.value.trim();
          clearTimeout(typing.current);
          typing.current = window.setTimeout(() => onSearch(text), text === "" ? 0 : TYPING_PAUSE_MS);
        }}
      />
      {hits !== null && (
        <>
          <IconButton
            icon="left"
            label="Hit before"
            hint="The one before (Shift Enter)"
            onClick={() => find(searching.current?.value ?? "", -1)}
          />
          <span class="timeline-here" role="status">
            {hitsInWords(hits)}
          </span>
          <IconButton
            icon="right"
            label="Next hit"
            hint="The next one (Enter); behind the last of this window, the next of the recording"
            onClick={() => find(searching.current?.value ?? "", 1)}
          />
        </>
      )}
      <IconButton icon="help" label="Keyboard shortcuts" hint="Keyboard shortcuts (?)" onClick={() => act("?")} />
      {said !== "" && (
        <span class="muted" aria-hidden="true">
          {said}
        </span>
      )}
    </div>
  );
}

const hitsInWords = ({ count, place }: NonNullable<WindowBarProps["hits"]>): string =>
  count === null
    ? "too much to count"
    : count === 0
      ? "none here"
      : place < 0
        ? `${formatCount(count)} here`
        : `${formatCount(place + 1)} of ${formatCount(count)}`;

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
