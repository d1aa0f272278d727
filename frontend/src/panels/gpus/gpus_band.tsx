/** How much of the time the GPUs were used, in a sentence. */
import { Fragment } from "preact";

import type { DashboardResponse, DiagnosedDevice, Diagnosis } from "../../api/types";
import { Sentence } from "../../components/sentence";
import { capitalized, formatCount, ofIterations, withinSentence } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { devicesInUse, whyNoKernels } from "../../model/headline";
import { COMPUTE, computeOf, mainDevice, shownParts, type Share } from "../../model/parts";

interface GpusBandProps {
  data: DashboardResponse;
  diagnosis: Diagnosis | null;
}

/** Times that differ by less are shown as the same. */
const SAME_TIME = 0.005;

/** GPUs that are all named. */
const MOST_NAMED = 4;

/** Points in which GPUs differ that compute more or less; of fewer none is called the one that computes least. */
const LESS = 0.02;

/** Of which iterations the shares are: the median one, which is drawn over time, is another. */
export const meanInWords = ({ mean }: Diagnosis): string =>
  mean.iterations === 1 ? "one iteration" : `the mean of ${formatCount(mean.iterations)} iterations`;

const BUSY: ReadonlySet<string> = new Set([...COMPUTE, "communication", "copy"]);

/** What a GPU did, and what it was idle for longest. Without kernels it may have been busy all the same. */
function did(parts: DiagnosedDevice["parts"], cause: Share | undefined, share: (ns: number) => string): string {
  const computing = computeOf(parts);
  return [
    [
      computing === 0 && parts.copy > 0 ? `${share(parts.copy)} copying` : `${share(computing)} computing`,
      parts.communication > 0 ? `${share(parts.communication)} exposed communication` : "",
    ]
      .filter(Boolean)
      .join(", "),
    cause === undefined
      ? ""
      : cause.kind.key === "unrecorded"
        ? `nothing tells why it was idle for ${share(cause.ns)}`
        : `idle longest for: ${withinSentence(cause.kind.label)}, ${share(cause.ns)}`,
  ]
    .filter(Boolean)
    .join("; ");
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
  // Of many, the one that ran kernels for longest.
  const others = used.length > MOST_NAMED ? [most] : used;
  const { wall_ns: wall } = data.gpu_utilization;
  const parts = diagnosis?.mean.devices[String(least.device_id)]?.parts;
  const idle =
    parts === undefined || diagnosis === null
      ? []
      : shownParts(parts, diagnosis.mean.wall_ns, data.matrix_unit).shown.filter(({ kind }) => !BUSY.has(kind.key));
  const [cause] = idle.sort((a, b) => b.ns - a.ns);
  // The shares below are of another time than that above where the iterations are marked, or begin before the GPU's work.
  const mean = diagnosis?.mean.wall_ns ?? 0;
  const isOther = Math.abs(mean - (wall ?? 0)) > SAME_TIME * (wall ?? 0);
  const of =
    diagnosis !== null && isOther
      ? diagnosis.marked
        ? `of ${meanInWords(diagnosis)}, ${formatDuration(mean)}`
        : `of the ${formatDuration(mean)} from the first to the last GPU work`
      : "";
  const computes = ({ device_id: id }: (typeof used)[number]): number =>
    computeOf(diagnosis?.mean.devices[String(id)]?.parts ?? {}) / Math.max(mean, 1);
  const computesLeast = String(least.device_id) === main && computes(most) - computes(least) >= LESS;
  const gpu = most === least ? "" : `GPU ${least.device_id}${computesLeast ? ", which computes least" : ""}`;
  const whose = [gpu, of].filter(Boolean).join(", ");
  const shareOfMean = (ns: number): string => formatShare(shareOf(ns, mean));
  const told =
    parts === undefined ? "" : capitalized([whose, did(parts, cause, shareOfMean)].filter(Boolean).join(": "));
  return (
    <header class="headline">
      <h2 data-tip={`${readableAndExact(least.busy_ns)} of ${readableAndExact(wall)}`}>
        GPU {least.device_id} ran kernels <strong class="nowrap">{formatShare(least.fraction)}</strong> of the{" "}
        {formatDuration(wall)}
        {ofIterations(" of", data.performance.profiled_iterations ?? 1)}
        {others.map(
          (each) =>
            each !== least && (
              <Fragment key={each.device_id}>
                , GPU {each.device_id} <strong class="nowrap">{formatShare(each.fraction)}</strong>
              </Fragment>
            ),
        )}
        .
      </h2>
      {told !== "" && (
        <p class="model-line">
          <span>{told}.</span>
        </p>
      )}
    </header>
  );
}
