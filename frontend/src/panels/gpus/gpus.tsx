/** The GPUs of the recording: how much each was used, and what it is. */
import { useState } from "preact/hooks";

import type { DashboardResponse, DiagnosedDevice } from "../../api/types";
import { KindLegend } from "../../components/charts/kind_legend";
import { BarLegend, StackedBar } from "../../components/charts/stacked_bar";
import { Icon } from "../../components/icon";
import { ErrorBox, Loading, Message } from "../../components/message";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";
import { ViewLink } from "../../components/view_link";
import { DataTable } from "../../components/table/data_table";
import { OverTime } from "./over_time";
import { formatBytes } from "../../format/bytes";
import { capitalized, formatCounted, formatRanges } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration, readableAndExact } from "../../format/time";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useRankJob } from "../../frame/use_rank_job";
import { numberOf, textOf, useRow } from "../../frame/use_row";
import { devicesInUse, hasKernels, whyNoKernels } from "../../model/headline";
import { computeOf } from "../../model/parts";
import { isOfMemory } from "../../model/same_time";
import { isWarmUp, segmentsOfDevice, typicalNumbers, type BarSegment } from "../../model/step";
import { rankLabel, warmUpLeftOut, withWaiting } from "../../model/ranks";
import { Ranks } from "../ranks/ranks";
import { CompareRanks } from "../ranks/compare_ranks";
import { GpusBand, meanInWords } from "./gpus_band";

/** Of a bar, px; the same as the track's in the style sheet. */
const HEIGHT = 24;

const unlinked = (segment: BarSegment): BarSegment => ({ ...segment, to: null });

