/** How much of the time the GPUs computed, in a sentence. */
import { Fragment } from "preact";

import type { DashboardResponse, DeviceUtilization, DiagnosedDevice, Diagnosis } from "../../api/types";
import { MissingWork } from "../../components/missing_work";
import { Sentence } from "../../components/sentence";
import { capitalized, formatCount, ofIterations, withinSentence } from "../../format/number";
import { typeset } from "../../format/sentence";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { meanSaid } from "../../model/answer";
import { missingWork } from "../../model/findings";
import { devicesInUse, whyNoKernels } from "../../model/headline";
import { COMPUTE, computeOf, isLowerBound, LEADS, mainDevice, shownParts, type Share } from "../../model/parts";
import { medianOf } from "./over_time";

interface GpusBandProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
}

/** GPUs that are all named. */
const MOST_NAMED = 4;

/** Points in which GPUs differ that compute more or less; of fewer none is called the one that computes least. */
const LESS = 0.02;

/** Of which iterations the shares are: the median one, which is drawn over time, is another. */
export const meanInWords = ({ mean }: Diagnosis): string =>
  mean.iterations === 1 ? "one iteration" : `the mean of ${formatCount(mean.iterations)} iterations`;

const BUSY: ReadonlySet<string> = new Set([...COMPUTE, "communication", "copy"]);

/** What a GPU did beside computing, or that too where no headline says it, and what it was idle for longest. */
function did(
  parts: DiagnosedDevice["parts"],
  cause: Share | undefined,
  share: (ns: number) => string,
  isComputingSaid = true,
): string {
  const computing = computeOf(parts);
  const busy = [
    parts.copy > 0 && (computing === 0 || parts.copy > (cause?.ns ?? 0)) ? `${share(parts.copy)} copying` : "",
    computing > 0 && !isComputingSaid ? `${share(computing)} computing` : "",
    parts.communication > 0 ? `${share(parts.communication)} exposed communication` : "",
  ];
  return [busy.filter(Boolean).join(", "), idleFor(cause, share)].filter(Boolean).join("; ");
}

/** What a GPU was idle for longest; empty where there is nothing to tell. */
function idleFor(cause: Share | undefined, share: (ns: number) => string): string {
  if (cause === undefined) return "";
  return cause.kind.key === "unrecorded"
    ? `nothing tells why it was idle for ${share(cause.ns)}`
    : `idle longest for: ${withinSentence(cause.kind.label)}, ${share(cause.ns)}`;
}

/** The part for which a GPU was idle longest in so much time. */
const causeOf = (parts: DiagnosedDevice["parts"] | undefined, wall: number, unit: string): Share | undefined =>
  shownParts(parts ?? {}, wall, unit)
    .shown.filter(({ kind }) => !BUSY.has(kind.key))
    .sort((a, b) => b.ns - a.ns)[0];

/** Where few long iterations make the mean: so, and what the GPU did in the median one; else empty. */
function longSaid(diagnosis: Diagnosis, id: string, unit: string): string {
  const said = meanSaid(diagnosis);
  const median = medianOf(diagnosis);
  const parts = median?.devices[id]?.parts;
  if (said === "" || median === undefined || parts === undefined) return said;
  const share = (ns: number): string => formatShare(shareOf(ns, median.wall_ns));
  const does = did(parts, causeOf(parts, median.wall_ns, unit), share, false);
  return does === "" ? said : `${said} The median one: ${does}.`;
}

