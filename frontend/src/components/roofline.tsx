/**
 * The roofline: what each group of ops achieves over how much it computes per byte, below what the GPU could do there.
 * Both axes are logarithmic; the area of a dot is its kernel time, its colour the precision. The five largest have numbers, with
 * their names below, and the distances to their roofs are drawn, which is what they could gain.
 *
 * Keyboard: the arrow keys walk over the dots from the longest on, Enter selects one.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { Dot, Peak } from "../api/types";
import { formatCounted, formatPart, formatScaled, significant, UNKNOWN } from "../format/number";
import { formatShare, shareOf } from "../format/share";
import { columnUnit, formatDuration, type TimeUnit } from "../format/time";
import { inUnit } from "../format/unit";
import { boundsInWords } from "../model/bounds";
import { gainsInFewerBits, precisionColour, precisionLabel } from "../model/precisions";
import {
  along,
  axes,
  decades,
  dotAt,
  dotPlace,
  drawnDots,
  groupedDots,
  radius,
  rateWithGain,
  roofsAt,
  roofsOf,
  tellingNames,
  type Axis,
  type DotGroup,
  type DotPlace,
} from "../model/roofline";
import { distance, dotNumbers, LABEL_LETTER, roofNames, slantedName, type Rise } from "../model/roofline_labels";
import { Breakable } from "./sentence";
import { useHeight, useWidth } from "./use_width";

interface RooflineProps {
  dots: readonly Dot[];
  peaks: readonly Peak[];
  matrixUnit: string;
  /** Precisions whose dots are not drawn. */
  hidden: ReadonlySet<string>;
  /** The op that is selected; empty for none. */
  selected: string;
  /** What keeps the ops off matrix units whose dots stand out; empty for none. */
  cause: string;
  onSelect: (dot: DotGroup | null) => void;
  /** Notes below it. */
  children: ComponentChildren;
}

const LEFT = 62;
const BOTTOM = 38;
const TOP = 14;

