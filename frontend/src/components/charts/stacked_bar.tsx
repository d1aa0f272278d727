/** One bar of 100 %: what a whole is made of. Each segment can lead to what shows it. */
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, inTimeUnit, readableAndExact, unitOf } from "../../format/time";
import { textOn } from "../../model/resources";
import type { BarSegment } from "../../model/step";
import { textWidth } from "../text_width";
import { useWidth } from "../use_width";
import { ViewLink } from "../view_link";
import { useOneStop } from "../walking";

interface StackedBarProps {
  segments: readonly BarSegment[];
  whole_ns: number;
  /** The bar in a sentence, for those who do not see it. */
  label: string;
  height?: number;
}

const GAP = 2;
/** What of a segment is left of its text, and right of it; of a narrow one less. */
const BESIDE = 7;
const CLOSE = 4;
const NARROW = 90;
/** In a bar so high the time stands below the name. */
const TWO_LINES = 42;
const LINE = 17;
/** Fewer letters of a name tell nothing. */
const FEWEST = 4;

/** As much of a name as there is room for, its first word uncut where that fits; empty where too few letters fit. */
function beginning(whole: string, room: number): string {
  // That something is missing before it is not worth its room.
  const name = whole.replace(/^…/, "");
  let end = name.length;
  while (end >= FEWEST && textWidth(`${name.slice(0, end)}…`) > room) end -= 1;
  const [word = ""] = /^\w{3,}/.exec(name) ?? [];
  if (word.length >= end && textWidth(word) <= room) return word;
  // What is left of a last word tells nothing: `linear f…`.
  return end < FEWEST ? "" : `${name.slice(0, end).replace(/(?: \S{0,2}|…)$/, "")}…`;
}

export function StackedBar({ segments, whole_ns: whole, label, height = 30 }: StackedBarProps) {
  const [measure, width] = useWidth(1000);
  const row = useOneStop<SVGSVGElement>();
  let at = 0;
  const placed = segments.map((segment) => {
    const x = at;
    at += (segment.ns / Math.max(whole, 1)) * width;
    return { segment, x, wide: Math.max(at - x - GAP, 1) };
  });
  return (
    <div class="stacked-bar" ref={measure}>
      <svg width={width} height={height} role="group" aria-label={label} {...row}>
        {segments.some(({ striped }) => striped) && (
          <pattern id="striped" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="stripes" width="2" height="6" />
          </pattern>
        )}
        {placed.map(({ segment, x, wide }) => {
          const drawn = <Piece segment={segment} x={x} wide={wide} height={height} />;
          const tip = `${segment.label}: ${formatShare(shareOf(segment.ns, whole))}\n${readableAndExact(segment.ns)} of ${readableAndExact(whole)}\n${segment.about}`;
          return segment.to === null ? (
            <g key={segment.key} data-tip={tip}>
              {drawn}
            </g>
          ) : (
            <ViewLink key={segment.key} to={segment.to} tip={tip} label={tip.replaceAll("\n", ". ")} class="segment">
              {drawn}
            </ViewLink>
          );
        })}
      </svg>
    </div>
  );
}

function Piece({ segment, x, wide, height }: { segment: BarSegment; x: number; wide: number; height: number }) {
  // A time alone would not say whose it is.
  const { label, short = "" } = segment;
  const parts = segment.parts ?? [[segment.colour, 1] as const];
  const beside = wide < NARROW ? CLOSE : BESIDE;
  const room = wide - 2 * beside;
  const time = formatDuration(segment.ns);
  const below = height >= TWO_LINES;
  const names = below ? [label, short] : [`${label} ${time}`, label, short];
  const name = names.find((each) => textWidth(each) <= room) ?? beginning(short || label, room);
  const lines = name === "" ? [] : [name, ...(below && textWidth(time) <= room ? [time] : [])];
  let share = 0;
  return (
    <>
      {parts.map(([colour, part], at) => {
        const from = share * wide;
        share = at === parts.length - 1 ? 1 : share + part;
        return (
          <svg key={at} x={x + from} width={Math.max(share * wide - from, 0)} height={height}>
            <rect width="100%" height={height} fill={colour} />
            {segment.striped === true && <rect width="100%" height={height} fill="url(#striped)" />}
            {/* The text of the whole, of which each part shows what lies on it, in its own ink. */}
            {lines.map((text, i) =>
              from < beside + textWidth(text) ? (
                <text
                  key={i}
                  class={textOn(colour)}
                  style={{ fill: segment.ink }}
                  x={beside - from}
                  y={height / 2 + 4.5 + LINE * (i - (lines.length - 1) / 2)}
                  aria-hidden={at > 0}
                >
                  {text}
                </text>
              ) : null,
            )}
          </svg>
        );
      })}
    </>
  );
}

interface BarLegendProps extends Pick<StackedBarProps, "segments" | "whole_ns"> {
  /** What the whole is, where times stand beside the shares. */
  timed?: string;
}

/** The segments with their shares, as text. */
export function BarLegend({ segments, whole_ns: whole, timed = "" }: BarLegendProps) {
  const unit = unitOf(segments.map(({ ns }) => ns));
  return (
    <ul class="bar-legend">
      {timed !== "" && (
        <li class="muted">
          Of {formatDuration(whole)} {timed}:
        </li>
      )}
      {segments.map(({ key, label, ns, colour, about, striped }) => (
        <li key={key} data-tip={about}>
          <span class={striped === true ? "swatch striped" : "swatch"} style={{ backgroundColor: colour }} /> {label}{" "}
          <span class="muted number">
            {timed !== "" && `${inTimeUnit(ns, unit)}, `}
            {formatShare(shareOf(ns, whole))}
          </span>
        </li>
      ))}
    </ul>
  );
}
