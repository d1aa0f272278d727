/** One bar of 100 %: what a whole is made of. Each segment can lead to what shows it. */
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { textOn } from "../../model/resources";
import type { BarSegment } from "../../model/step";
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

const LETTER = 7;
const GAP = 2;

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
  const text =
    [`${label} ${formatDuration(segment.ns)}`, label, short].find(({ length }) => length * LETTER + 12 <= wide) ?? "";
  return (
    <>
      <rect x={x} y={0} width={wide} height={height} fill={segment.colour} />
      {text !== "" && (
        <text class={textOn(segment.colour)} x={x + 8} y={height / 2 + 4.5}>
          {text}
        </text>
      )}
    </>
  );
}

/** The segments with their shares, as text. */
export function BarLegend({ segments, whole_ns: whole }: Pick<StackedBarProps, "segments" | "whole_ns">) {
  return (
    <ul class="bar-legend">
      {segments.map(({ key, label, ns, colour, about }) => (
        <li key={key} data-tip={about}>
          <span class="swatch" style={{ background: colour }} /> {label}{" "}
          <span class="muted number">{formatShare(shareOf(ns, whole))}</span>
        </li>
      ))}
    </ul>
  );
}
