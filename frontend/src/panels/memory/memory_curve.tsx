/** Memory in use and reserved over time, as areas. Each bin shows its most, so that no peak is lost at any zoom. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { fetchMemoryCurve } from "../../api/client";
import type { MemoryCurveResponse, MemoryDevice } from "../../api/types";
import { LeftOut } from "../../components/left_out";
import { ErrorBox, Loading } from "../../components/message";
import { useWidth } from "../../components/use_width";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, navigateStep, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { formatBytes, sizeUnit } from "../../format/bytes";
import { exactNumber } from "../../format/number";
import { formatDuration } from "../../format/time";
import { withUnit } from "../../format/unit";
import { categoryColour, phaseColour } from "../../model/memory_categories";
import {
  byteTicks,
  cutOf,
  ENDS,
  isWithin,
  iterationTicks,
  layersOf,
  marksOf,
  roundMoments,
  runsOf,
} from "../../model/memory_curve";
import { mergedPhases } from "../../model/memory_phases";
import type { View } from "../../model/timeline_link";
import { wholeNumber } from "../../model/url_state";
import { keyedPhases, PHASE_OPACITY, PhaseSpan, STRIP } from "./phase_span";
import { Reading, stretchOf } from "./reading";

const HEIGHT = 280;
const LEFT = 74;
/** What is left of a part of the axis that is cut out. */
const CUT = 14;
/** Of the labels below. */
const LINE = 16;
const TOP = 8;
/** A row above the curve for the names of marks, so that no line crosses them. */
const NAMES = 14;
const MOST_TIMES = 2;
/** Marks of segments that are nearer, px, cannot be told apart: they are one. */
const MARK_ROOM = 6;

/** The part of the recording that the curve begins with, where that is not all of it. */
export interface Opening {
  part: View;
  whole: View;
  /** What the part is called: `iterations 2 to 5`. */
  name: string;
}

interface CurveProps {
  id: string;
  device: MemoryDevice;
  /** The clicked moment. */
  time: number | null;
  opening?: Opening | null;
  /** What stands below it, and is the legend of the categories that are drawn, the uppermost first. */
  below?: (drawn: readonly string[]) => ComponentChildren;
}

/** In place of the beginning of a window: all of the recording, though the curve begins with a part. */
const WHOLE = "whole";

/** The window that is zoomed into; null for the whole recording. */
export function useMemoryRange(): readonly [number, number] | null {
  const url = useUrl();
  const [low, high] = [wholeNumber(url["memory.from"]), wholeNumber(url["memory.to"])];
  return low !== null && high !== null && low < high ? [low, high] : null;
}

/** Back from a window. */
export function WholeRecording() {
  if (useMemoryRange() === null) return null;
  return (
    <button type="button" class="button" onClick={() => navigate({ "memory.from": WHOLE, "memory.to": null }, true)}>
      Whole recording
    </button>
  );
}

