/** One bar of 100 %: what a whole is made of. Each segment can lead to what shows it. */
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, inTimeUnit, readableAndExact, unitOf } from "../../format/time";
import { colourOf, textOn } from "../../model/resources";
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
  const { label, shorter = "", short = "" } = segment;
  const beside = wide < NARROW ? CLOSE : BESIDE;
  const room = wide - 2 * beside;
  const time = formatDuration(segment.ns);
  const below = height >= TWO_LINES;
  const names = [...(below ? [] : [`${label} ${time}`]), label, shorter, short].filter(Boolean);
  const fits = (text: string): boolean => textWidth(text) <= room;
  // What a legend names is not cut.
  const name = segment.named?.(fits) ?? names.find(fits) ?? "";
  const lines = name === "" ? [] : [name, ...(below && fits(time) ? [time] : [])];
  const end = beside + Math.max(...lines.map(textWidth));
  let from = 0;
  // The last part that has some of the text.
  let under = 0;
  const parts = segment.parts ?? [[segment.colour, 1] as const];
  const rects = parts.map(([colour, part], at) => {
    const width = at === parts.length - 1 ? wide - from : part * wide;
    if (from < end) under = at;
    from += width;
    return <rect key={at} x={x + from - width} width={Math.max(width, 0)} height={height} fill={colour} />;
  });
  // What is quiet is dark in the dark theme, alone of all.
  const inks = new Set(parts.slice(0, under + 1).map(([fill]) => (fill === colourOf("other") ? fill : textOn(fill))));
  return (
    <>
      {rects.slice(0, under + 1)}
      {segment.striped === true && <rect x={x} width={wide} height={height} fill="url(#striped)" />}
      {lines.map((text, i) => (
        <text
          key={i}
          class={inks.size > 1 ? "on-both" : textOn(parts[0]?.[0] ?? "")}
          style={{ fill: segment.ink }}
          x={x + beside}
          y={height / 2 + 4.5 + LINE * (i - (lines.length - 1) / 2)}
        >
          {text}
        </text>
      ))}
      {rects.slice(under + 1)}
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
