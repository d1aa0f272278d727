/** The numbers that people compare between runs, each with what it is a share of. */
import type { ComponentChildren } from "preact";

import type { DashboardResponse, Diagnosis, MemoryPeak } from "../../api/types";
import { Sparkline } from "../../components/charts/sparkline";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { formatBytes } from "../../format/bytes";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, formatSpread, readableAndExact } from "../../format/time";
import { hasKernels } from "../../model/headline";
import { withGraphsNs } from "../../model/kernel_time";
import { computeOf, isLowerBound, mainDevice } from "../../model/parts";
import { isFarFrom, medianOf } from "../../model/iterations";
import type { Step } from "../../model/step";
import { ThroughputTile } from "./throughput_tile";

interface TilesProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
  step: Step | null;
}

interface Tile {
  value: string;
  unit: string;
  about: ComponentChildren;
  tip: string;
}

/** `182 ms` in two: the number is large, its unit and what it is a share of are not. */
function inTwo(text: string, of = ""): Pick<Tile, "value" | "unit"> {
  const at = text.lastIndexOf(" ");
  const [value, unit] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  return { value, unit: `${unit} ${of}`.trim() };
}

const MOST_POINTS = 60;

/** Fewer copies are not worth a tile. */
const LEAST_SHARE = 0.01;

function iterationTile(step: Step, marked: boolean): Tile {
  const walls = step.iterations.filter(({ typical }) => typical).map(({ wall_ns: wall }) => wall);
  const isMany = walls.length > 1 && !step.binned;
  const median = medianOf(walls);
  const isSkewed = isMany && isFarFrom(median, step.wall_ns);
  const mean = walls.reduce((sum, wall) => sum + wall, 0) / Math.max(walls.length, 1);
  const spread = Math.sqrt(walls.reduce((sum, wall) => sum + (wall - mean) ** 2, 0) / Math.max(walls.length, 1));
  const { value, unit } = inTwo(formatDuration(step.wall_ns));
  return {
    value,
    // One unit for both, which stands behind them.
    unit: isSkewed ? `${unit} mean iteration` : isMany ? formatSpread(spread, step.wall_ns) : unit,
    about: (
      <>
        {!marked ? "first to last GPU work" : isSkewed ? `median ${formatDuration(median)}` : "iteration"}{" "}
        {walls.length > 2 && (
          <Sparkline
            values={walls.slice(0, MOST_POINTS)}
            label={step.binned ? "Means of several iterations each" : `${walls.length} iterations`}
          />
        )}
      </>
    ),
    tip: `Mean duration: ${readableAndExact(step.wall_ns)}${isMany ? `, ± the standard deviation; the median is ${formatDuration(median)}` : ""}. Lower is better.`,
  };
}

function tilesOf({ data, diagnosis, step }: TilesProps): Tile[] {
  const main = diagnosis === null ? null : mainDevice(diagnosis);
  if (diagnosis === null || main === null || step === null) return [];
  const [, { parts, overlap }] = main;
  const wall = diagnosis.mean.wall_ns;
  const tiles: Tile[] = [iterationTile(step, diagnosis.marked)];
  tiles.push({
    ...inTwo(formatShare(shareOf(computeOf(parts), wall))),
    about: `computing${isLowerBound(diagnosis) ? ", at least" : ""}`,
    tip: `A kernel ran that is neither a collective nor a copy: ${readableAndExact(computeOf(parts))} of ${readableAndExact(wall)}. Higher is better.`,
  });
  if (hasKernels(data) && data.has_matrix_units) tiles.push(matrixTile(data));
  const communication = overlap.communication_all_ns;
  const exposed = parts.communication;
  if (communication > 0)
    tiles.push({
      ...inTwo(formatShare(shareOf(exposed, wall)), "exposed"),
      about: `communication, ${formatShare(shareOf(communication - exposed, communication))} hidden`,
      tip: `${readableAndExact(exposed)} of ${readableAndExact(communication)} communication ran while nothing was computed. Lower is better.`,
    });
  else if (parts.copy >= wall * LEAST_SHARE)
    tiles.push({
      ...inTwo(formatShare(shareOf(parts.copy, wall)), "exposed"),
      about: `copies, ${formatShare(shareOf(overlap.copy_all_ns - parts.copy, overlap.copy_all_ns))} hidden`,
      tip: `${readableAndExact(parts.copy)} of ${readableAndExact(overlap.copy_all_ns)} copies and memsets ran while nothing was computed. Lower is better.`,
    });
  if (data.memory !== null) tiles.push(memoryTile(data.memory));
  return tiles;
}