export function MemoryCurve({ id, device, time, opening = null, below }: CurveProps) {
  const scope = useScope();
  const [measure, width] = useWidth(1000);
  const asked = useMemoryRange();
  const begun = useUrl()["memory.from"];
  const isAsked = asked !== null || begun === WHOLE;
  const begins = isAsked || (time !== null && !isWithin(time, opening?.part)) ? null : opening;
  const range = begins === null ? asked : ([begins.part.from, begins.part.to] as const);
  const [pointed, setPointed] = useState<number | null>(null);
  // Before the first event is -1.
  const text = (moment: number): string => String(Math.max(moment, 0));
  const setRange = (next: readonly [number, number] | null): void =>
    navigate({ "memory.from": next === null ? WHOLE : text(next[0]), "memory.to": next && text(next[1]) }, true);
  // The Dashboard shows the curve, too.
  const onMoment = (moment: number): void => navigateStep({ view: "memory", "memory.at": text(moment) });
  /** Back to what the curve began with: a moment outside of it would show all. */
  const showPart = (part: View): void =>
    navigate(
      {
        "memory.from": null,
        "memory.to": null,
        ...(time === null || isWithin(time, part) ? {} : { "memory.at": null }),
      },
      true,
    );
  const [drag, setDrag] = useState<readonly [number, number] | null>(null);
  const asking = useRef<AbortController | null>(null);
  const bins = Math.max(50, Math.min(Math.round((width - LEFT) / 2), 1000));
  const query = useQuery<MemoryCurveResponse>(
    scopeKey(scope, "memory_curve", id, range?.[0], range?.[1], bins),
    (signal) => fetchMemoryCurve(scope, Number(id), range, bins, signal),
  );
  const curve = query.data;
  if (curve === null)
    return (
      <div ref={measure}>
        {query.error === null ? (
          <Loading what="the curve" height={HEIGHT} />
        ) : (
          <ErrorBox error={query.error} retry={query.reload} />
        )}
      </div>
    );
  const { from, to, unit, in_use_max_bytes: inUse, reserved_max_bytes: reserved, capacity_bytes: capacity } = curve;
  const most = Math.max(...inUse, ...(reserved ?? [0]), 1);
  // A capacity far above would press the curve down.
  const shownCapacity = capacity !== null && capacity < most * MOST_TIMES ? capacity : null;
  const top = Math.max(most * 1.12, (shownCapacity ?? 0) * 1.04);
  const axisUnit = sizeUnit(top);
  const inner = width - LEFT;
  const inUseNamed = device.relative ? "above the start" : "in use";
  const peakIsLeft = curve.peak_at < (from + to) / 2;
  const layers = layersOf(curve);
  const drawn = layers.map(({ category }) => category);
  const downwards = [...drawn].reverse();
  const iterations = unit === "ns" ? iterationTicks(device.iterations, { from, to }, inner) : [];
  const marks = marksOf(device, unit === "ns", { from, to });
  const namesTop = curve.phases.length > 0 ? TOP + STRIP : TOP;
  const plotTop = namesTop + NAMES * Math.max(...marks.map(({ row }) => row + 1), 1);
  // Moments stand below the iterations.
  const plotBottom = HEIGHT - (iterations.length > 0 ? 2 : 1) * LINE - 6;
  const cut = cutOf(curve, top);
  const cutAt = plotBottom - (cut > 0 ? CUT : 0);
  const y = (bytes: number): number =>
    bytes < cut ? plotBottom - (bytes / cut) * CUT : plotTop + (1 - (bytes - cut) / (top - cut)) * (cutAt - plotTop);
  const x = (moment: number): number => LEFT + ((moment - from) / Math.max(to - from, 1)) * inner;
  const parts = mergedPhases(curve.phases, (to - from) / Math.max(inner, 1));
  const phases = keyedPhases(parts, (from, to) => x(to) - x(from));
  const momentAt = (event: MouseEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left - LEFT) / Math.max(inner, 1), 0), 1);
    return Math.round(from + share * (to - from));
  };
  const shown = (moment: number): string =>
    unit === "ns" ? formatDuration(moment) : moment < 0 ? "start" : `event ${exactNumber(moment)}`;
  const finish = (event: MouseEvent): void => {
    if (drag === null) return;
    const end = momentAt(event);
    setDrag(null);
    // What is read at the pointer would cover the neighbours of the moment, which the list tells.
    setPointed(null);
    asking.current?.abort();
    if (event.detail > 1) return; // the second click of two goes back, and is of no moment
    const [low, high] = [Math.min(drag[0], end), Math.max(drag[0], end)];
    if (x(high) - x(low) > 6) setRange([low, high]);
    else pick(end);
  };
  /** A pixel stands for several moments: a click means the one when most is in use, as is read at the pointer. */
  const pick = (moment: number): void => {
    const stretch = stretchOf(moment, curve);
    if (stretch === null) {
      onMoment(moment);
      return;
    }
    asking.current = new AbortController();
    const { signal } = asking.current;
    fetchMemoryCurve(scope, Number(id), stretch, 1, signal).then(
      ({ peak_at: peak }) => onMoment(peak),
      () => !signal.aborted && onMoment(moment),
    );
  };
  const now = Math.min(Math.max(time ?? curve.peak_at, from), to);
  const step = (by: number): void => onMoment(Math.round(Math.min(Math.max(now + by * (to - from), from), to)));
  const lookCloser = (): void => {
    const quarter = (to - from) / 4;
    setRange([Math.round(Math.max(now - quarter, from)), Math.round(Math.min(now + quarter, to))]);
  };
  const label = `Memory in use on GPU ${id}: at most ${formatBytes(device.peak_bytes)}${reserved === null ? "" : `, reserved at most ${formatBytes(device.peak_reserved_bytes)}`}. Arrow keys move the moment, + zooms in, Escape shows all.`;
  return (
    <>
      <div ref={measure} class="memory-frame" style={{ "--plot-left": `${LEFT}px` }}>
        <svg
          class="picture memory-curve"
          width={width}
          height={HEIGHT}
          role="img"
          tabindex={0}
          aria-label={label}
          onMouseDown={(event) => setDrag([momentAt(event), momentAt(event)])}
          onMouseMove={(event) => {
            setPointed(momentAt(event));
            if (drag !== null) setDrag([drag[0], momentAt(event)]);
          }}
          onMouseUp={finish}
          onMouseLeave={() => {
            setDrag(null);
            setPointed(null);
          }}
          onDblClick={() => navigate({ "memory.from": WHOLE, "memory.to": null, "memory.at": null }, true)}
          onKeyDown={(event) => {
            if (event.key === "ArrowLeft") step(-0.01);
            else if (event.key === "ArrowRight") step(0.01);
            else if (event.key === "+") lookCloser();
            else if (event.key === "Escape") setRange(null);
            else return;
            event.preventDefault();
          }}
        >
          {parts.map(({ phase, from: begin, to: end }, number) => (
            <PhaseSpan
              key={number}
              phase={phase}
              x={x(begin)}
              width={x(end) - x(begin)}
              named={phases.length === 0}
              about={unit === "ns" ? `${phase}: ${formatDuration(begin)} to ${formatDuration(end)}` : phase}
            />
          ))}
          {byteTicks(top, cut).map((bytes) => (
            <g key={bytes}>
              <line class="grid-line" x1={LEFT} x2={width} y1={y(bytes)} y2={y(bytes)} />
              <text class="axis" x={LEFT - 6} y={y(bytes) + 4} text-anchor="end">
                {bytes === 0
                  ? device.relative
                    ? "start"
                    : "0"
                  : `${device.relative ? "+" : ""}${withoutZeros(withUnit(bytes, axisUnit))}`}
              </text>
            </g>
          ))}
          {reserved !== null && <path class="memory-reserved" d={outline(reserved, inner, y, false)} />}
          {layers.map(({ category, upTo }) => (
            <path key={category} fill={categoryColour(category)} d={outline(upTo, inner, y, true)} />
          ))}
          <path class={layers.length > 0 ? "memory-outline" : "memory-in-use"} d={outline(inUse, inner, y, true)} />
          {cut > 0 && <path class="memory-cut" d={`M${LEFT - 6} ${cutAt}H${width}`} />}
          {shownCapacity !== null && (
            <g>
              <line class="memory-capacity" x1={LEFT} x2={width} y1={y(shownCapacity)} y2={y(shownCapacity)} />
              {/* At the side where the peak is not. */}
              <text
                class="axis"
                x={peakIsLeft ? width - 4 : LEFT + 4}
                y={y(shownCapacity) - 4}
                text-anchor={peakIsLeft ? "end" : "start"}
              >
                the GPU's {formatBytes(shownCapacity)}
              </text>
            </g>
          )}
          {iterations.map(({ number, at, named }) => (
            <g key={number}>
              {at > from && (
                <line
                  class="memory-tick"
                  x1={x(at)}
                  x2={x(at)}
                  y1={plotTop}
                  y2={named ? plotBottom + LINE : plotBottom}
                />
              )}
              {named && (
                <text class="axis" x={x(at) + 4} y={plotBottom + LINE}>
                  {number}
                </text>
              )}
            </g>
          ))}
          {iterations.length > 0 && (
            <text class="axis" x={LEFT - 6} y={plotBottom + LINE} text-anchor="end">
              iteration
            </text>
          )}
          {roundMoments(from, to, inner).map((moment) => (
            <g key={moment}>
              {iterations.length === 0 && (
                <line class="memory-tick" x1={x(moment)} x2={x(moment)} y1={plotTop} y2={plotBottom} />
              )}
              <text class="axis" x={x(moment)} y={HEIGHT - 6} text-anchor="middle">
                {withoutZeros(shown(moment))}
              </text>
            </g>
          ))}
          {marks.map(({ at, name, row }, number) => (
            <g key={`${name} ${at} ${number}`}>
              <line class="memory-mark" x1={x(at)} x2={x(at)} y1={plotTop - NAMES * (row + 1)} y2={plotBottom} />
              {/* Failures in a row have one name. */}
              {(marks[number - 1]?.row !== row || x(at) - x(marks[number - 1]?.at ?? from) > ENDS) && (
                <text
                  class="axis"
                  x={x(at) + (x(at) > width - ENDS ? -4 : 4)}
                  y={plotTop - NAMES * row - 4}
                  text-anchor={x(at) > width - ENDS ? "end" : "start"}
                >
                  {name}
                </text>
              )}
            </g>
          ))}
          {(
            [
              ["memory-segment-mark", "taken from the GPU", curve.segments_taken],
              ["memory-segment-back", "given back", curve.segments_returned],
            ] as const
          ).map(([kind, what, places], row) =>
            runsOf(places, (MARK_ROOM / Math.max(inner, 1)) * inUse.length).map(([first, last]) => {
              const moment = (bin: number): number => Math.round(from + (bin / inUse.length) * (to - from));
              return (
                <rect
                  key={`${kind} ${first}`}
                  class={kind}
                  x={x(moment(first))}
                  width={Math.max(x(moment(last + 1)) - x(moment(first)), 1.5)}
                  y={plotBottom + 1 + row * 3}
                  height={2.5}
                  data-tip={`Segments ${what}: ${shown(moment(first))} to ${shown(moment(last + 1))}`}
                />
              );
            }),
          )}
          {time !== null && time >= from && time <= to && (
            <line class="memory-moment" x1={x(time)} x2={x(time)} y1={plotTop} y2={plotBottom} />
          )}
          {pointed !== null && drag === null && (
            <line class="memory-pointed" x1={x(pointed)} x2={x(pointed)} y1={plotTop} y2={plotBottom} />
          )}
          {drag !== null && (
            <rect
              class="memory-drag"
              x={Math.min(x(drag[0]), x(drag[1]))}
              width={Math.abs(x(drag[1]) - x(drag[0]))}
              y={plotTop}
              height={plotBottom - plotTop}
            />
          )}
          <g>
            <text class="axis" x={LEFT} y={HEIGHT - 6}>
              {shown(from)}
            </text>
            <text class="axis" x={width - 2} y={HEIGHT - 6} text-anchor="end">
              {shown(to)}
            </text>
          </g>
        </svg>
        {pointed !== null && (
          <Reading
            curve={curve}
            moment={shown(pointed)}
            at={pointed}
            left={x(pointed)}
            width={width}
            top={plotTop}
            drawn={drawn}
            of={device.relative ? "more than at the start" : device.peak_of}
          />
        )}
        {begins !== null && <LeftOut mapped={begins.part} whole={begins.whole} onWhole={() => setRange(null)} />}
        {opening !== null && range === null && (
          <p class="muted timeline-left-out">
            <button type="button" class="link-button" onClick={() => showPart(opening.part)}>
              Show {opening.name} only
            </button>
          </p>
        )}
        <p class="muted note-below">
          {layers.length === 0 ? (
            <Key sample={<span class="swatch memory-swatch" />}>{inUseNamed}</Key>
          ) : (
            below === undefined &&
            downwards.map((category) => (
              <Key key={category} sample={<span class="swatch" style={{ background: categoryColour(category) }} />}>
                {layers.length === 1 && category === "unknown" ? inUseNamed : category}
              </Key>
            ))
          )}
          {phases.map((phase) => (
            <Key
              key={phase}
              sample={<span class="swatch" style={{ background: phaseColour(phase), opacity: PHASE_OPACITY }} />}
            >
              {phase}
            </Key>
          ))}
          {reserved !== null && <Key sample={<Sample />}>reserved by the allocator</Key>}
          {curve.segments_taken.length > 0 && (
            <Key sample={<span class="swatch memory-segment-mark" />}>segments taken from the GPU</Key>
          )}
          {curve.segments_returned.length > 0 && (
            <Key sample={<span class="swatch memory-segment-back" />}>segments given back</Key>
          )}
          {cut > 0 && `The axis is cut between 0 and ${formatBytes(cut)}, which is in use all the time. `}
          {unit === "events" && "The recording has no times: the axis counts events."}
        </p>
      </div>
      {below?.(downwards)}
    </>
  );
}

