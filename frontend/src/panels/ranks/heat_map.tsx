/** A measure of all ranks in all iterations: arrow keys walk over the cells, Enter opens the rank at the iteration. */
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { fetchJobCells } from "../../api/client";
import type { JobCells, RankJob } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { ErrorBox, Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { columnUnit, readableAndExact } from "../../format/time";
import { withUnit } from "../../format/unit";
import { useScope } from "../../frame/scope";
import { ThemeContext } from "../../frame/theme";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { wholeNumber, type Changes } from "../../model/url_state";
import {
  decodeCells,
  draggedOver,
  facetOf,
  firstMeasure,
  labelsOf,
  MEASURES,
  rankLabel,
  rowsShown,
  scaleOf,
  sortedRows,
  sortsOf,
  zoomedRange,
  type Measure,
  type Range,
  type Sort,
} from "../../model/ranks";
import { draw } from "./heat_canvas";
import { HeatTable } from "./heat_table";
import { RankLink, toRank } from "./rank_link";
import { Noise, ScaleBar } from "./scale";
import { ALL, ShownPart, type Shown } from "./shown_part";

/** What the number of an iteration needs below its column. */
const EACH_LABEL = 70;
const LABELS = 92;
const FEW_ROWS = 16;
const MOST_HEIGHT = 520;
const LABEL_HEIGHT = 14;
/** Above the cells their name and unit, below them the iterations and the scale. */
const AROUND = 71;
/** Page Up and Page Down walk so many times from one end to the other. */
const PAGES = 16;

export function HeatMap({ job }: { job: RankJob }) {
  const { profile, round } = useScope();
  const url = useUrl();
  const first = firstMeasure(job);
  const measure = chosenOf(MEASURES, url["ranks.measure"] ?? first);
  const sort = chosenOf(sortsOf(job), url["ranks.sort"]);
  const table = url["ranks.table"] === "1";
  const [from, to] = [wholeNumber(url["ranks.from"]), wholeNumber(url["ranks.to"])];
  const query = useQuery(`${profile} ${round} ${measure} ${from} ${to}`, (signal) =>
    fetchJobCells(profile, measure, from, to, signal),
  );
  const about = MEASURES.find(([id]) => id === measure)?.[2] ?? "";
  return (
    <Panel
      title="Ranks and Iterations"
      about={`${about} One row per rank, one column per iteration. A click or Space selects a cell, a double click or Enter opens the rank at that iteration; arrow keys, Page Up, Page Down, Home and End walk over the cells. Dragging over iterations, ranks or both zooms in, as + does; - zooms out, Escape shows all.`}
      tools={
        <>
          <Choice
            label="Measure"
            options={MEASURES}
            value={measure}
            to={(id) => ({ "ranks.measure": id === first ? null : id })}
          />
          <div class="rank-sorting">
            <Choice
              label="Sort by"
              shown
              options={sortsOf(job)}
              value={sort}
              to={(id) => ({ "ranks.sort": id === "rank" ? null : id, "ranks.rows": null })}
            />
            <button
              type="button"
              class="button toggle"
              aria-pressed={table}
              onClick={() => navigate({ "ranks.table": table ? null : "1" }, true)}
            >
              Table
            </button>
          </div>
        </>
      }
    >
      {query.error !== null && !query.loading && <ErrorBox error={query.error} retry={query.reload} />}
      {query.data === null ? (
        query.error === null && <Loading what="the iterations" height={heightOf(job.ranks.rank.length) + AROUND} />
      ) : (
        <Cells job={job} cells={query.data} measure={measure} sort={sort} table={table} />
      )}
    </Panel>
  );
}

/** Of a row; of few rows each has room for numbers. */
const rowHeight = (rows: number): number => (rows <= FEW_ROWS ? 22 : Math.max(MOST_HEIGHT / rows, 0.5));

const heightOf = (rows: number): number => Math.round(rowHeight(rows) * rows);

interface CellsProps {
  job: RankJob;
  cells: JobCells;
  measure: Measure;
  sort: Sort;
  table: boolean;
}

function Cells({ job, cells, measure, sort, table }: CellsProps) {
  const values = useMemo(() => decodeCells(cells), [cells]);
  const all = useMemo(() => sortedRows(job, values, cells, sort), [job, values, cells, sort]);
  const [top, bottom] = rowsShown(useUrl()["ranks.rows"], all.length);
  const rows = useMemo(() => all.slice(top, bottom + 1), [all, top, bottom]);
  const facets = useMemo(() => rows.map((row) => facetOf(job, row * cells.ranks, sort)), [job, cells, rows, sort]);
  const iterations = job.iterations_by_number.iteration;
  const text = ([place, column]: Cell): string => {
    const row = rows[place] ?? 0;
    const rank = job.ranks.rank[row * cells.ranks] ?? 0;
    const value = values[row * cells.columns + column] ?? NaN;
    const ranks = cells.ranks > 1 ? ` to ${rank + cells.ranks - 1}, the largest of them` : "";
    const number = iterations[cells.first + column * cells.iterations] ?? column;
    const description = Number.isNaN(value) ? "not recorded" : readableAndExact(value);
    return `${rankLabel(job, rank)}${ranks}, iteration ${number}: ${description}`;
  };
  const scale = useMemo(() => {
    const { columns } = cells;
    const seen = rows.flatMap((row) => [...values.subarray(row * columns, (row + 1) * columns)]);
    return scaleOf(seen, measure !== "duration" && measure !== "compute");
  }, [values, rows, cells, measure]);
  const shown = { job, cells, values, rows, top, count: all.length, largest: scale?.high ?? 0 };
  const name = MEASURES.find(([id]) => id === measure)?.[1] ?? "";
  return (
    <div class="heat-map">
      <p class="heat-head">{scale === null ? name : `${name} (${columnUnit(scale.high).name})`}</p>
      {table ? <HeatTable {...shown} /> : <Picture {...shown} scale={scale} name={name} facets={facets} text={text} />}
    </div>
  );
}

interface PictureProps extends Shown {
  scale: ReturnType<typeof scaleOf>;
  /** Of the measure. */
  name: string;
  /** The host or stage of each row, where they are sorted by it. */
  facets: readonly string[];
  text: (cell: Cell) => string;
}

/** Place of a row among those drawn, and column. */
type Cell = [place: number, column: number];

/** A drag, and where it began on the screen. */
interface Drag {
  from: Cell;
  to: Cell;
  began: readonly [x: number, y: number];
  moved: readonly [across: number, down: number];
}

function Picture({ job, cells, scale, name, values, rows, top, count, facets, text }: PictureProps) {
  const theme = useContext(ThemeContext);
  const [measureWidth, width] = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { first, columns } = cells;
  // By its places among all, so that it stays where it is when others are shown.
  const [point, setPoint] = useState<Cell | null>(null);
  const pointed: Cell = point === null ? [-1, -1] : [point[0] - top, Math.floor((point[1] - first) / cells.iterations)];
  const isIn = (at: number, of: number): boolean => at >= 0 && at < of;
  const active = isIn(pointed[0], rows.length) && isIn(pointed[1], columns) ? pointed : null;
  const setActive = (cell: Cell | null): void =>
    setPoint(cell === null ? null : [top + cell[0], first + cell[1] * cells.iterations]);
  const iterations = job.iterations_by_number.iteration;
  const rankAt = (place: number): number => job.ranks.rank[(rows[place] ?? 0) * cells.ranks] ?? 0;
  const iterationAt = (column: number): number => iterations[first + column * cells.iterations] ?? column;
  const last = Math.min(first + columns * cells.iterations, iterations.length) - 1;
  const isPart = last - first + 1 < iterations.length || rows.length < count;
  const [drag, setDrag] = useState<Drag | null>(null);
  const hasDragged = useRef(false);
  const ofColumns = (range: Range | null): Changes => ({
    "ranks.from": range && String(iterations[range[0]] ?? range[0]),
    "ranks.to": range && String(iterations[range[1]] ?? range[1]),
  });
  const ofRows = (range: Range | null): Changes => ({ "ranks.rows": range && `${range[0] + 1}-${range[1] + 1}` });
  const [selectedRank, selectedIteration] = (useUrl()["ranks.cell"] ?? "").split(".");
  const selectedPlace = rows.findIndex((_, place) => String(rankAt(place)) === selectedRank);
  const selectedColumn = Array.from({ length: columns }, (_, column) => String(iterationAt(column))).indexOf(
    selectedIteration ?? "",
  );
  const [activePlace, activeColumn] = active ?? [-1, -1];
  const dragged = drag === null ? null : draggedOver(drag.from, drag.to, drag.moved);
  const [dragTop, dragBottom] = dragged?.places ?? [-1, -1];
  const [dragLeft, dragRight] = dragged?.columns ?? [-1, -1];
  const isDragged = dragTop >= 0 || dragLeft >= 0;
  const { low, high } = scale ?? { low: 0, high: 0 };
  const inner = Math.max(width - LABELS, 50);
  const cell = rowHeight(rows.length);
  const height = heightOf(rows.length);
  const printed = rows.length <= FEW_ROWS && inner / columns >= 54;

  useEffect(() => {
    const drawn = canvas.current;
    if (drawn === null) return;
    const shade = isDragged ? { top: dragTop, bottom: dragBottom, left: dragLeft, right: dragRight } : null;
    const active = [activePlace, activeColumn] as const;
    const selected = [selectedPlace, selectedColumn] as const;
    const size = { width: inner, height, rowHeight: cell };
    draw(drawn, size, theme, { values, rows, columns, facets, low, high, printed, shade, framed: [active, selected] });
  }, [
    values,
    rows,
    facets,
    columns,
    inner,
    height,
    cell,
    low,
    high,
    theme,
    activePlace,
    activeColumn,
    isDragged,
    dragTop,
    dragBottom,
    dragLeft,
    dragRight,
    printed,
    selectedPlace,
    selectedColumn,
  ]);

  const at = (event: MouseEvent): Cell => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const place = Math.floor(((event.clientY - box.top) / Math.max(box.height, 1)) * rows.length);
    const column = Math.floor(((event.clientX - box.left) / Math.max(box.width, 1)) * columns);
    return [Math.min(Math.max(place, 0), rows.length - 1), Math.min(Math.max(column, 0), columns - 1)];
  };
  const open = ([place, column]: Cell): void => {
    const to = toRank(job, rankAt(place), "iterations", iterationAt(column));
    if (to !== null) navigate(to, true);
  };
  const select = ([place, column]: Cell): void => {
    const again = place === selectedPlace && column === selectedColumn;
    navigate({ "ranks.cell": again ? null : `${rankAt(place)}.${iterationAt(column)}` });
  };
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-Math.ceil(rows.length / PAGES), 0],
    PageDown: [Math.ceil(rows.length / PAGES), 0],
    Home: [0, -columns],
    End: [0, columns],
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined) {
      const [place, column] = active ?? [0, -1];
      setActive([
        Math.min(Math.max(place + step[0], 0), rows.length - 1),
        Math.min(Math.max(column + step[1], 0), columns - 1),
      ]);
    } else if (event.key === "Enter" && active !== null) open(active);
    else if (event.key === " " && active !== null) select(active);
    else if (event.key === "+" || event.key === "-") {
      const factor = event.key === "+" ? 0.5 : 2;
      const bottom = top + rows.length - 1;
      const [place, column] = point ?? [Math.floor((top + bottom) / 2), Math.floor((first + last) / 2)];
      // Once each row has its name, there is no need for fewer.
      const closer = factor > 1 || cell < LABEL_HEIGHT ? ofRows(zoomedRange([top, bottom], place, factor, count)) : {};
      navigate({ ...closer, ...ofColumns(zoomedRange([first, last], column, factor, iterations.length)) }, true);
    } else if (event.key === "Escape" && drag !== null) setDrag(null);
    else if (event.key === "Escape" && isPart) navigate(ALL, true);
    else if (event.key === "Escape") setActive(null);
    else return;
    event.preventDefault();
  };
  const selected: Cell | null = selectedPlace >= 0 && selectedColumn >= 0 ? [selectedPlace, selectedColumn] : null;
  const description = active === null ? "" : text(active);
  // As wide as its column, each has room for its number.
  const each = cells.iterations === 1 && inner / columns >= EACH_LABEL;
  const named = rows.findIndex((row) => job.ranks.rank[row * cells.ranks] === job.verdict.rank);
  const names = rows.map((row) => {
    const rank = job.ranks.rank[row * cells.ranks] ?? 0;
    return `${rankLabel(job, rank)}${rank === job.rank && job.knows_ranks && cells.ranks === 1 ? " (this)" : ""}`;
  });
  return (
    <div ref={measureWidth}>
      <div class="heat-body" style={{ height: `${height}px` }}>
        <ol class="heat-rows" style={{ width: `${LABELS}px` }} aria-hidden="true">
          {labelsOf(facets, names, Math.ceil(LABEL_HEIGHT / cell), named < 0 ? null : named).map(
            ({ place, text: label, begins }) => (
              <li
                key={place}
                class={place === named ? "heat-named" : undefined}
                style={{ top: `${(place + 0.5) * cell}px` }}
              >
                {begins ? <strong>{label}</strong> : label}
              </li>
            ),
          )}
        </ol>
        <canvas
          ref={canvas}
          style={{ width: `${inner}px`, height: `${height}px` }}
          tabIndex={0}
          role="application"
          aria-label={`${name} of ${rows.length} rows in ${columns} columns. ${description}`}
          data-tip={description === "" || isDragged ? undefined : description}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            const cell = at(event);
            event.currentTarget.setPointerCapture(event.pointerId);
            hasDragged.current = false;
            setDrag({ from: cell, to: cell, began: [event.clientX, event.clientY], moved: [0, 0] });
          }}
          onPointerMove={(event) => {
            const cell = at(event);
            setActive(cell);
            if (drag === null) return;
            const [x, y] = drag.began;
            setDrag({ ...drag, to: cell, moved: [event.clientX - x, event.clientY - y] });
          }}
          onPointerUp={() => {
            setDrag(null);
            if (!isDragged) return;
            hasDragged.current = true;
            const begin = first + dragLeft * cells.iterations;
            const end = Math.min(first + (dragRight + 1) * cells.iterations - 1, last);
            navigate(
              {
                ...(dragLeft >= 0 ? ofColumns([begin, end]) : {}),
                ...(dragTop >= 0 ? ofRows([top + dragTop, top + dragBottom]) : {}),
              },
              true,
            );
          }}
          onPointerCancel={() => setDrag(null)}
          onPointerLeave={() => setActive(null)}
          onClick={(event) => event.detail === 1 && !hasDragged.current && select(at(event))}
          onDblClick={(event) => open(at(event))}
          onKeyDown={onKey}
        />
      </div>
      <div class="heat-axis" style={{ marginLeft: `${LABELS}px` }}>
        {each ? (
          iterations.slice(first, last + 1).map((number, i) => (
            <span key={number} class="heat-each">
              {i === 0 ? `iteration ${number}` : number}
            </span>
          ))
        ) : (
          <span>iteration {iterations[first]}</span>
        )}
        {cells.iterations * cells.ranks > 1 && (
          <span>
            each cell: the largest of {cells.ranks} ranks x {cells.iterations} iterations
          </span>
        )}
        {!each && columns > 1 && <span>{iterations[last]}</span>}
      </div>
      <div class="heat-legend">
        {scale === null ? (
          <span class="muted">{name}: not known of any of these</span>
        ) : (
          <ScaleBar low={withUnit(low, columnUnit(high))} high={withUnit(high, columnUnit(high))} />
        )}
        {printed && <Noise values={values} largest={high} />}
        <ShownPart job={job} cells={cells} rows={rows} count={count} />
        <span class="muted" role="status">
          {description === "" && selected !== null ? text(selected) : description}
        </span>
        {selected !== null && (
          <RankLink job={job} rank={rankAt(selected[0])} view="iterations" iteration={iterationAt(selected[1])}>
            Open {rankLabel(job, rankAt(selected[0])).toLowerCase()} at iteration {iterationAt(selected[1])}
          </RankLink>
        )}
      </div>
    </div>
  );
}