export function Roofline({ dots, peaks, matrixUnit, hidden, selected, cause, onSelect, children }: RooflineProps) {
  const [measure, width] = useWidth(800);
  const [measureHeight, height] = useHeight(340);
  const [active, setActive] = useState<number | null>(null);
  /** The dot that was clicked: it has no card until the pointer was elsewhere. */
  const [pressed, setPressed] = useState<number | null>(null);
  const all = groupedDots(drawnDots(dots));
  const shown = all.filter(({ precision }) => !hidden.has(precision));
  const roofs = roofsOf(peaks, new Set(all.map(({ precision }) => precision)), matrixUnit);
  // The axes are those of all dots: hiding some must not move the others.
  const { x, y } = axes(all, roofs);
  const plotWidth = Math.max(width - LEFT - 14, 60);
  const plotHeight = height - TOP - BOTTOM;
  const longest = all[0]?.kernel_ns ?? 0;
  const placeX = (intensity: number): number => along(intensity, x) * plotWidth;
  const placeY = (rate: number): number => (1 - along(rate, y)) * plotHeight;
  const places = shown.map((dot) =>
    dotPlace(
      along(dot.intensity, x),
      along(dot.flops_per_second, y),
      radius(dot.kernel_ns, longest),
      plotWidth,
      plotHeight,
    ),
  );
  const beyond = all.filter(
    ({ intensity, flops_per_second: rate }) =>
      Math.abs(along(intensity, x) - 0.5) > 0.5 || Math.abs(along(rate, y) - 0.5) > 0.5,
  );
  const isSelected = ({ ops }: DotGroup): boolean => selected !== "" && ops.includes(selected);
  const largest = shown.slice(0, MOST_NUMBERS);
  const roofHeights = (at: number): number[] =>
    roofs === null ? [] : roofsAt(roofs, 10 ** (x.from + (at / plotWidth) * (x.to - x.from))).map(placeY);
  const names = roofNames(
    (roofs?.compute ?? []).map(({ label, shortLabel, perSecond, ridge }) => ({
      texts: [label, shortLabel],
      start: ridge === null ? 0 : Math.max(placeX(ridge), 0),
      y: placeY(perSecond),
    })),
    places,
    roofHeights,
    plotWidth,
  );
  // From the middle of a dot up to the roof that it could reach: what a large dot would hide is seen on it.
  const rises = largest.flatMap((dot, i): Rise[] => {
    const [place, best] = [places[i], rateWithGain(dot, roofs?.memoryPerSecond ?? null)];
    if (place?.beyond !== null || best === null || placeY(best) > place.y - LEAST_RISE) return [];
    return [{ x: place.x, top: Math.max(placeY(best), 0), bottom: place.y }];
  });
  const plot = { width: plotWidth, height: plotHeight };
  const numbers = dotNumbers(largest.length, places, names, roofHeights, plot, rises);
  const current = active === null ? undefined : shown[active];
  const at = active === null ? undefined : places[active];

  const onKey = (event: KeyboardEvent): void => {
    const last = shown.length - 1;
    const from = active ?? shown.findIndex(isSelected);
    if (event.key === "ArrowRight" || event.key === "ArrowDown") setActive(Math.min(from + 1, last));
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") setActive(Math.max(from - 1, 0));
    else if (event.key === "Home") setActive(0);
    else if (event.key === "End") setActive(last);
    else if ((event.key === "Enter" || event.key === " ") && current !== undefined) onSelect(current);
    else if (event.key === "Escape" && active !== null) setActive(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const pointed = (event: MouseEvent): number | null => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - LEFT, event.clientY - box.top - TOP];
    // A number is that of its own dot, whatever lies below it.
    const number = numbers.find((each) => distance({ x, y, r: 0 }, each) === 0);
    return number === undefined ? dotAt(places, x, y, 12) : Number(number.text) - 1;
  };
  const onClick = (event: MouseEvent): void => {
    const dot = shown[pointed(event) ?? -1];
    if (dot !== undefined) onSelect(isSelected(dot) ? null : dot);
    // What a click opens must not be covered by what the hover had shown.
    setPressed(active);
  };

  return (
    <div class="roofline" ref={measure}>
      <div
        class={current === undefined ? "roofline-plot" : "roofline-plot pointing"}
        ref={measureHeight}
        role="group"
        aria-label={`Roofline of ${shown.length} groups of ops; the arrow keys read them from the longest on, Enter selects one`}
        tabIndex={0}
        onKeyDown={onKey}
        onBlur={() => setActive(null)}
        onPointerMove={(event) => {
          const next = pointed(event);
          if (next !== active) setPressed(null);
          setActive(next);
        }}
        onPointerLeave={() => {
          setActive(null);
          setPressed(null);
        }}
        onClick={onClick}
      >
        <svg width={width} height={height} role="img" aria-label={`Roofline of ${shown.length} groups of ops`}>
          <g transform={`translate(${LEFT} ${TOP})`}>
            <Grid x={x} y={y} width={plotWidth} height={plotHeight} />
            {shown.map((dot, i) => (
              <DotMark
                key={dot.op_id}
                place={places[i]}
                state={
                  isSelected(dot)
                    ? "dot dot-selected"
                    : i === active
                      ? "dot dot-active"
                      : cause !== "" && !dot.causes.includes(cause)
                        ? "dot dot-dimmed"
                        : "dot"
                }
                colour={precisionColour(dot.precision)}
              />
            ))}
            {roofs !== null && (
              <Roofs roofs={roofs} names={names} places={places} x={x} y={y} width={plotWidth} height={plotHeight} />
            )}
            {rises.map(({ x: at, top, bottom }, i) => (
              <g key={i} class="dot-gain">
                <path class="dot-rise" d={`M${at} ${bottom}V${top}`} />
                <path d={`M${at - 5} ${top}h10`} />
              </g>
            ))}
            {places.map((place, i) =>
              i === active || (shown[i] !== undefined && isSelected(shown[i])) ? (
                <circle key={i} class="dot-ring" cx={place.x} cy={place.y} r={place.r + 3} />
              ) : null,
            )}
            {numbers.map(({ text, from, y: down }) => (
              <text key={text} class="roof-label dot-number" x={from} y={down}>
                {text}
              </text>
            ))}
            <text class="axis-title" x={plotWidth / 2} y={plotHeight + 34} text-anchor="middle">
              Arithmetic intensity (FLOPs per byte)
            </text>
          </g>
          <text class="axis-title" transform={`translate(11 ${TOP + plotHeight / 2}) rotate(-90)`} text-anchor="middle">
            Achieved rate (FLOP/s)
          </text>
        </svg>
        {current !== undefined && at !== undefined && active !== pressed && (
          <DotCard
            dot={current}
            style={{
              top: `${Math.min(at.y, plotHeight - 150) + TOP}px`,
              ...(at.x < plotWidth / 2
                ? { left: `${LEFT + at.x + at.r + 8}px` }
                : { right: `${width - LEFT - at.x + at.r + 8}px` }),
            }}
          />
        )}
      </div>
      <ol class="dot-names" aria-label="The largest">
        {tellingNames(largest, all).map((name, i) => {
          const dot = largest[i];
          return (
            dot !== undefined && (
              <li key={dot.op_id}>
                <button
                  type="button"
                  class="legend-entry"
                  onPointerEnter={() => setActive(i)}
                  onPointerLeave={() => setActive(null)}
                  onClick={() => onSelect(isSelected(dot) ? null : dot)}
                >
                  <strong>{i + 1}</strong>
                  <span class="legend-label">{name}</span>
                  <span class="legend-value">{timeAndGain(dot, columnUnit(longest))}</span>
                </button>
              </li>
            )
          );
        })}
      </ol>
      <p class="muted chart-notes">
        {children}
        {beyond.length > 0 && (
          <span>
            Triangles point to {formatCounted(beyond.length, "group")} beyond the axes, with{" "}
            {formatShare(shareOf(sumOf(beyond), sumOf(all)))} of the time.
          </span>
        )}
      </p>
      <p class="visually-hidden" role="status">
        {current === undefined ? "" : spoken(current)}
      </p>
    </div>
  );
}