/** Of what could be on matrix units; of all kernels where no op tells what could. */
function matrixTile(data: DashboardResponse): Tile {
  const { fraction, tensor_core_ns: inEligible, kernel_ns: eligible, unknown_ns: untold } = data.tensor_core_efficiency;
  const { tensor_core: all, unknown, graph } = data.kernel_time;
  const ofEligible = fraction !== null;
  const used = ofEligible ? inEligible : all.time_ns;
  const whole = ofEligible ? eligible : withGraphsNs(data);
  const isLeast = ((ofEligible ? untold : (unknown.time_ns ?? 0) + (graph.time_ns ?? 0)) ?? 0) > 0;
  const iterations = Math.max(data.performance.profiled_iterations ?? 1, 1);
  const each = (ns: number | null): string => readableAndExact(ns === null ? null : Math.round(ns / iterations));
  const unit = data.matrix_unit;
  if (used === null)
    return {
      value: "–",
      unit: "",
      about: `on ${unit}s: not known`,
      tip: `No kernel is known to use ${unit}s, but some may.`,
    };
  return {
    ...inTwo(
      formatShare(ofEligible ? fraction : shareOf(used, whole)),
      ofEligible ? "of eligible time" : "of kernel time",
    ),
    about: `on ${unit}s${isLeast ? ", at least" : ""}`,
    tip: ofEligible
      ? `${each(used)} in ${unit} kernels, of ${each(whole)} in all kernels of ops that could use them. Higher is better.`
      : `${each(used)} in ${unit} kernels, of ${each(whole)} in all kernels. Which of them could use ${unit}s is not known: no op tells.`,
  };
}

function memoryTile({
  device,
  peak_bytes: peak,
  peak_of: of,
  capacity_bytes: all,
  relative,
  shares,
}: MemoryPeak): Tile {
  const largest = shares.map(([name, percent]) => `${name} ${percent} %`).join(", ");
  const since = relative ? " more than at the start of the recording" : "";
  return {
    ...inTwo(
      formatBytes(peak),
      relative ? "above the start" : all === null || all === 0 ? "" : `of ${formatBytes(all)}`,
    ),
    about: (
      <ViewLink class="link-button tile-about" to={{ view: "memory" }}>
        peak memory {of}
      </ViewLink>
    ),
    tip: `The most that was ${of} on GPU ${device}: ${peak.toLocaleString("en")} bytes${since}.${largest === "" ? "" : ` Of it: ${largest}.`}`,
  };
}

export function Tiles(props: TilesProps) {
  const row = useOneStop<HTMLUListElement>();
  const [first, ...others] = tilesOf(props);
  if (first === undefined) return null;
  const { diagnosis } = props;
  const { throughput } = props.data;
  const isMarked = diagnosis?.marked === true;
  const rate = <ThroughputTile throughput={throughput} iteration_ns={isMarked ? diagnosis.mean.wall_ns : null} />;
  // What is not known comes last.
  const isKnown = isMarked || throughput.samples_per_s !== null || throughput.tokens_per_s !== null;
  return (
    <ul class="tiles" aria-label="Key numbers" {...row}>
      <OneTile {...first} />
      {isKnown && rate}
      {others.map((tile) => (
        <OneTile key={tile.tip} {...tile} />
      ))}
      {!isKnown && rate}
    </ul>
  );
}

function OneTile({ value, unit, about, tip }: Tile) {
  return (
    <li class="panel" data-tip={tip}>
      <span class="tile-value number">
        {value} <small>{unit}</small>
      </span>
      <span class="muted">{about}</span>
    </li>
  );
}
