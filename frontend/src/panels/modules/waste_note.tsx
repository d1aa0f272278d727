/** Above the modules: which of them could gain most, or takes most, and why; what is behind the numbers on demand. */
import { useMemo } from "preact/hooks";

import type { DiagnosedGain, Diagnosis } from "../../api/types";
import { FindingClause } from "../../components/finding_clause";
import type { GroupTree } from "../../components/tree/use_group_tree";
import { Info } from "../../components/tooltip";
import { ViewLink } from "../../components/view_link";
import { MissingWork } from "../../components/missing_work";
import { useOneStop } from "../../components/walking";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatMean } from "../../format/time";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useRankSummary } from "../../frame/use_rank_job";
import { useScope } from "../../frame/scope";
import { causeAbout, isUntold } from "../../model/causes";
import { pathOf } from "../../model/group_tree";
import { rowLabel, type RowCause, type TreeRow } from "../../model/tree_row";
import { iterationGain } from "../../model/iteration_gain";
import { cutLabel } from "../../model/kernel_name";
import { boundInWords, boundOf, mainBoundInWords } from "../../model/shades";
import { mayGainMore, ratedShare, timeOf } from "../../model/tree_values";
import { eligibleSentence, findingOf, onUnitsInWords, opsOf, othersOf, partApart, wasteOf } from "../../model/waste";

const LETTERS = 48;

interface WasteNoteProps {
  tree: GroupTree;
  /** Empty where the GPU has none, of which nothing is to be said. */
  matrixUnit: string;
  diagnosis: Diagnosis | null;
}

export function WasteNote({ tree, matrixUnit, diagnosis }: WasteNoteProps) {
  const { folded } = tree;
  const { longest, gains, isLongestUntold, limited, ops } = useMemo(() => wasteOf(folded), [folded]);
  const stop = useOneStop<HTMLElement>();
  const { iterations, summed, busy } = useScope();
  const findings = diagnosis?.findings;
  const named = gains === null || isLongestUntold ? longest : gains;
  const finding = useMemo(
    () => (gains === null || gains !== named ? null : findingOf(opsOf(folded, gains), findings ?? [])),
    [folded, gains, named, findings],
  );
  if (named === null) return null;
  const { by, whole } = timeOf(folded.roots);
  const isOnGpu = by === "gpu_time_ns";
  const time = named.values[by];
  const mean = (ns: number): string => formatMean(ns, { summed });
  const ofEach = iterations > 1 ? " an iteration" : "";
  const gain = (row: TreeRow) => (
    <>
      up to <strong class="nowrap">{mean(row.values.gain_ns)}</strong> of{" "}
      <span class="nowrap">{mean(row.values.kernel_time_ns)}</span> kernel time{ofEach}
    </>
  );
  const hostLimits = gains === named && finding === null ? iterationGain(busy) : "";
  const [cause] = limited?.key === named.key ? limited.causes : [];
  const keptOff = cause !== undefined && !isUntold(cause.label) ? cause : undefined;
  const isBound = isOnGpu && keptOff === undefined;
  const said = [matrixUnit === "" ? "" : onUnitsInWords(named, matrixUnit), isBound ? "" : mainBoundInWords(named)]
    .filter(Boolean)
    .join(", ");
  // What holds for the named row, and what to do about it.
  const first = (
    <>
      {said !== "" && `${said}.`}
      {cause !== undefined && keptOff === undefined && (
        <>
          {" "}
          Not known: <Cause cause={cause} mean={mean} />
        </>
      )}
      {cause !== undefined && finding === null && ` ${causeAbout(cause.label, matrixUnit)}`}
      {isOnGpu && boundOf(named) === "communication" && <OfWaits />}
      {finding !== null && (
        <>
          {" "}
          <FindingClause finding={finding} marked={diagnosis?.marked ?? true} />
        </>
      )}
      {hostLimits !== "" && ` ${hostLimits}`}
    </>
  );
  // Another row, where that is what the question of the page is about.
  const other =
    finding !== null || hostLimits !== "" ? null : limited?.causes[0] !== undefined && limited.key !== named.key ? (
      <>
        <Place row={limited} tree={tree} /> takes the most time that could be on {matrixUnit}s and is not
        {isUntold(limited.causes[0].label) && " known to be"}: <Cause cause={limited.causes[0]} mean={mean} />
      </>
    ) : isLongestUntold && gains !== null ? (
      <>
        Of what is known, <Place row={gains} tree={tree} /> could gain most: {gain(gains)}.
      </>
    ) : null;
  const advised = limited !== null && (finding === null ? other !== null : limited.key === named.key);
  const ofEachAlone = folded.roots.reduce((sum, { values }) => sum + values.gain_ns, 0);
  const more = [
    ...(gains === named && mayGainMore(named)
      ? [`What it could gain is known for ${formatShare(ratedShare(named))} of its kernel time.`]
      : []),
    ...(finding === null ? [] : [lessOf(finding.gain)]),
    ...((finding?.gain.high_ns ?? 0) > ofEachAlone ? [EACH_ALONE] : []),
    ...(hostLimits === "" ? [] : ["Recommendations tell what an iteration gains, as far as that is known."]),
    ...(boundInWords(named) === mainBoundInWords(named) ? [] : [`Its kernel time: ${boundInWords(named)}.`]),
    ...(advised ? [causeAbout(limited.causes[0]?.label ?? "", matrixUnit)] : []),
    matrixUnit === "" ? "" : eligibleSentence(ops, matrixUnit),
  ].filter(Boolean);
  const lines = isOnGpu
    ? [first, ...(other === null ? [] : [other])]
    : ops.eligible > 0
      ? [withoutKernels(ops.eligible, matrixUnit)]
      : [];
  return (
    <header class="headline waste" {...stop}>
      <h2>
        {tree.root !== "" && <>In {folded.roots.map(rowLabel).join(", ")}, </>}
        <Place row={named} tree={tree} />{" "}
        {gains === named ? (
          <>could gain most: {gain(named)}</>
        ) : (
          <>
            takes most {isOnGpu ? "GPU" : "CPU"} time: <strong class="nowrap">{mean(time)}</strong>
            {ofEach}, {formatShare(shareOf(time, whole))}
          </>
        )}
        {keptOff !== undefined && (
          <>
            ; {mean(keptOff.kernelNs)} kept off {matrixUnit}s <span class="nowrap">({keptOff.label})</span>
          </>
        )}
        {isBound && mainBoundInWords(named) !== "" && `, ${mainBoundInWords(named)}`}.
      </h2>
      <ul class="waste-lines">
        {lines.map((line, i) => (
          <li key={i}>
            {line}
            {isOnGpu && i === lines.length - 1 && more.length > 0 && (
              <>
                {"\u00a0"}
                <Info term="what this module could gain" text={more.join("\n")} />
              </>
            )}
          </li>
        ))}
      </ul>
      {isOnGpu && (
        <p class="model-line">
          <MissingWork diagnosis={diagnosis} />
        </p>
      )}
    </header>
  );
}

