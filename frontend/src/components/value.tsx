/** Small pieces of text that carry more than they show: shares with their parts, times with every digit, yes and no. */
import { formatBytes } from "../format/bytes";
import { countInAll, exactNumber, formatCalls, UNKNOWN } from "../format/number";
import { formatShare } from "../format/share";
import { formatDuration, readableAndExact, type TimeUnit } from "../format/time";
import { inUnit, type Unit } from "../format/unit";
import { useScope } from "../frame/scope";
import { splitId, splitPath } from "../model/kernel_name";
import { shortPlace } from "../model/short_place";
import { Icon } from "./icon";
import { Breakable } from "./sentence";
import { textWidth } from "./text_width";
import { useWidth } from "./use_width";

interface ShareProps {
  fraction: number | null;
  /** Numerator and denominator, in words. */
  of: string;
  /** The text to show if there is no share, but the reason is known. */
  none?: string;
}

/** A percentage whose tooltip gives numerator and denominator. */
export function Share({ fraction, of, none = UNKNOWN }: ShareProps) {
  if (fraction === null) return <span class="unknown">{none}</span>;
  return (
    <span class="number" data-tip={of}>
      {formatShare(fraction)}
    </span>
  );
}

/** A duration whose tooltip has every nanosecond. */
export function Duration({ ns }: { ns: number | null }) {
  if (ns === null) return <span class="unknown">{UNKNOWN}</span>;
  return (
    <span class="number" data-tip={readableAndExact(ns)}>
      {formatDuration(ns)}
    </span>
  );
}

/** A duration in the unit that the head of its column names. */
export function TimeIn({ ns, unit }: { ns: number | null; unit: TimeUnit }) {
  if (ns === null) return <span class="unknown">{UNKNOWN}</span>;
  return (
    <span class="number" data-tip={readableAndExact(ns)}>
      {inUnit(ns, unit)}
    </span>
  );
}

/** A size whose tooltip has every byte; in the unit that the head of its column names, where it has one. */
export function Size({ bytes, unit }: { bytes: number | null; unit?: Unit | undefined }) {
  if (bytes === null) return <span class="unknown">{UNKNOWN}</span>;
  return (
    <span class="number" data-tip={`${exactNumber(bytes)} bytes`}>
      {unit === undefined ? formatBytes(bytes) : inUnit(bytes, unit)}
    </span>
  );
}

/** A tick or a cross with its word for screen readers; unknown is neither. */
export function YesNo({ value }: { value: boolean | null }) {
  if (value === null) return <span class="unknown">{UNKNOWN}</span>;
  return (
    <span class={value ? "yes" : "no"}>
      <Icon name={value ? "check" : "cross"} />
      <span class="visually-hidden">{value ? "yes" : "no"}</span>
    </span>
  );
}

/** Calls of an iteration; where not each makes as many, the tooltip has those of all. */
export function Calls({ value }: { value: number | null }) {
  const { iterations } = useScope();
  const all = value === null ? "" : countInAll(value, iterations);
  return (
    <span
      class="number"
      data-tip={value === null ? "" : all === "" ? exactNumber(value) : `${all}, ${exactNumber(value)} an iteration`}
    >
      {formatCalls(value)}
    </span>
  );
}

interface OpPathProps {
  path: string;
  /** Tells ops of the same path apart. */
  id?: string;
  /** CSS pixels that it may take. */
  room: number;
  /** What stands before the name, where that depends on the paths around it. */
  shown?: string | undefined;
}

/** What the id that stands beside a path takes besides its letters. */
const BESIDE = 12;

/** An op's path, whose end matters: what has no room gives way before it. */
export function OpPath({ path, id = "", room, shown }: OpPathProps) {
  const { place, name } = splitPath(path);
  const left = room - textWidth(name) - (id === "" ? 0 : textWidth(id) + BESIDE);
  return (
    <span class="op-path" data-tip={path}>
      {place !== "" && <span class="op-place">{shown ?? shortPlace(place, left, textWidth)}</span>}
      <span class="op-name">{name}</span>
      {id !== "" && (
        <span class="op-beside">
          <OpId id={id} />
        </span>
      )}
    </span>
  );
}

/** An op's path in as much room as there is. */
export function FittingPath({ path, id = "" }: Omit<OpPathProps, "room" | "shown">) {
  const [measure, width] = useWidth(ROOM_AT_FIRST);
  return (
    <span class="op-room" ref={measure}>
      <OpPath path={path} id={id} room={width} />
    </span>
  );
}

/** An op's path, or its `short` form, that takes as many lines as it needs. */
export function WrappingPath({ path, short = path, id = "" }: Pick<OpPathProps, "path" | "id"> & { short?: string }) {
  const { place, name } = splitPath(short);
  return (
    <span data-tip={path}>
      <span class="op-place-wraps">
        <Breakable text={place} />
      </span>
      <wbr />
      <Breakable text={name} />
      {id !== "" && <small class="whole-id">{id}</small>}
    </span>
  );
}

const ROOM_AT_FIRST = 300;

/** An op's id, whose number stays visible when the cell is narrow. */
export function OpId({ id }: { id: string }) {
  const { kind, number } = splitId(id);
  return (
    <span class="op-id" data-tip={id}>
      <span class="clip">{kind}</span>
      <span>{number}</span>
    </span>
  );
}