export function GpusBand({ data, diagnosis }: GpusBandProps) {
  const used = devicesInUse(data);
  // One that only copies is not the one that computes least.
  const computing = used.filter(({ fraction }) => (fraction ?? 0) > 0);
  const ranked = [...(computing.length > 0 ? computing : used)].sort((a, b) => (a.fraction ?? 0) - (b.fraction ?? 0));
  // The GPU that the Dashboard speaks of, which may run kernels for longer: those of communication are no computing.
  const main = diagnosis === null ? null : mainDevice(diagnosis)?.[0];
  const least = ranked.find(({ device_id: id }) => String(id) === main) ?? ranked[0];
  const most = ranked.filter((each) => each !== least).at(-1) ?? least;
  if (least === undefined || most === undefined)
    return (
      <header class="headline">
        <h2>No GPU work was recorded.</h2>
        <p class="model-line">
          <span>
            <Sentence text={whyNoKernels(data)} />
          </span>
        </p>
      </header>
    );
  // Of many, the one that ran kernels for longest; in the order of the bars.
  const named = [...(used.length > MOST_NAMED ? new Set([least, most]) : used)].sort(
    (a, b) => (a.device_id ?? 0) - (b.device_id ?? 0),
  );
  const { wall_ns: wall } = data.gpu_utilization;
  const partsOf = ({ device_id: id }: DeviceUtilization): DiagnosedDevice["parts"] | undefined =>
    diagnosis?.mean.devices[String(id)]?.parts;
  const parts = partsOf(least);
  const mean = diagnosis?.mean.wall_ns ?? 0;
  // Work that may have run while launched work waited is told as missing, not as a reason to be idle.
  const isMissing = diagnosis !== null && missingWork(diagnosis) !== null;
  const longestIdle = causeOf(parts, mean, data.matrix_unit);
  const cause = isMissing && longestIdle?.kind.key === "queued" ? undefined : longestIdle;
  const shareOfMean = (ns: number): string => formatShare(shareOf(ns, mean));
  const computes = (each: DeviceUtilization): number => computeOf(partsOf(each) ?? {}) / Math.max(mean, 1);
  const computesLeast = String(least.device_id) === main && computes(most) - computes(least) >= LESS;
  const gpu = most === least ? "" : `GPU ${least.device_id}${computesLeast ? ", which computes least" : ""}`;
  // As the bars below divide it; kernels of communication that hide nothing are no use of the GPU.
  const isDivided = diagnosis !== null && parts !== undefined;
  const exposed = parts?.communication ?? 0;
  const leads = exposed >= LEADS * mean && exposed > 0;
  const does = parts === undefined ? "" : leads ? idleFor(cause, shareOfMean) : did(parts, cause, shareOfMean);
  const told = does && capitalized([gpu, does].filter(Boolean).join(": "));
  const long = diagnosis === null ? "" : longSaid(diagnosis, String(least.device_id), data.matrix_unit);
  const onlyCopied = (each: DeviceUtilization): boolean => {
    const own = partsOf(each);
    return each !== least && each.fraction === 0 && own !== undefined && own.copy > 0 && computeOf(own) === 0;
  };
  const first = named.find((each) => !onlyCopied(each));
  const isBound = diagnosis !== null && isLowerBound(diagnosis);
  const verb = `${isDivided ? "computed" : "ran kernels"}${isBound ? " at least" : ""}`;
  const whole = !isDivided
    ? `of the ${formatDuration(wall)}${ofIterations(" of", data.performance.profiled_iterations ?? 1)}`
    : diagnosis.marked
      ? `of the ${formatDuration(mean)} iteration${diagnosis.mean.iterations > 1 ? ` (mean of ${formatCount(diagnosis.mean.iterations)})` : ""}`
      : `of the ${formatDuration(mean)} from the first to the last GPU work`;
  return (
    <header class="headline">
      <h2
        data-tip={`GPU utilization of GPU ${least.device_id}: ${formatShare(least.fraction)}\n${readableAndExact(least.busy_ns)} of ${readableAndExact(wall)}`}
      >
        {named.map((each, i) => (
          <Fragment key={each.device_id}>
            {i > 0 && ", "}GPU {each.device_id}{" "}
            {onlyCopied(each) ? (
              "only copied"
            ) : (
              <>
                {(each === first || named.slice(0, i).some(onlyCopied)) && `${verb} `}
                <strong class="nowrap">{formatShare(isDivided ? computes(each) : each.fraction)}</strong>
                {each === first && ` ${typeset(whole)}`}
              </>
            )}
          </Fragment>
        ))}
        {leads && (
          <>
            {named.length > 1 ? `; on GPU ${least.device_id}, ` : ", "}
            {isBound && "at most "}
            <strong class="nowrap">{shareOfMean(exposed)}</strong> was exposed communication
          </>
        )}
        .
      </h2>
      {(told !== "" || isMissing) && (
        <p class="model-line">
          {told !== "" && (
            <span>
              {typeset(told)}.{long && ` ${typeset(long)}`}
            </span>
          )}
          <MissingWork diagnosis={diagnosis} />
        </p>
      )}
    </header>
  );
}
