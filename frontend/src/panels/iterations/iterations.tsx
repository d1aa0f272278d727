/** Iterations: all of them as bars, which are aggregated, and how to aggregate others. */
import { useMemo, useState } from "preact/hooks";

import type { DashboardResponse, Diagnosis, IterationsResponse } from "../../api/types";
import { fetchIterations } from "../../api/client";
import { BarLegend, StackedBar } from "../../components/charts/stacked_bar";
import { MarkSteps } from "../../components/mark_steps";
import { Icon } from "../../components/icon";
import { classLabel, TwinTable } from "../../components/iteration_parts";
import { ErrorBox, Loading, Message } from "../../components/message";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatCount } from "../../format/number";
import { formatDuration } from "../../format/time";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useQuery } from "../../frame/use_query";
import { barParts, colourOfClass, meanBar, type Bar, type BarClass, type IterationRow } from "../../model/iterations";
import { mainDevice } from "../../model/parts";
import { graphTimeOf, isWarmUp, splitRows, stepOf, type Step } from "../../model/step";
import { around, clamped, toAsk, zoomed, type Window } from "../../model/iteration_window";
import { excesses } from "../../model/spread";
import { Bars, plotWidthOf } from "./bars";
import { IterationsBand } from "./iterations_band";
import { Overview } from "./overview";
import { RangeForm } from "./range_form";
import { SelectedIteration, selectingIteration, useSelected } from "./selected_iteration";
import { useChoice } from "./use_choice";
import { askedWindow, useZoom } from "./use_window";
import { useOneStop } from "../../components/walking";

/** Asks for the visible part and some more on both sides; before anything is known, for all. */
function useIterations(width: number) {
  const scope = useScope();
  const { from, to } = askedWindow(useUrl());
  const wide = Math.ceil(plotWidthOf(width) / 200) * 200;
  const asked =
    from === null || to === null || to <= from
      ? { from: null, to: null, bins: Math.min(Math.ceil(wide / 3), 2000) }
      : toAsk({ from, to }, { from: 0, to: Number.MAX_SAFE_INTEGER }, wide);
  return useQuery<IterationsResponse>(scopeKey(scope, asked), (signal) =>
    fetchIterations(scope, asked.from, asked.to, asked.bins, signal),
  );
}

interface IterationsProps {
  data: DashboardResponse;
  /** Whether this server aggregates anew. */
  reaggregate: boolean;
}

export function Iterations({ data, reaggregate: allowed }: IterationsProps) {
  const [measure, width] = useWidth(900);
  const query = useIterations(width);
  const diagnosis = useDiagnosis();
  const step = useMemo(() => (diagnosis.data === null ? null : stepOf(diagnosis.data, data)), [diagnosis.data, data]);
  const iterations = query.data;
  const rows = useMemo(
    () => splitRows(iterations?.rows ?? [], diagnosis.data, data),
    [iterations, diagnosis.data, data],
  );
  if (iterations === null || (diagnosis.data === null && diagnosis.loading))
    return query.error === null ? (
      <Loading what="the iterations" />
    ) : (
      <ErrorBox error={query.error} retry={query.reload} />
    );
  if (iterations.total === 0 || iterations.first === null || iterations.last === null)
    return (
      <Message title="No iteration was found">
        <p>
          <MarkSteps framework={data.framework} format={data.profile.format} />.
        </p>
      </Message>
    );
  return (
    <div class="stacked">
      <IterationsBand data={data} diagnosis={diagnosis.data} step={step} />
      <Chart
        data={data}
        split={rows}
        step={step}
        iterations={iterations}
        allowed={allowed}
        measure={measure}
        width={width}
        busy={query.loading}
        diagnosis={diagnosis.data}
        whole={{ from: iterations.first, to: iterations.last + 1 }}
      />
      <SelectedIteration
        data={data}
        graphsIn={(number) => (diagnosis.data === null ? 0 : graphTimeOf(diagnosis.data, data, number))}
        rows={rows ?? iterations.rows}
      />
    </div>
  );
}

/** A single iteration lies as a bar, that of the Dashboard: there is none to compare it with. */
function OnlyIteration({
  row,
  step,
  label,
}: {
  row: IterationRow;
  step: Step | null;
  label: (key: BarClass) => string;
}) {
  const segments =
    step?.segments ??
    barParts(row, new Set()).map(({ key, ns }) => ({
      ...{ key, ns, label: label(key), colour: colourOfClass(key) },
      ...{ about: "", to: null },
    }));
  const whole = step?.wall_ns ?? row.duration_ns;
  const [drawn, recorded] = [whole, row.duration_ns].map(formatDuration);
  return (
    <>
      <StackedBar segments={segments} whole_ns={whole} label="The only iteration" height={40} />
      <BarLegend segments={segments} whole_ns={whole} />
      {drawn !== recorded && <p class="muted">Shares of the {drawn} from first to last GPU work.</p>}
    </>
  );
}

/** Shows something below the chart, from its head. */
function Disclosure(props: { open: boolean; onToggle: (open: boolean) => void; children: string }) {
  const { open, onToggle, children } = props;
  return (
    <button type="button" class="button toggle" aria-expanded={open} onClick={() => onToggle(!open)}>
      {children}
    </button>
  );
}

/** So many can be told apart without zooming. */
const FEW = 12;

interface ChartProps {
  data: DashboardResponse;
  allowed: boolean;
  iterations: IterationsResponse;
  split: Bar[] | null;
  step: Step | null;
  measure: (element: HTMLElement | null) => void;
  width: number;
  busy: boolean;
  whole: Window;
  diagnosis: Diagnosis | null;
}

