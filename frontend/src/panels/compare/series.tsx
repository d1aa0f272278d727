/** Several runs as a line with their intervals; a click compares a run with the one before it. */
import { useContext } from "preact/hooks";

import { fetchBaselines, fetchSeries } from "../../api/client";
import type { BaselinesResponse, ProfileEntry, SeriesResponse } from "../../api/types";
import { DelayedInput } from "../../components/delayed_input";
import { ErrorBox, Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatMoment } from "../../format/date";
import { formatDuration } from "../../format/time";
import { formatCounted } from "../../format/number";
import { ProfilesContext } from "../../frame/profiles";
import { useScope } from "../../frame/scope";
import { ThemeContext } from "../../frame/theme";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";
import { signedShare } from "../../model/change";
import { runOf } from "../../model/run_name";
import { allRuns, runColour, searchProfiles } from "../../model/picker";

const MOST = 20;
const HEIGHT = 190;
const LEFT = 70;
const PAD = 14;

/** The profiles of a series: the latest imported ones of this program that the search finds. */
function comparable(profiles: readonly ProfileEntry[], related: readonly string[], search: string): ProfileEntry[] {
  return searchProfiles(profiles, search)
    .filter(({ id, state }) => state === "ready" && related.includes(id))
    .sort((x, y) => (x.captured_at ?? 0) - (y.captured_at ?? 0))
    .slice(-MOST);
}

interface SeriesProps {
  /** Whether it is shown unasked. */
  offered?: boolean;
}

export function Series({ offered = false }: SeriesProps) {
  const { profiles } = useContext(ProfilesContext);
  const url = useUrl();
  const search = url["series.search"] ?? "";
  const open = (url.series ?? (offered ? "on" : "off")) === "on";
  const { profile } = useScope();
  const baselines = useQuery<BaselinesResponse>(
    open ? JSON.stringify(["baselines", profile, profiles.length]) : null,
    (signal) => fetchBaselines(profile, signal),
  );
  const series = comparable(profiles, baselines.data?.related ?? [], search);
  const ids = series.map(({ id }) => id);
  const query = useQuery<SeriesResponse>(open && ids.length > 1 ? JSON.stringify(["series", ids]) : null, (signal) =>
    fetchSeries(ids, signal),
  );
  if (!open)
    return (
      <p class="series-offer">
        <button type="button" class="button" onClick={() => navigate({ series: offered ? null : "on" }, true)}>
          Show runs as a series
        </button>
        <span class="muted">Runs of this program in the order of time, and the first that became slower.</span>
      </p>
    );
  return (
    <Panel
      title="Series"
      about="Runs that spend most of their GPU time in the same ops as this profile. The median of each run in the order of time, with its 95 % interval; below it, the mean kernel time of an iteration and GPU by op type. The first run that is slower than the up to five before it by more than noise is marked. A click compares a run with the one before."
      tools={
        <>
          <DelayedInput
            kind="search"
            label="Only runs whose name contains"
            placeholder="Only runs with"
            value={search}
            onChange={(text) => navigate({ "series.search": text })}
          />
          <button
            type="button"
            class="button"
            onClick={() => navigate({ series: offered ? "off" : null, "series.search": null }, true)}
          >
            Hide
          </button>
        </>
      }
    >
      {baselines.data !== null && ids.length < 2 && (
        <p class="muted">
          {search === ""
            ? "No other imported profile spends most of its GPU time in the same ops, so there is no other run of this program to join it with."
            : `Two runs of this program are needed; ${formatCounted(ids.length, "one", "ones")} found.`}
        </p>
      )}
      {baselines.data === null &&
        (baselines.error === null ? (
          <Loading what="runs of this program" />
        ) : (
          <ErrorBox error={baselines.error} retry={baselines.reload} />
        ))}
      {query.error !== null && <ErrorBox error={query.error} retry={query.reload} />}
      {query.data === null ? (
        query.error === null && ids.length > 1 && <Loading what="the series" />
      ) : (
        <Line series={query.data} profiles={profiles} />
      )}
    </Panel>
  );
}

