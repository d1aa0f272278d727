/** The one place that knows what is on screen: the URL. Components read it with `useUrl` and change it with `navigate`. */
import { useLayoutEffect, useState } from "preact/hooks";

import { hostAddress, onHostHash, readHostHash, writeHostHash } from "../host/tensorboard";
import { movedTo } from "../model/old_links";
import { readHash, withValues, writeHash, type Changes, type UrlState } from "../model/url_state";

const read = (): UrlState => movedTo(readHash(readHostHash()));

let current: UrlState = read();
const listeners = new Set<() => void>();

function set(next: UrlState): void {
  current = next;
  for (const listener of [...listeners]) listener();
}

/** Follows the address bar and the Back button from now on. Returns how to stop. */
export function followUrl(): () => void {
  return onHostHash(() => set(read()));
}

export const currentUrl = (): UrlState => current;

/** What is written once it pauses: the zoom of a chart while the wheel turns. */
let pending: { write: () => void; timer: ReturnType<typeof setTimeout> } | null = null;

/** Calls `write`, which navigates, after a pause, and at the latest before the URL is changed or linked to otherwise. */
export function writeSoon(write: () => void, pauseMs: number): void {
  forgetPending();
  pending = { write, timer: setTimeout(writePending, pauseMs) };
}

/** For a chart that is gone before it paused. */
export function forgetPending(): void {
  if (pending !== null) clearTimeout(pending.timer);
  pending = null;
}

function writePending(): void {
  const write = pending?.write;
  forgetPending();
  write?.();
}

/** Goes to a state. `push` for steps that Back should undo (another view or profile), not for each letter of a filter. */
export function goTo(next: UrlState, push = false): void {
  writePending();
  writeHostHash(writeHash(readHostHash(), next), push);
  set(next);
}

/** Sets some values of the current state; null or an empty text removes one. */
export function navigate(changes: Changes, push = false): void {
  writePending();
  goTo(withValues(current, changes), push);
}

/** The address at which `navigate` with these changes arrives, for a tab of its own. */
export function addressOf(changes: Changes): string {
  return hostAddress(writeHash(readHostHash(), withValues(current, changes)));
}

/** As `addressOf`, with what has not paused yet. */
export function newestAddressOf(changes: Changes): string {
  writePending();
  return addressOf(changes);
}

/** Changes that follow within this time belong to one step. */
const STEP_MS = 1000;
let step = { keys: "", at: -Infinity };

/** As `navigate`, for what is dragged, turned or typed: Back undoes the whole step, not each pixel of it. */
export function navigateStep(changes: Changes): void {
  const keys = Object.keys(changes).sort().join(" ");
  const now = performance.now();
  navigate(changes, keys !== step.keys || now - step.at > STEP_MS);
  step = { keys, at: now };
}

export function useUrl(): UrlState {
  const [state, setState] = useState(current);
  useLayoutEffect(() => {
    const listener = (): void => setState(current);
    listeners.add(listener);
    listener();
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return state;
}

/** A set of words kept under one key of the URL, such as the legend entries that are hidden. */
export function useUrlSet(key: string): [ReadonlySet<string>, (word: string) => void] {
  const toggle = (word: string): void => {
    // As the URL is now, which may be newer than what is drawn.
    const next = wordsOf(currentUrl()[key]);
    if (!next.delete(word)) next.add(word);
    navigate({ [key]: [...next].join(",") });
  };
  return [wordsOf(useUrl()[key]), toggle];
}

function wordsOf(value: string | undefined): Set<string> {
  return new Set((value ?? "").split(",").filter(Boolean));
}