function Chart({ data, iterations, split, step, allowed, measure, width, busy, whole, diagnosis }: ChartProps) {
  const rows = split ?? iterations.rows;
  const only = iterations.total === 1 ? rows[0] : undefined;
  const odd = useMemo(() => excesses(rows), [rows]);
  const zoom = useZoom(whole);
  const tools = useOneStop<HTMLDivElement>();
  const selected = useSelected(data);
  const choice = useChoice(data, iterations);
  const { iter_start: start, iter_stop: stop } = iterations;
  const { settled, window } = zoom;
  const all = settled.from <= whole.from && settled.to >= whole.to;
  const profiled = start === null || stop === null ? null : around(start, stop, whole);
  const narrower = profiled !== null && (profiled.from > whole.from || profiled.to < whole.to) ? profiled : null;
  const gpu =
    diagnosis !== null && Object.keys(diagnosis.mean.devices).length > 1 ? (mainDevice(diagnosis)?.[0] ?? null) : null;
  const nowProfiled =
    profiled !== null && Math.abs(settled.from - profiled.from) < 0.2 && Math.abs(settled.to - profiled.to) < 0.2;
  const zoomable = only === undefined && (!all || (iterations.total ?? 0) > FEW);
  const middle = (window.from + window.to) / 2;
  const [forming, setForming] = useState(choice.changed || data.iterations.source.kind === "whole_capture");
  const [listed, setListed] = useState(false);
  const formed = forming || choice.changed;
  return (
    <Panel
      title="Iterations"
      walked
      about="Each bar is one iteration, split like the bar of the Dashboard; where that does not tell all of them, like the Resource Usage Breakdown. Pale or grey bars are outside the aggregation, the dashed line is the median, and what is many times as long as the next is cut. A click, or Enter, shows an iteration below; the boundaries at the left and right choose which a new aggregation takes."
      tools={
        <>
          {zoomable && (
            <div class="button-group" role="group" aria-label="Zoom">
              <button
                type="button"
                class="icon-button"
                aria-label="Zoom in"
                data-tip="Zoom in (+ or mouse wheel)"
                onClick={() => zoom.show(zoomed(window, whole, 0.5, middle))}
              >
                <Icon name="plus" />
              </button>
              <button
                type="button"
                class="icon-button"
                aria-label="Zoom out"
                data-tip="Zoom out (- or mouse wheel)"
                disabled={all}
                onClick={() => zoom.show(zoomed(window, whole, 2, middle))}
              >
                <Icon name="minus" />
              </button>
            </div>
          )}
          <div class="button-group">
            <Disclosure open={formed} onToggle={setForming}>
              New aggregation
            </Disclosure>
            {only === undefined && (
              <Disclosure open={listed} onToggle={setListed}>
                As a table
              </Disclosure>
            )}
          </div>
          <ul class="badges">
            {split !== null && gpu !== null && <li class="badge">GPU {gpu}</li>}
            <li class="badge">Total {formatCount(iterations.total)}</li>
            <li class="badge">Profiled {formatCount(iterations.profiled)}</li>
            {start !== null && <li class="badge">Start {formatCount(start)}</li>}
            {stop !== null && <li class="badge">Stop {formatCount(stop)}</li>}
          </ul>
        </>
      }
    >
      {only !== undefined ? (
        <OnlyIteration row={only} step={step} label={classLabel(data)} />
      ) : (
        <>
          {(!all || narrower !== null || iterations.binned) && (
            <div class="iterations-tools" {...tools}>
              {/* All by itself would be no choice. */}
              {(!all || narrower !== null) && (
                <div class="button-group" role="group" aria-label="Iterations shown">
                  <button type="button" class="button toggle" aria-pressed={all} onClick={() => zoom.show(whole)}>
                    All iterations
                  </button>
                  {narrower !== null && (
                    <button
                      type="button"
                      class="button toggle"
                      aria-pressed={nowProfiled}
                      onClick={() => zoom.show(narrower)}
                    >
                      Profiled iterations
                    </button>
                  )}
                </div>
              )}
              {iterations.binned && (
                <p class="muted">
                  Each bar is the mean of up to {formatCount(iterations.bin_size)} iterations; zoom in to see each of
                  them.
                </p>
              )}
            </div>
          )}
          <div aria-busy={busy}>
            <Bars
              data={{ ...iterations, rows }}
              whole={whole}
              zoom={zoom}
              label={classLabel(data)}
              odd={odd}
              selected={selected}
              onSelect={(row) => {
                if (row.count > 1) zoom.show(around(row.iteration, row.stop_iteration, whole));
                else navigate(selectingIteration(row.iteration), true);
              }}
              whyOutside={({ iteration }) =>
                diagnosis !== null && isWarmUp(iteration, diagnosis, data) ? "warm-up" : ""
              }
              start={choice.sameIterations ? choice.start : null}
              stop={choice.sameIterations ? choice.stop : null}
              movable={allowed}
              onRange={choice.setRange}
              measure={measure}
              width={width}
            />
          </div>
          {!all && <Overview whole={whole} zoom={zoom} start={start} stop={stop} />}
        </>
      )}
      {formed && <RangeForm data={data} iterations={iterations} choice={choice} allowed={allowed} />}
      {listed && (
        <TwinTable
          rows={rows
            .filter(({ iteration, stop_iteration: last }) => {
              const part = clamped(settled, whole, 1);
              return last + 1 > part.from && iteration < part.to;
            })
            .map(meanBar)}
          label={classLabel(data)}
          unit="iteration"
        />
      )}
    </Panel>
  );
}
