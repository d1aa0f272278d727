/** What is held at a moment by category, which is the legend of the curve, too. */
import type { MemoryDevice } from "../../api/types";
import { formatBytes } from "../../format/bytes";
import { formatShare } from "../../format/share";
import { navigate } from "../../frame/url";
import { categoryColour } from "../../model/memory_categories";
import { exactly, isTiny, partOf } from "./share";

interface HeldThenProps {
  device: MemoryDevice;
  rows: MemoryDevice["at_peak"];
  /** All that is in use then. */
  whole: number;
  /** What moment it is. */
  when: string;
  /** Categories that the curve shows, which have their colour in the legend at any moment. */
  drawn: readonly string[];
  /** Whether it is of the recording's peak, of which more is known. */
  isPeak: boolean;
  /** The way back from a clicked moment; null from none. */
  back: string | null;
}

export function HeldThen({ device, rows, whole, when, drawn, isPeak, back }: HeldThenProps) {
  const present = rows.filter(({ bytes }) => bytes !== 0);
  const shown = present.filter(({ bytes }) => !isTiny(bytes, whole));
  const tiny = [
    ...present.filter((each) => !shown.includes(each)),
    ...drawn
      .filter((category) => !present.some((each) => each.category === category))
      .map((category) => ({ category, bytes: 0, blocks: null })),
  ];
  return (
    <div class="memory-held-then">
      <h3>
        {when}: {formatBytes(whole)} {device.relative ? "more than at the start" : device.peak_of}
      </h3>
      <ul>
        {shown.map(({ category, bytes, blocks }) => (
          <li key={category} data-tip={exactly(category, bytes, blocks)}>
            <span class="swatch" style={{ background: categoryColour(category) }} /> {category}{" "}
            <span class="number">{formatBytes(bytes)}</span>{" "}
            <span class="number muted">{formatShare(partOf(bytes, whole))}</span>
          </li>
        ))}
      </ul>
      {tiny.length > 0 && (
        <p class="muted note-below">
          {tiny.every(({ bytes }) => bytes === 0) ? "None of it: " : "Less than 0.1 %: "}
          {tiny.map(({ category, bytes, blocks }) => (
            <span key={category} class="memory-key" data-tip={exactly(category, bytes, blocks)}>
              <span class="swatch" style={{ background: categoryColour(category) }} /> {category}
            </span>
          ))}
        </p>
      )}
      {isPeak && device.held_before !== null && <p class="muted note-below">{device.held_before}</p>}
      {back !== null && (
        <button type="button" class="button" onClick={() => navigate({ "memory.at": null })}>
          {back}
        </button>
      )}
    </div>
  );
}