const STACK_HEIGHT = 130;

/** Place of a colour of the style sheet. */
const colourAt = (place: number, count: number): string =>
  place === count - 1 ? "var(--c-outside)" : `var(--series-${place + 1})`;

interface OpTypesProps {
  series: SeriesResponse;
  named: readonly string[];
  x: (place: number) => number;
  width: number;
  bar: number;
}

/** The kernel time of each run by op type, below its median. */
function OpTypes({ series: series, named, x, width, bar }: OpTypesProps) {
  const names = [...series.op_types, "other"];
  const sums = series.runs.map(({ op_type_ns: times }) => times.reduce((sum, ns) => sum + ns, 0));
  const most = Math.max(...sums, 1);
  const y = (ns: number): number => PAD + (1 - ns / most) * (STACK_HEIGHT - PAD);
  return (
    <>
      <h3 class="series-title">Kernel Time by Op Type</h3>
      <svg width={width} height={STACK_HEIGHT + 2} role="img" aria-label="Kernel time of each run by op type">
        {[most, 0].map((ns) => (
          <text key={ns} class="axis-text" x={LEFT - 8} y={y(ns) + (ns === 0 ? 0 : 4)} text-anchor="end">
            {ns === 0 ? "0" : formatDuration(ns)}
          </text>
        ))}
        {series.runs.map((run, place) => {
          let below = 0;
          const tip = [
            named[place] ?? run.name,
            ...run.op_type_ns.map((ns, i) => `${names[i] ?? ""} ${formatDuration(ns)}`),
          ];
          return (
            <g key={run.profile} data-tip={tip.join("\n")}>
              {run.op_type_ns.map((ns, i) => {
                const bottom = y(below);
                below += ns;
                return (
                  <rect
                    key={names[i]}
                    x={x(place) - bar / 2}
                    y={y(below)}
                    width={bar}
                    height={Math.max(bottom - y(below), 0)}
                    fill={colourAt(i, names.length)}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <ul class="legend series-legend">
        {names.map((name, i) => (
          <li key={name}>
            <span class="swatch" style={{ background: colourAt(i, names.length) }} /> {name}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Width of a letter below the axis, in CSS pixels. */
const LETTER = 6.5;

/** What tells runs of one name apart: when each began, to the ms where seconds do not; else its file. */
function detailsOf(runs: SeriesResponse["runs"], named: readonly string[]): string[] {
  return runs.map(({ name, started_ns: at }, place) => {
    const alike = runs.filter((_, other) => named[other] === named[place]);
    if (alike.length < 2) return "";
    if (alike.some(({ started_ns: began }) => began === null)) return name;
    const second = (ns: number | null): string => formatMoment((ns ?? 0) / 1e9, true).replace(/^\S+ /, "");
    if (new Set(alike.map(({ started_ns: began }) => second(began))).size === alike.length) return second(at);
    return `${second(at)}.${String(Math.floor((at ?? 0) / 1e6) % 1000).padStart(3, "0")}`;
  });
}

/** A name that fits between two of its kind: its end tells runs apart more often than its beginning. */
function shortened(name: string, room: number): string {
  const most = Math.max(Math.floor(room / LETTER), 3);
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}

/** More names would be no sentence. */
const MOST_NAMED = 3;

/** What the tests found, and of which runs they tell nothing. */
function regressionSentence({ regression, untested, runs }: SeriesResponse, named: readonly string[]): string {
  const nameOf = (place: number): string => named[place] ?? "";
  const none = untested.length >= runs.length - 1;
  const which = untested.length > MOST_NAMED ? formatCounted(untested.length, "run") : untested.map(nameOf).join(", ");
  const without =
    untested.length === 0
      ? ""
      : `${none ? "No run is tested for noise" : `Not tested for noise: ${which}`}. That takes four iterations of a run, and four of runs recorded before it.`;
  if (regression !== null)
    return `▲ ${nameOf(regression)} is the first that became slower by more than noise. ${without}`.trim();
  if (none) return without;
  return `${without === "" ? "None" : "None of the others"} became slower by more than noise. ${without}`.trim();
}

function Line({ series: series, profiles }: { series: SeriesResponse; profiles: readonly ProfileEntry[] }) {
  const [measure, width] = useWidth(800);
  const theme = useContext(ThemeContext);
  const { runs, regression } = series;
  const ends = runs.flatMap(({ value }) =>
    value === null ? [] : [value.median, value.low ?? value.median, value.high ?? value.median],
  );
  const high = Math.max(...ends, 1);
  // From 0, so that a small difference looks small.
  const y = (ns: number): number => PAD + ((high - ns) / high) * (HEIGHT - 2 * PAD);
  const step = (width - LEFT - 20) / Math.max(runs.length, 1);
  const x = (place: number): number => LEFT + (place + 0.5) * step;
  const names = allRuns(null, profiles);
  const named = runs.map(({ profile, name }) => runOf(profiles, profile) || name);
  const details = detailsOf(runs, named);
  const colour = (id: string): string =>
    runColour(profiles.find((profile) => profile.id === id)?.run ?? "", names, theme);
  const line = runs
    .map(({ value }, i) => (value === null ? "" : `${x(i)} ${y(value.median)}`))
    .filter(Boolean)
    .join("L");
  const compare = (place: number): void => {
    const run = runs[place];
    const before = runs[place - 1];
    if (run !== undefined && before !== undefined)
      navigate(
        {
          profile: run.profile,
          base: before.profile,
          base_aggregation: null,
          aggregation: null,
          run: null,
          capture: null,
          "compare.row": null,
        },
        true,
      );
  };
  return (
    <div ref={measure}>
      <h3 class="series-title">
        Median {series.measure === "iteration_time" ? "Iteration" : "Kernel"} Time of{" "}
        {formatCounted(runs.length, "Run")}
      </h3>
      <svg
        width={width}
        height={HEIGHT + (details.some(Boolean) ? 32 : 18)}
        role="img"
        aria-label={`Medians of ${formatCounted(runs.length, "run")}`}
      >
        {[high, 0].map((ns) => (
          <text key={ns} class="axis-text" x={LEFT - 8} y={y(ns) + 4} text-anchor="end">
            {ns === 0 ? "0" : formatDuration(ns)}
          </text>
        ))}
        <path class="order-line" d={`M${line}`} />
        {runs.map((run, i) => {
          const { value } = run;
          if (value === null) return null;
          const before = runs[i - 1]?.value?.median;
          const change =
            before === undefined ? "" : `, ${signedShare(value.median / before - 1) || "0 %"} to the one before`;
          const words = `${[named[i] ?? run.name, details[i]].filter(Boolean).join(", ")}: ${formatDuration(value.median)}${change}${i === regression ? "; slower by more than noise" : ""}`;
          return (
            <g key={run.profile} class={i === 0 ? "series-run" : "series-run series-opens"}>
              {value.low !== null && value.high !== null && (
                <line class="series-interval" x1={x(i)} x2={x(i)} y1={y(value.low)} y2={y(value.high)} />
              )}
              {i === regression && <circle class="series-regression" cx={x(i)} cy={y(value.median)} r="9" />}
              <circle
                cx={x(i)}
                cy={y(value.median)}
                r="5"
                fill={colour(run.profile)}
                role="button"
                tabindex={0}
                aria-label={words}
                data-tip={words}
                onClick={() => compare(i)}
                onKeyDown={(event) => {
                  if (event.key === "Enter") compare(i);
                }}
              />
              <text class="axis-text" x={x(i)} y={HEIGHT + 12} text-anchor="middle">
                {shortened(named[i] ?? "", step)}
              </text>
              <text class="axis-text" x={x(i)} y={HEIGHT + 26} text-anchor="middle">
                {shortened(details[i] ?? "", step)}
              </text>
            </g>
          );
        })}
      </svg>
      <OpTypes series={series} named={named} x={x} width={width} bar={Math.min(step * 0.6, 46)} />
      <p class="muted">{regressionSentence(series, named)}</p>
    </div>
  );
}
