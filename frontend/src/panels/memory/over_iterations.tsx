/** Peak and end of each iteration, and whether memory grows. */
import type { MemoryDevice } from "../../api/types";
import { Panel } from "../../components/panel";
import { formatBytes } from "../../format/bytes";
import { exactNumber } from "../../format/number";
import { formatDuration } from "../../format/time";

/** So few bars have room for their numbers. */
const FEW = 12;

/** Bars that differ by less of the highest look equal. */
const ALIKE = 0.02;

const mostOf = ({ iterations }: MemoryDevice): number => Math.max(...iterations.map(({ peak_bytes: peak }) => peak), 1);

/** Whether bars of the iterations would all look equal. */
const areAlike = (device: MemoryDevice): boolean =>
  (["peak_bytes", "end_bytes"] as const).every((key) => {
    const values = device.iterations.map((each) => each[key]);
    return Math.max(...values) - Math.min(...values) < ALIKE * mostOf(device);
  });

const growth = ({ leak }: MemoryDevice): string =>
  ({
    leak: `Memory in use grows by ${formatBytes(leak.bytes_per_iteration)} in each iteration.`,
    none: "Memory in use at the end of the iterations does not grow.",
    cannot_tell: "Fewer than five iterations cannot tell a leak from the first allocations.",
  })[leak.verdict];

/** What there is to say of iterations that are alike, below the curve. */
export function AlikeIterations({ device }: { device: MemoryDevice }) {
  if (device.iterations.length < 2 || !areAlike(device)) return null;
  const most = mostOf(device);
  const least = Math.min(...device.iterations.map(({ peak_bytes: peak }) => peak));
  return (
    <p class="muted note-below">
      {least < most && `Iterations peak at ${formatBytes(least)} to ${formatBytes(most)}. `}
      {growth(device)}
    </p>
  );
}

export function OverIterations({ device }: { device: MemoryDevice }) {
  const { iterations } = device;
  if (iterations.length < 2 || areAlike(device)) return null;
  const most = mostOf(device);
  const shown = iterations.slice(0, 60);
  const few = shown.length <= FEW;
  return (
    <Panel title="Over Iterations" about="The peak of each iteration, and what is still in use at its end." picture>
      <p>{growth(device)}</p>
      <ol class={few ? "memory-iterations memory-few" : "memory-iterations"}>
        {few && (
          <li class="muted memory-what" aria-hidden="true">
            <span>peak</span>
            <span />
            <span>at its end</span>
            <span>iteration</span>
          </li>
        )}
        {shown.map(({ number, peak_bytes: peak, end_bytes: end, peak_ns: time }) => (
          <li
            key={number}
            data-tip={`Iteration ${number}: peak ${formatBytes(peak)}${time === null ? "" : ` at ${formatDuration(time)}`}, ${formatBytes(end)} at its end`}
          >
            {few && <span class="number">{formatBytes(peak)}</span>}
            <span class="memory-peak" style={{ height: `${(peak / most) * 100}%` }}>
              <span style={{ height: `${(end / Math.max(peak, 1)) * 100}%` }} />
            </span>
            {few && <span class="number">{formatBytes(end)}</span>}
            <span class="muted number">{number}</span>
          </li>
        ))}
      </ol>
      <p class="muted note-below">
        <span class="memory-key">
          <span class="swatch memory-peak-swatch" /> peak
        </span>
        <span class="memory-key">
          <span class="swatch memory-swatch" /> in use at the end
        </span>
        {!few && `The highest is ${formatBytes(most)}. `}
        {device.relative && "Counted from the start of the recording."}
        {shown.length < iterations.length &&
          ` The first ${shown.length} of ${exactNumber(iterations.length)} iterations.`}
      </p>
    </Panel>
  );
}