export function Gpus({ data }: { data: DashboardResponse }) {
  const { devices: all, wall_ns: wall } = data.gpu_utilization;
  const devices = devicesInUse(data);
  const query = useRankJob();
  const [listed, list] = useState(false);
  // Of one rank alone there is nothing to compare.
  const made = query.data?.job ?? null;
  const job = made !== null && made.ranks_present > 1 ? made : null;
  // A report of Nsight Systems may hold several ranks.
  const own = job?.profiles.filter((each) => each?.run === data.profile.run && each.name === data.profile.name) ?? [];
  const ofRank = job === null || own.length > 1 ? "" : ` of ${rankLabel(job, job.rank).toLowerCase()}`;
  const { data: diagnosis, loading } = useDiagnosis();
  const diagnosedOf = (id: number | null): DiagnosedDevice | undefined => diagnosis?.mean.devices[String(id)];
  /** For how much of its bar it computed: while it only waits for other ranks kernels run, too. */
  const computedOn = (id: number | null): number | null => {
    const parts = diagnosedOf(id)?.parts;
    return diagnosis === null || parts === undefined ? null : shareOf(computeOf(parts), diagnosis.mean.wall_ns);
  };
  // In the order of the GPUs.
  const means = diagnosis === null ? null : typicalNumbers(diagnosis, data);
  const segments = devices.map(({ device_id: id }) => {
    const device = diagnosedOf(id);
    if (diagnosis === null || device === undefined) return undefined;
    const shown = segmentsOfDevice(diagnosis, device, data.matrix_unit).map(unlinked);
    // A report of several ranks has a GPU of each.
    return job === null || means === null || devices.length > 1 ? shown : withWaiting(shown, job, means);
  });
  const leftOut =
    diagnosis === null
      ? []
      : data.iterations.rows.map(({ iteration }) => iteration).filter((each) => isWarmUp(each, diagnosis, data));
  const { rank, world_size: world } = data.profile;
  const idle = all.flatMap(({ in_use: used, device_id: id }) => (used || id === null ? [] : [id]));
  const table = (
    <DataTable
      table="gpus"
      name="gpus"
      title={`GPUs${ofRank}`}
      noun="GPUs"
      summed
      empty="The recording names no GPU. Nsight Systems and the PyTorch profiler write the GPUs' properties when they record CUDA activities."
      selectable
    />
  );
  if (job === null && !query.loading && isOfMemory(data.profile))
    return (
      <Message title="What the GPUs did was not recorded">
        <p>This recording holds memory only: what holds it, and when. How busy the GPUs were needs a trace.</p>
        <ViewLink class="link-button" to={{ view: "memory" }}>
          Memory
        </ViewLink>
      </Message>
    );
  if (all.length === 0 && job === null && !query.loading)
    return (
      <Message title="No GPU was recorded">
        <p>
          <Sentence text={whyNoKernels(data)} />
        </p>
      </Message>
    );
  // The sentence and the bars are drawn once, with what they say in the end.
  if ((query.data === null && query.loading) || (diagnosis === null && loading)) return <Loading what="the GPUs" />;
  return (
    <div class="stacked">
      {query.error !== null && !query.loading && <ErrorBox error={query.error} retry={query.reload} />}
      {job !== null && (
        <Ranks job={job} marked={diagnosis?.marked ?? true} unit={data.matrix_unit} diagnosis={diagnosis} />
      )}
      {job === null && <GpusBand data={data} diagnosis={diagnosis} />}
      {job === null && query.data !== null && query.error === null && (
        <CompareRanks rank={rank} world={world} offer={query.data.offer} reload={query.reload} />
      )}
      {devices.length > 0 && (
        <Panel
          title={`GPU Utilization${ofRank}`}
          walked
          tools={
            hasKernels(data) && (
              <ViewLink class="more-button" to={{ view: "efficiency" }}>
                Efficiency while kernels run <Icon name="right" />
              </ViewLink>
            )
          }
          about="The bar is the mean of the typical iterations, split like that of the Dashboard; the share is how much of it at least one kernel computed, higher is better. On the bar: DLProf's GPU utilization, which counts kernels that communicate, too, of all iterations that are aggregated."
        >
          <ul class="gpu-bars">
            <li aria-hidden="true">
              <span class="gpu-head">
                {diagnosis !== null && (
                  <span>
                    {diagnosis.marked ? meanInWords(diagnosis) : "first to last GPU work"},{" "}
                    {formatDuration(diagnosis.mean.wall_ns)}
                    {warmUpLeftOut(leftOut, "; ")}
                  </span>
                )}
                <span>{diagnosis === null ? `kernels ran, of ${formatDuration(wall)}` : "computing"}</span>
              </span>
            </li>
            {devices.map(({ device_id: id, cuda_ordinal: ordinal, name, fraction, busy_ns: busy }, i) => (
              <li key={id}>
                <span class="gpu-name">
                  <strong>GPU {id}</strong>{" "}
                  <span class="muted">
                    {[ordinal === null ? "" : `CUDA ${ordinal}`, name].filter(Boolean).join(" · ")}
                  </span>
                </span>
                <span
                  class="gpu-track"
                  data-tip={`${[`GPU ${id}`, name].filter(Boolean).join(", ")}: GPU utilization ${formatShare(fraction)}\n${readableAndExact(busy)} of ${readableAndExact(wall)} wall clock time`}
                >
                  {segments[i] === undefined ? (
                    <span class="gpu-bar" style={{ width: `${Math.min(fraction ?? 0, 1) * 100}%` }} />
                  ) : (
                    <StackedBar
                      segments={segments[i]}
                      whole_ns={diagnosis?.mean.wall_ns ?? 0}
                      label={`Mean iteration on GPU ${id}`}
                      height={HEIGHT}
                    />
                  )}
                </span>
                <span class="gpu-share number">{formatShare(computedOn(id) ?? fraction)}</span>
              </li>
            ))}
            {idle.length > 0 && (
              <li class="muted">
                <span class="gpu-name">
                  {idle.length === 1 ? "GPU" : "GPUs"} {formatRanges(idle)}
                </span>
                <span class="gpu-without">no work {ofRank || "in this recording"}</span>
              </li>
            )}
            <li aria-hidden="true">
              <span class="gpu-axis">
                {[0, 25, 50, 75, 100].map((mark) => (
                  <span key={mark} style={{ left: `${mark}%` }}>
                    {mark} %
                  </span>
                ))}
              </span>
            </li>
          </ul>
          {segments.length === 1 && segments[0] !== undefined ? (
            <BarLegend segments={segments[0]} whole_ns={diagnosis?.mean.wall_ns ?? 0} />
          ) : (
            <KindLegend bars={segments.map((of) => of ?? [])} unit={data.matrix_unit} />
          )}
          {devices.length === 1 && <Facts data={data} id={devices[0]?.device_id ?? null} />}
        </Panel>
      )}
      {job === null && diagnosis !== null && <OverTime diagnosis={diagnosis} devices={devices} />}
      {devices.length !== 1 ? (
        table
      ) : (
        // What it tells of the only one in use stands above.
        <details class="twin" onToggle={(event) => list(event.currentTarget.open)}>
          <summary>GPUs{ofRank} as a table</summary>
          {listed && table}
        </details>
      )}
    </div>
  );
}

/** What a GPU is, in a line: of several, their table tells it. */
function Facts({ data: { memory, matrix_unit: matrixUnit }, id }: { data: DashboardResponse; id: number | null }) {
  const { row = {} } = useRow("gpus", "device_id", String(id ?? ""));
  const capability = textOf(row, "compute_capability");
  const isAmd = matrixUnit === "Matrix Core";
  const processors = numberOf(row, "sm_count");
  const bytes = numberOf(row, "memory_bytes");
  const isUsed = memory !== null && !memory.relative && memory.device === String(id);
  const facts = [
    capability && `${isAmd ? "architecture" : "compute capability"} ${capability}`,
    processors === null ? "" : formatCounted(processors, isAmd ? "CU" : "SM"),
    bytes === null ? "" : `${formatBytes(bytes)} of memory`,
    isUsed ? `${formatBytes(memory.peak_bytes)} in use at the peak` : "",
  ].filter(Boolean);
  return facts.length > 0 && <p class="muted note-below">{capitalized(facts.join(" · "))}</p>;
}
