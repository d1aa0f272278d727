/**
 * All iterations as stacked bars, with the two boundaries of the aggregation.
 *
 * Mouse: a click selects, drag pans, the wheel zooms, a double click shows all; a boundary is dragged, or turned with the wheel.
 * Keyboard: arrow keys read the bars, Enter selects, + and - zoom, Shift and the arrow keys pan; on a boundary the arrow keys and Page Up and Down move it.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import type { IterationsResponse } from "../../api/types";
import { DurationAxis, HoverCard, IterationLegend, spoken } from "../../components/iteration_parts";
import { textWidth } from "../../components/text_width";
import { formatCount, withinSentence } from "../../format/number";
import { axisUnit, formatDuration } from "../../format/time";
import { useUrlSet } from "../../frame/url";
import { BROKEN_AT, captionBaseline, captions, cutAt, rectangle, ticks, type Box } from "../../model/chart";
import { axisLabels, panned, placedBars, zoomed, type PlacedBar, type Window } from "../../model/iteration_window";
import {
  barParts,
  colourOfClass,
  longestShown,
  meanBar,
  medianNs,
  tallest,
  type Bar,
  type BarClass,
} from "../../model/iterations";
import { type Excess } from "../../model/spread";
import { Handle } from "./handle";
import type { Zoom } from "./use_window";

export const LEFT = 56;
/** Room for the word beside the line of the median. */
const RIGHT = 52;
/** Room for what is said above long bars, in two lines. */
const TOP = 34;
const BOTTOM = 18;
/** Low enough that the first kernels of the selected iteration stand above the fold. */
const PLOT_HEIGHT = 104;
const HEIGHT = TOP + PLOT_HEIGHT + BOTTOM;

/** Above the highest bar, of which a frame and what is said of it would touch the ceiling. */
const HEADROOM = 1.08;

/** A press that moves less than this is a click. */
const CLICK_PIXELS = 4;

export const plotWidthOf = (width: number): number => Math.max(width - LEFT - RIGHT, 60);

interface BarsProps {
  data: Omit<IterationsResponse, "rows"> & { rows: Bar[] };
  whole: Window;
  zoom: Zoom;
  label: (key: BarClass) => string;
  /** What iterations unlike the others take more or less than the median, by number. */
  odd: ReadonlyMap<number, Excess>;
  /** The iteration that is shown below, as tables name it. */
  selected: string;
  onSelect: (row: Bar) => void;
  /** Why an iteration is outside of the aggregation, where it is known. */
  whyOutside: (row: Bar) => string;
  start: number | null;
  stop: number | null;
  /** Whether the boundaries can be moved. */
  movable: boolean;
  onRange: (range: { start?: number; stop?: number }) => void;
  measure: (element: HTMLElement | null) => void;
  width: number;
}