function Key({ sample, children }: { sample: ComponentChildren; children: ComponentChildren }) {
  return (
    <span class="memory-key">
      {sample} {children}
    </span>
  );
}

/** The line of what is reserved, for the legend. */
function Sample() {
  return (
    <svg class="memory-sample" width={24} height={10} aria-hidden="true">
      <line class="memory-reserved" x2={24} y1={5} y2={5} />
    </svg>
  );
}

/** A round value as it is said: `20 GiB`, `0.5 GiB`. */
const withoutZeros = (value: string): string =>
  value.replace(/(\.\d*?)0+(?=\s)/, (_, kept: string) => (kept === "." ? "" : kept));

/** A line of steps over the bins; closed down to nothing for an area. */
function outline(values: readonly number[], inner: number, y: (bytes: number) => number, closed: boolean): string {
  const wide = inner / Math.max(values.length, 1);
  const points = values.map((value, i) => {
    const left = (LEFT + i * wide).toFixed(1);
    const right = (LEFT + (i + 1) * wide).toFixed(1);
    const height = y(value).toFixed(1);
    return `${left},${height} ${right},${height}`;
  });
  const bottom = y(0).toFixed(1);
  return closed
    ? `M${LEFT},${bottom} L${points.join(" ")} L${(LEFT + inner).toFixed(1)},${bottom} Z`
    : `M${points.join(" L")}`;
}