const sumOf = (dots: readonly DotGroup[]): number => dots.reduce((sum, { kernel_ns: ns }) => sum + ns, 0);

/** `6.48 ms, could gain 3.67 ms`: all of a list in one unit, so that they can be compared. */
const timeAndGain = ({ kernel_ns: ns, gain_ns: gain }: DotGroup, unit: TimeUnit): string =>
  `${inUnit(ns, unit)} ${unit.name}${gain === null || gain <= 0 ? "" : `, could gain ${inUnit(gain, unit)} ${unit.name}`}`;

/** A shorter line would be hidden by its end, px. */
const LEAST_RISE = 4;

/** So many groups have numbers. */
const MOST_NUMBERS = 5;

/** A dot, or what points to where it lies beyond the axes. */
function DotMark({ place, state, colour }: { place: DotPlace | undefined; state: string; colour: string }) {
  if (place === undefined) return null;
  return place.beyond === null ? (
    <circle class={state} cx={place.x} cy={place.y} r={place.r} fill={colour} stroke={colour} />
  ) : (
    <path
      class={state}
      transform={`translate(${place.x} ${place.y}) rotate(${place.beyond})`}
      d="M-4 -3H4L0 4Z"
      fill={colour}
      stroke={colour}
    />
  );
}

interface PlotProps {
  x: Axis;
  y: Axis;
  width: number;
  height: number;
}

function Grid({ x, y, width, height }: PlotProps) {
  return (
    <>
      {decades(y, 7).map((rate) => {
        const at = (1 - along(rate, y)) * height;
        return (
          <g key={rate}>
            <line class="grid-line" x1="0" x2={width} y1={at} y2={at} />
            <text class="axis-text" x="-7" y={at + 4} text-anchor="end">
              {tick(rate)}
            </text>
          </g>
        );
      })}
      {decades(x, Math.max(Math.floor(width / 60), 2)).map((intensity) => {
        const at = along(intensity, x) * width;
        return (
          <g key={intensity}>
            <line class="grid-line" x1={at} x2={at} y1="0" y2={height} />
            <text class="axis-text" x={at} y={height + 16} text-anchor="middle">
              {tick(intensity)}
            </text>
          </g>
        );
      })}
    </>
  );
}

/** A power of ten without digits behind the point: `100 G`, `0.01`. */
const tick = (value: number): string =>
  value < 1 ? String(Number(value.toPrecision(1))) : formatScaled(value).replace(/\.0+(?= |$)/, "");

interface RoofsProps extends PlotProps {
  roofs: NonNullable<ReturnType<typeof roofsOf>>;
  /** Of the level ones. */
  names: ReturnType<typeof roofNames>;
  /** Where dots are. */
  places: Parameters<typeof slantedName>[3];
}

