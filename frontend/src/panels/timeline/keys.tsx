/** What keys do on the timeline. */
import { useEffect, useRef } from "preact/hooks";

import { Dialog } from "../../components/dialog";
import { Terms } from "../../components/properties";

const KEYS: readonly (readonly [string, string])[] = [
  ["W, S", "zoom in, out at the pointer, else at what is selected; or Ctrl and the wheel"],
  ["A, D", "pan left, right; or the arrow keys, the wheel sideways, or Shift and a drag"],
  ["F", "fit what is selected, or the whole recording"],
  ["[, ]", "iteration before, after"],
  ["M", "sum up the time of what is selected, as a drag over the tracks does"],
  ["N, P", "next gap, the one before; at first the longest of the window"],
  [", .", "what the GPU did before, after what is selected"],
  ["/", "search kernels and ops; then Enter for the next one, Shift Enter for the one before"],
  ["Esc", "clear what is selected"],
  ["?", "this list"],
];

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard Shortcuts of the Timeline" onClose={onClose}>
      <Terms class="timeline-keys" rows={KEYS.map(([keys, what]) => [<kbd key={keys}>{keys}</kbd>, what])} />
    </Dialog>
  );
}

/** Calls `act` with every key that is typed into no field and no table; it says whether the key does anything. */
export function useKeys(act: (key: string) => boolean): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as Element;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (target.closest("input, textarea, select, dialog, [contenteditable]") !== null) return;
      // A table whose row led to what is selected has no other use for Escape.
      if (event.key !== "Escape" && target.closest("[role=grid]") !== null) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
