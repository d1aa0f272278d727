/** What the curve says at the pointer: the moment, what is in use, and by which categories. */
import type { MemoryCurveResponse } from "../../api/types";
import { sizeUnit } from "../../format/bytes";
import { withUnit } from "../../format/unit";
import { categoryColour } from "../../model/memory_categories";

const RESERVED = "reserved";
/** So many categories at the pointer, the largest. */
const MOST_READ = 6;

interface ReadingProps {
  curve: MemoryCurveResponse;
  /** The moment, as it is said, and where it is. */
  moment: string;
  at: number;
  left: number;
  width: number;
  top: number;
  /** The categories that the picture shows. */
  drawn: readonly string[];
  /** What the sizes are of. */
  of: string;
}

export function Reading({ curve, moment, at, left, width, top, drawn, of }: ReadingProps) {
  const bin = binOf(at, curve);
  if (bin < 0) return null;
  const rows = readingOf(curve, bin, drawn);
  const [least, most] = [curve.in_use_min_bytes[bin] ?? 0, curve.in_use_max_bytes[bin] ?? 0];
  const unit = sizeUnit(most, ...rows.map(({ bytes }) => bytes));
  const [said, lowest] = [withUnit(most, unit), withUnit(least, unit)];
  const place = left > width / 2 ? { right: `${width - left + 10}px` } : { left: `${left + 10}px` };
  return (
    <div class="memory-reading" aria-hidden="true" style={{ ...place, top: `${top}px` }}>
      <strong>
        {/* Where it changes, its most, which need not be what is in use at the moment that is pointed at. */}
        {moment}: {said === lowest ? said : `up to ${said}`} {of}
      </strong>
      {rows.map(({ category, bytes }) => (
        <div key={category}>
          <span>
            {category !== RESERVED && <span class="swatch" style={{ background: categoryColour(category) }} />}{" "}
            {category}
          </span>
          <span class="number">{withUnit(bytes, unit)}</span>
        </div>
      ))}
    </div>
  );
}

/** The bin of a moment; -1 outside. */
const binOf = (moment: number, { from, to, in_use_max_bytes: bins }: MemoryCurveResponse): number =>
  moment < from || moment > to
    ? -1
    : Math.min(Math.floor(((moment - from) / Math.max(to - from, 1)) * bins.length), bins.length - 1);

/** What a bin stands for, where what is in use changes in it; null where one moment is as good as another. */
export function stretchOf(moment: number, curve: MemoryCurveResponse): readonly [number, number] | null {
  const { from, to, in_use_min_bytes: least, in_use_max_bytes: most } = curve;
  const bin = binOf(moment, curve);
  if (bin < 0 || least[bin] === most[bin]) return null;
  // Rounded down, so that it begins with the state that holds when the bin begins.
  const edge = (number: number): number => Math.floor(from + (number * (to - from)) / most.length);
  return [edge(bin), edge(bin + 1)];
}

/** What a bin holds at its most, by category, and what is reserved. */
function readingOf(curve: MemoryCurveResponse, bin: number, drawn: readonly string[]) {
  const reserved = curve.reserved_max_bytes?.[bin];
  const held = curve.categories
    .map(({ category, bytes }) => ({ category, bytes: bytes[bin] ?? 0 }))
    .filter(({ category, bytes }) => bytes !== 0 && (drawn.length > 1 || category !== "unknown"))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_READ);
  return [...held, ...(reserved === undefined ? [] : [{ category: RESERVED, bytes: reserved }])];
}