export function Bars(props: BarsProps) {
  const {
    data,
    whole,
    zoom,
    label,
    odd,
    selected,
    onSelect,
    whyOutside,
    start,
    stop,
    movable,
    onRange,
    measure,
    width,
  } = props;
  const [hidden, toggle] = useUrlSet("iterations.hidden");
  const [active, setActive] = useState<number | null>(null);
  const [grabbed, setGrabbed] = useState<{ x: number; window: Window; moved: boolean } | null>(null);
  const plot = useRef<HTMLDivElement>(null);
  const plotWidth = plotWidthOf(width);
  const { window } = zoom;
  const scaleX = plotWidth / (window.to - window.from);
  const placed = placedBars(data.rows.map(meanBar), window, plotWidth);
  const rows = placed.map(({ row }) => row);
  const highest = Math.min(tallest(rows, hidden), longestShown(data.rows.map(meanBar)));
  const unit = axisUnit(highest);
  const marks = ticks(highest / unit.size);
  const topNs = Math.max((marks.at(-1) ?? 0) * unit.size, highest * HEADROOM, 1);
  const median = medianNs(data.rows.map(meanBar));
  const current = placed.find(({ row }) => row.iteration === active);
  const chosen = placed.find(({ row }) => String(row.iteration) === selected);
  const inside = placed.filter(({ row }) => row.profiled);
  const outside = pathsOf(
    placed.filter(({ row }) => !row.profiled),
    hidden,
    PLOT_HEIGHT,
    topNs,
  );
  const note = (row: Bar): string => [noteOf(row), overIn(odd.get(row.iteration), label)].filter(Boolean).join(". ");

  const xOf = (iteration: number): number => (iteration - window.from) * scaleX;
  const iterationAt = (clientX: number): number => {
    const left = plot.current?.getBoundingClientRect().left ?? 0;
    return window.from + (clientX - left - LEFT) / scaleX;
  };

  const rowAt = (clientX: number): Bar | undefined => {
    const at = iterationAt(clientX);
    return rows.find(({ iteration, stop_iteration: last }) => iteration <= at && at < last + 1);
  };

  const onWheel = useRef<(event: WheelEvent) => void>(() => undefined);
  onWheel.current = (event) => {
    const next = zoomed(window, whole, Math.exp(Math.sign(event.deltaY) * 0.25), iterationAt(event.clientX));
    // Where all is shown already the page scrolls on.
    if (next.from === window.from && next.to === window.to) return;
    event.preventDefault();
    zoom.show(next);
  };
  useLayoutEffect(() => {
    const element = plot.current;
    const listener = (event: WheelEvent): void => onWheel.current(event);
    element?.addEventListener("wheel", listener, { passive: false });
    return () => element?.removeEventListener("wheel", listener);
  }, []);

  const read = (step: number): void => {
    const from = placed.findIndex(({ row }) => row.iteration === active);
    const next =
      placed[Math.min(Math.max(from < 0 ? (step > 0 ? 0 : placed.length - 1) : from + step, 0), placed.length - 1)];
    setActive(next?.row.iteration ?? null);
  };
  const onKey = (event: KeyboardEvent): void => {
    const middle = active ?? (window.from + window.to) / 2;
    const step = event.key === "ArrowLeft" ? -1 : 1;
    if (/^Arrow(?:Left|Right)$/.test(event.key)) {
      if (event.shiftKey) zoom.show(panned(window, whole, ((window.to - window.from) / 10) * step));
      else read(step);
    } else if (event.key === "+" || event.key === "=") zoom.show(zoomed(window, whole, 0.6, middle));
    else if (event.key === "-") zoom.show(zoomed(window, whole, 1 / 0.6, middle));
    else if (event.key === "Home") setActive(placed[0]?.row.iteration ?? null);
    else if (event.key === "End") setActive(placed.at(-1)?.row.iteration ?? null);
    else if (event.key === "Enter" && current !== undefined) onSelect(current.row);
    else if (event.key === "Escape" && active !== null) setActive(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onMove = (event: PointerEvent): void => {
    if (grabbed !== null) {
      if (!grabbed.moved && Math.abs(grabbed.x - event.clientX) < CLICK_PIXELS) return;
      grabbed.moved = true;
      zoom.show(panned(grabbed.window, whole, (grabbed.x - event.clientX) / scaleX));
      return;
    }
    setActive(rowAt(event.clientX)?.iteration ?? null);
  };
  const onRelease = (event: PointerEvent): void => {
    setGrabbed(null);
    const row = grabbed?.moved === false ? rowAt(event.clientX) : undefined;
    if (row !== undefined) onSelect(row);
  };

  return (
    <div class="iteration-chart" ref={measure}>
      <IterationLegend rows={data.rows} label={label} hidden={hidden} toggle={toggle} />
      <div
        ref={plot}
        class={grabbed === null ? "iteration-plot iteration-bars" : "iteration-plot iteration-bars grabbed"}
        role="group"
        aria-label={`Duration of ${formatCount(data.total)} iterations; arrow keys read the bars, Enter selects one, plus and minus zoom`}
        tabIndex={0}
        onKeyDown={onKey}
        onBlur={() => setActive(null)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setGrabbed({ x: event.clientX, window, moved: false });
          setActive(null);
        }}
        onPointerMove={onMove}
        onPointerUp={onRelease}
        onPointerCancel={() => setGrabbed(null)}
        onPointerLeave={() => setActive(null)}
        onDblClick={() => zoom.show(whole)}
      >
        <svg width={width} height={HEIGHT}>
          <defs>
            <clipPath id="iterations-plot">
              <rect x="0" y="0" width={plotWidth} height={PLOT_HEIGHT} />
            </clipPath>
          </defs>
          <g transform={`translate(${LEFT} ${TOP})`}>
            <DurationAxis marks={marks} unit={unit} topNs={topNs} plotWidth={plotWidth} plotHeight={PLOT_HEIGHT} />
            <g clip-path="url(#iterations-plot)">
              {current !== undefined && (
                <rect class="bar-highlight" x={current.x - 2} y="0" width={current.width + 4} height={PLOT_HEIGHT} />
              )}
              {[...pathsOf(inside, hidden, PLOT_HEIGHT, topNs)].map(([key, path]) => (
                <path key={key} d={path} fill={colourOfClass(key)} shape-rendering="crispEdges" />
              ))}
              <path d={[...outside.values()].join("")} fill="var(--panel)" shape-rendering="crispEdges" />
              <g class="bars-outside">
                {[...outside].map(([key, path]) => (
                  <path key={key} d={path} fill={colourOfClass(key)} shape-rendering="crispEdges" />
                ))}
              </g>
            </g>
            {median > 0 && median <= topNs && (
              <>
                <line
                  class="median-line"
                  x1={0}
                  x2={plotWidth}
                  y1={PLOT_HEIGHT * (1 - median / topNs)}
                  y2={PLOT_HEIGHT * (1 - median / topNs)}
                />
                <text class="axis-text" x={plotWidth + 4} y={PLOT_HEIGHT * (1 - median / topNs)}>
                  median
                  <tspan x={plotWidth + 4} dy="12">
                    {formatDuration(median)}
                  </tspan>
                </text>
              </>
            )}
            {chosen !== undefined && (
              <rect
                class="bar-selected"
                clip-path="url(#iterations-plot)"
                x={chosen.x - 3}
                y={PLOT_HEIGHT * (1 - Math.min(drawnNs(chosen.row, hidden) / topNs, 1)) - 3}
                width={chosen.width + 6}
                height={PLOT_HEIGHT + 6}
              />
            )}
            <Captions
              {...{ placed, hidden, odd, label, whyOutside, topNs, median, plotWidth }}
              grips={[
                ...(start === null ? [] : [gripBox(xOf(start) - GRIP - EDGE)]),
                ...(stop === null ? [] : [gripBox(xOf(stop + 1) + EDGE)]),
              ]}
            />
            {axisLabels(window, plotWidth).map((iteration) => {
              const bar = placed.find(({ row }) => row.iteration <= iteration && iteration <= row.stop_iteration);
              const single = bar !== undefined && bar.row.iteration === bar.row.stop_iteration;
              return (
                <text
                  key={iteration}
                  class={single && bar === chosen ? "axis-text axis-selected" : "axis-text"}
                  x={single ? bar.x + bar.width / 2 : xOf(iteration)}
                  y={PLOT_HEIGHT + 15}
                  text-anchor="middle"
                >
                  {formatCount(iteration)}
                </text>
              );
            })}
            {start !== null && (
              <Handle
                name="Iter Start"
                value={start}
                lowest={whole.from}
                highest={stop ?? whole.to - 1}
                x={xOf(start)}
                plotWidth={plotWidth}
                height={PLOT_HEIGHT}
                movable={movable}
                valueAt={(clientX) => Math.round(iterationAt(clientX))}
                onChange={(value) => onRange({ start: value })}
              />
            )}
            {stop !== null && (
              <Handle
                name="Iter Stop"
                value={stop}
                lowest={start ?? whole.from}
                highest={whole.to - 1}
                x={xOf(stop + 1)}
                plotWidth={plotWidth}
                height={PLOT_HEIGHT}
                movable={movable}
                valueAt={(clientX) => Math.round(iterationAt(clientX)) - 1}
                onChange={(value) => onRange({ stop: value })}
              />
            )}
          </g>
          <text
            class="axis-title"
            transform={`translate(11 ${TOP + PLOT_HEIGHT / 2}) rotate(-90)`}
            text-anchor="middle"
          >
            {data.binned ? `Mean duration (${unit.name})` : `Duration (${unit.name})`}
          </text>
        </svg>
        {current !== undefined && grabbed === null && (
          <HoverCard row={current.row} place={cardPlace(current, width)} label={label} note={note(current.row)} />
        )}
      </div>
      <p class="visually-hidden" role="status">
        {current === undefined ? "" : spoken(current.row, label, note(current.row))}
      </p>
    </div>
  );
}

interface CaptionsProps {
  placed: readonly PlacedBar[];
  hidden: ReadonlySet<string>;
  odd: ReadonlyMap<number, Excess>;
  label: (key: BarClass) => string;
  /** Why an iteration is outside of the aggregation, where it is known. */
  whyOutside: (row: Bar) => string;
  /** Where the boundaries of the aggregation are taken. */
  grips: readonly Box[];
  topNs: number;
  /** Ns, whose line no caption crosses. */
  median: number;
  plotWidth: number;
}

/** The grip of a boundary, with some room. */
const GRIP = 18;
/** A caption at the border of the plot reaches so far beyond it. */
const EDGE = 2;
/** What is said of the last bar keeps away from the boundary behind it. */
const BESIDE_GRIP = 6;
const gripBox = (left: number): Box => ({ left, right: left + GRIP, top: -GRIP - 2, bottom: 0 });

/** What differs by less of the axis is told at the pointer alone. */
const LEAST_CAPTIONED = 0.2;

/**
 * What is said of bars far from the others, where there is room: by how much they differ from the median, and which part makes them so;
 * of those outside the aggregation how long they are, as the sentence above says of them.
 * Those that go on beyond the axis have a gap; how long these are where there is no median to compare with.
 */
function Captions(props: CaptionsProps) {
  const { placed, hidden, odd, label, whyOutside, grips, topNs, median, plotWidth } = props;
  const bars = placed.map(({ row, x, width }) => {
    const over = odd.get(row.iteration)?.over_ns ?? 0;
    const cut = row.duration_ns > topNs;
    const size =
      over === 0 || !row.profiled
        ? formatDuration(row.duration_ns)
        : `${over < 0 ? MINUS : "+"}${formatDuration(Math.abs(over))}`;
    const top = cut ? 0 : PLOT_HEIGHT * (1 - Math.min(Math.max(drawnNs(row, hidden), median) / topNs, 1));
    const outside = row.profiled ? "" : whyOutside(row);
    const part = partIn(odd.get(row.iteration), label);
    // Where no part is most of the difference, that is what is known of it.
    const reason = part === "" && over !== 0 && row.parts !== null ? "several parts" : part;
    const lines = [[size, outside].filter(Boolean).join(", "), reason].filter(Boolean);
    return { row, cut, over: Math.abs(over), lines, left: x, right: x + width, top, bottom: PLOT_HEIGHT };
  });
  const wanted = bars
    .filter(({ over, cut }) => cut || over >= LEAST_CAPTIONED * topNs)
    .sort((a, b) => Number(b.cut) - Number(a.cut) || b.over - a.over);
  return (
    <>
      {bars
        .filter(({ cut }) => cut)
        .map(({ row, left, right }) => (
          <path
            key={row.iteration}
            class="axis-break"
            d={`M${left - 2} ${PLOT_HEIGHT * (1 - BROKEN_AT) + 5}L${right + 2} ${PLOT_HEIGHT * (1 - BROKEN_AT) - 5}`}
          />
        ))}
      {captions(wanted, [...grips, ...bars], plotWidth - BESIDE_GRIP, captionWidth).map((caption) =>
        caption.lines.map((text, line) => (
          <text
            key={`${caption.bar.row.iteration} ${line}`}
            class="axis-text axis-caption"
            x={caption.x}
            y={captionBaseline(caption, line)}
            text-anchor="middle"
          >
            {text}
          </text>
        )),
      )}
    </>
  );
}

/** The letters of the axis are smaller than those of the page. */
const captionWidth = (text: string): number => (textWidth(text) * 11) / 13;

const MINUS = "\u2212";

const drawnNs = (row: Bar, hidden: ReadonlySet<string>): number =>
  barParts(row, hidden).reduce((sum, { ns }) => sum + ns, 0);

const partIn = (excess: Excess | undefined, label: (key: BarClass) => string): string =>
  excess?.part ? withinSentence(label(excess.part.key)) : "";

/** `19.8 ms longer than the median, 14.5 ms of it data loader`; empty where it is not unlike it. */
export function overIn(excess: Excess | undefined, label: (key: BarClass) => string): string {
  if (excess === undefined) return "";
  const { over_ns: over, part } = excess;
  const most = part === null ? "" : `, ${formatDuration(part.ns)} of it ${partIn(excess, label)}`;
  return `${formatDuration(Math.abs(over))} ${over < 0 ? "shorter" : "longer"} than the median${most}`;
}

const noteOf = ({ count, shortest_ns: shortest, longest_ns: longest }: Bar): string =>
  count > 1
    ? `Mean of ${formatCount(count)} iterations of ${formatDuration(shortest)} to ${formatDuration(longest)}`
    : "";

function cardPlace({ x, width: wide }: PlacedBar, width: number): { left: string } | { right: string } {
  const left = LEFT + x;
  return left + wide / 2 < width / 2 ? { left: `${left + wide + 8}px` } : { right: `${width - left + 8}px` };
}

/** One path for each class: thousands of bars stay a handful of elements. */
function pathsOf(
  placed: readonly PlacedBar[],
  hidden: ReadonlySet<string>,
  height: number,
  topNs: number,
): Map<BarClass, string> {
  const pieces = new Map<BarClass, string[]>();
  for (const { row, x, width } of placed) {
    let below = 0;
    for (const { key, ns } of cutAt(barParts(row, hidden), topNs)) {
      const tall = (ns / topNs) * height;
      const list = pieces.get(key) ?? [];
      list.push(rectangle(x, height - below - tall, width, tall));
      pieces.set(key, list);
      below += tall;
    }
  }
  return new Map([...pieces].map(([key, list]) => [key, list.join("")]));
}