function Roofs({ roofs, names, places, x, y, width, height }: RoofsProps) {
  const { memoryPerSecond: memory, compute } = roofs;
  const placeX = (intensity: number): number => along(intensity, x) * width;
  const placeY = (rate: number): number => (1 - along(rate, y)) * height;
  const highest = compute[0];
  // The slanted roof from where it enters the plot to the highest compute roof, or out of it.
  const from = memory === null ? 0 : Math.max(10 ** x.from, 10 ** y.from / memory);
  const to = memory === null ? 0 : (highest?.ridge ?? Math.min(10 ** x.to, 10 ** y.to / memory));
  const name = `Memory ${formatScaled(memory, "B/s")}`;
  const at = (intensity: number): [number, number] => [placeX(intensity), placeY((memory ?? 0) * intensity)];
  const middle =
    memory === null || from >= to
      ? 0
      : from * (to / from) ** slantedName(at(from), at(to), name.length * LABEL_LETTER, places);
  const slope =
    memory === null ? 0 : Math.atan2(placeY(memory * to) - placeY(memory * from), placeX(to) - placeX(from));
  return (
    <>
      {memory !== null && from < to && (
        <>
          <line class="roof" x1={placeX(from)} y1={placeY(memory * from)} x2={placeX(to)} y2={placeY(memory * to)} />
          <text
            class="roof-label"
            text-anchor="middle"
            transform={`translate(${placeX(middle)} ${placeY(memory * middle)}) rotate(${(slope * 180) / Math.PI}) translate(0 -6)`}
          >
            {name}
          </text>
        </>
      )}
      {compute.map(({ label, perSecond, ridge, goal }) => (
        <line
          key={label}
          class={goal ? "roof roof-goal" : "roof"}
          x1={ridge === null ? 0 : placeX(Math.max(ridge, 10 ** x.from))}
          x2={width}
          y1={placeY(perSecond)}
          y2={placeY(perSecond)}
        />
      ))}
      {names.map(({ text, to: end, y: base }) => (
        <text key={text} class="roof-label" x={end} y={base} text-anchor="end">
          {text}
        </text>
      ))}
    </>
  );
}

function DotCard({ dot, style }: { dot: DotGroup; style: Record<string, string> }) {
  const path = dot.name.split("/");
  const op = path.pop() ?? "";
  const modules = path.join("/");
  return (
    <div class="hover-card dot-card" style={style}>
      <strong>
        {[op, dot.direction].filter(Boolean).join(" ")}
        {dot.ops.length > 1 && ` ×${dot.ops.length}`}
      </strong>
      {modules !== "" && (
        <p class="dot-name">
          {dot.ops.length > 1 && "longest in "}
          <Breakable text={modules} />
        </p>
      )}
      <dl>
        <Fact term="Kernel time" value={formatDuration(dot.kernel_ns)} />
        <Fact
          term={gainsInFewerBits(dot) ? "Could gain, in 16 bits" : "Could gain"}
          value={dot.gain_ns === null ? UNKNOWN : formatDuration(dot.gain_ns)}
        />
        <Fact term="Bound by" value={boundsInWords(dot.boundTimes, dot.kernel_ns) || UNKNOWN} />
        <Fact
          term={`Achieved, ${precisionLabel(dot.precision)}`}
          value={
            dot.peak_flops_per_second === null
              ? formatScaled(dot.flops_per_second, "FLOP/s")
              : formatPart(dot.flops_per_second, dot.peak_flops_per_second, "FLOP/s")
          }
        />
        <Fact term="Of peak" value={formatShare(dot.peak_fraction)} />
        <Fact term="Intensity" value={`${significant(dot.intensity)} FLOPs/byte`} />
      </dl>
    </div>
  );
}

const Fact = ({ term, value }: { term: string; value: string }) => (
  <>
    <dt>{term}</dt>
    <dd>{value}</dd>
  </>
);

const spoken = (dot: DotGroup): string =>
  `${dot.op_id}${dot.ops.length > 1 ? ` and ${dot.ops.length - 1} alike` : ""}, ${precisionLabel(dot.precision)}: ${formatDuration(dot.kernel_ns)} kernel time, ` +
  `${dot.gain_ns === null ? "" : `could gain ${formatDuration(dot.gain_ns)}, `}${formatScaled(dot.flops_per_second, "FLOP/s")}, ${formatShare(dot.peak_fraction)} of peak, ` +
  `${significant(dot.intensity)} FLOPs per byte${dot.bound === "" ? "" : `, bound by ${dot.bound}`}`;