/** Where it shows how much of communication is waiting, or what would tell it; nothing of GPUs of one process alone. */
function OfWaits() {
  const { data: job, loading } = useRankSummary();
  const { data: diagnosis } = useDiagnosis();
  if (job?.communication_wait_fraction != null)
    return (
      <>
        {" "}
        <ViewLink to={{ view: "gpus" }}>GPUs and Ranks</ViewLink> tells how much of that waits for other GPUs.
      </>
    );
  const isOneGpu = diagnosis !== null && Object.keys(diagnosis.mean.devices).length === 1;
  return job === null && !loading && isOneGpu ? (
    <> The other ranks&rsquo; recordings would tell how much of that waits.</>
  ) : null;
}

/** Why an iteration gains less than its kernels, as Recommendations says it behind how that was reckoned. */
const lessOf = ({ how }: DiagnosedGain): string =>
  (how ?? "")
    .split(/(?<=\.) /)
    .slice(1)
    .join(" ");

/** Why a finding may gain more than all rows could. */
const EACH_ALONE =
  "Could Gain is up to the roof of each op alone: what fewer kernels save, such as launches and what they write for each other to read, is not in it.";

/** Without work of a GPU in the recording. */
const withoutKernels = (eligible: number, unit: string): string =>
  `Eligible for ${unit}s: ${formatCounted(eligible, "op")}. No kernels were recorded, which would tell which of them use ${unit}s.`;

function Cause({ cause: { label, kernelNs, ops }, mean }: { cause: RowCause; mean: (ns: number) => string }) {
  return (
    <>
      <strong>{label}</strong>, {mean(kernelNs)} in {formatCounted(ops, "op")}.
    </>
  );
}

function Place({ row, tree }: { row: TreeRow; tree: GroupTree }) {
  const { tree: all } = tree.folded;
  const path = pathOf(all, row.members[0] ?? 0);
  const others = useMemo(() => othersOf(tree.folded, row), [tree.folded, row]);
  const [other] = others;
  const apart =
    other === undefined
      ? ""
      : `\n${formatCount(others.length)} more of this path, but for its numbers, in modules that are not alike, counted apart: ${other}`;
  const direction = row.parent?.gathers === "direction" ? ` (${row.parent.name})` : "";
  // Which of them it is says more than how many there are.
  const within = row.members.length > 1 ? "" : partApart(path, row.name, others);
  const among =
    within !== ""
      ? ` in ${cutLabel(within, LETTERS)}`
      : `${row.members.length > 1 ? "" : " ×1"} of ${formatCount(row.members.length + others.length)}`;
  return (
    <button type="button" class="link-button" data-tip={path + apart} onClick={() => tree.select(row)}>
      {cutLabel(row.name, LETTERS)}
      {row.part === null ? "" : ` (${row.part})`}
      {row.members.length > 1 ? ` ×${formatCount(row.members.length)}` : ""}
      {others.length > 0 && direction === "" && among}
      {direction}
    </button>
  );
}
