/** What keys do on the timeline. */
import { Dialog } from "../../components/dialog";

const KEYS: readonly (readonly [string, string])[] = [
  ["W, S", "closer, further; or Ctrl and the wheel, at the pointer"],
  ["A, D", "left, right; or the wheel sideways, or Shift and a drag"],
  ["F", "fit what is selected, or the whole capture"],
  ["[, ]", "iteration before, after"],
  ["N, P", "next gap, the one before"],
  ["/", "search kernels and ops"],
  ["Esc", "clear what is selected"],
  ["?", "these keys"],
];

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys of the timeline" onClose={onClose}>
      <dl class="timeline-keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
