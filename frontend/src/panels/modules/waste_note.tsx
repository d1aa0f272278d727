/** Above the modules: which of them could gain most, or takes most, and why; what is behind the numbers on demand. */
import { useMemo } from "preact/hooks";

import type { DiagnosedGain } from "../../api/types";
import type { GroupTree } from "../../components/tree/use_group_tree";
import { Info } from "../../components/tooltip";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatMean } from "../../format/time";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useScope } from "../../frame/scope";
import { causeAbout, isUntold } from "../../model/causes";
import { gainTime, wholeOf } from "../../model/findings";
import { pathOf } from "../../model/group_tree";
import type { TreeRow } from "../../model/tree_row";
import { iterationGain } from "../../model/iteration_gain";
import { cutLabel } from "../../model/kernel_name";
import { boundInWords, boundOf, mainBoundInWords } from "../../model/shades";
import { timeOf } from "../../model/tree_values";
import { eligibleSentence, findingOf, onUnitsInWords, othersOf, wasteOf } from "../../model/waste";

const LETTERS = 48;

/** A gain of kernels that is so many times that of the iteration needs a reason beside it. */
const FAR = 2;

export function WasteNote({ tree, matrixUnit }: { tree: GroupTree; matrixUnit: string }) {
  const { folded } = tree;
  const { longest, gains, isLongestUntold, limited, ops } = useMemo(() => wasteOf(folded), [folded]);
  const stop = useOneStop<HTMLElement>();
  const { iterations, summed, busy } = useScope();
  const diagnosis = useDiagnosis();
  const findings = diagnosis.data?.findings;
  const named = gains === null || isLongestUntold ? longest : gains;
  const finding = useMemo(
    () => (gains === null || gains !== named ? null : findingOf(folded, gains, findings ?? [])),
    [folded, gains, named, findings],
  );
  if (named === null) return null;
  const { by, whole } = timeOf(folded.roots);
  const isOnGpu = by === "gpu_time_ns";
  const time = named.values[by];
  const mean = (ns: number): string => formatMean(ns, { summed });
  const shortened = wholeOf(diagnosis.data?.marked ?? true);
  const ofEach = iterations > 1 ? " of each iteration" : "";
  const kernelGain = `up to ${mean(named.values.gain_ns)} of its ${mean(named.values.kernel_time_ns)} kernel time${ofEach} could go`;
  // What the finding advises stands in the headline.
  const cause = (row: TreeRow, told = finding === null) => (
    <Cause row={row} mean={mean} about={told ? matrixUnit : null} />
  );
  // Two gains of one row that are far apart contradict each other, unless it is said that one is a part; why, on demand.
  const why = finding === null ? "" : lessOf(finding.gain);
  const isFarLess = finding !== null && named.values.gain_ns > FAR * summed * (finding.gain.high_ns ?? 0);
  const hostLimits = gains === named && finding === null ? iterationGain(busy) : "";
  // What holds for the named row.
  const first = (
    <>
      {[onUnitsInWords(named, matrixUnit), mainBoundInWords(named)].filter(Boolean).join(", ")}.
      {limited?.key === named.key && (
        <>
          {isUntold(limited.causes[0]?.label ?? "") ? " Not known: " : ` Off ${matrixUnit}s: `}
          {cause(limited)}
        </>
      )}
      {isOnGpu && boundOf(named) === "communication" && (
        <>
          {" "}
          <ViewLink to={{ view: "gpus" }}>GPUs and Ranks</ViewLink> tells how much of that waits for other GPUs.
        </>
      )}
      {hostLimits !== "" && ` ${hostLimits}`}
    </>
  );
  // Another row, where that is what the question of the page is about.
  const other =
    isFarLess && why !== "" ? (
      <>Its kernels could get up to {mean(named.values.gain_ns)} shorter, of which this change gains a part.</>
    ) : finding !== null || hostLimits !== "" ? null : limited !== null && limited.key !== named.key ? (
      <>
        <Place row={limited} tree={tree} /> takes the most time that could be on {matrixUnit}s and is not
        {isUntold(limited.causes[0]?.label ?? "") && " known to be"}: {cause(limited, false)}
      </>
    ) : isLongestUntold && gains !== null ? (
      <>
        Of what is known, <Place row={gains} tree={tree} /> could gain most: up to {mean(gains.values.gain_ns)} of{" "}
        {mean(gains.values.kernel_time_ns)} kernel time{ofEach}.
      </>
    ) : null;
  const advised = limited !== null && (finding === null ? other !== null : limited.key === named.key);
  const more = [
    ...(finding === null ? [] : [`By the GPU's published rates ${kernelGain}.`, why]),
    ...(hostLimits === "" ? [] : ["Recommendations tell what an iteration gains, as far as that is known."]),
    ...(boundInWords(named) === mainBoundInWords(named) ? [] : [`Its kernel time: ${boundInWords(named)}.`]),
    ...(advised ? [causeAbout(limited.causes[0]?.label ?? "", matrixUnit)] : []),
    eligibleSentence(ops, matrixUnit),
  ].filter(Boolean);
  const lines = isOnGpu
    ? [first, ...(other === null ? [] : [other])]
    : ops.eligible > 0
      ? [withoutKernels(ops.eligible, matrixUnit)]
      : [];
  return (
    // What the findings say is waited for: a headline that changes cannot be read.
    <header
      class={diagnosis.loading && diagnosis.data === null ? "headline waste waiting" : "headline waste"}
      {...stop}
    >
      <h2>
        <Place row={named} tree={tree} />{" "}
        {gains !== named ? (
          <>
            takes most {isOnGpu ? "GPU" : "CPU"} time: <strong class="nowrap">{mean(time)}</strong>
            {ofEach}, {formatShare(shareOf(time, whole))}.
          </>
        ) : finding === null ? (
          <>
            could gain most: up to <strong class="nowrap">{mean(named.values.gain_ns)}</strong> of its{" "}
            {mean(named.values.kernel_time_ns)} kernel time{ofEach}.
          </>
        ) : (
          <>
            could gain most.{" "}
            <ViewLink to={{ view: "recommendations", "findings.open": finding.rule }}>{finding.heading}</ViewLink>
            {finding.isWider && " in all ops"}: {shortened} could be{" "}
            <strong class="nowrap">{gainTime(finding.gain)}</strong> shorter.
          </>
        )}
      </h2>
      <ul class="waste-lines">
        {lines.map((line, i) => (
          <li key={i}>
            {line}
            {isOnGpu && i === lines.length - 1 && (
              <>
                {"\u00a0"}
                <Info term="what this module could gain" text={more.join("\n")} />
              </>
            )}
          </li>
        ))}
      </ul>
    </header>
  );
}

/** Why an iteration gains less than its kernels, as Recommendations says it behind how that was reckoned. */
const lessOf = ({ how }: DiagnosedGain): string =>
  (how ?? "")
    .split(/(?<=\.) /)
    .slice(1)
    .join(" ");

/** Without work of a GPU in the recording. */
const withoutKernels = (eligible: number, unit: string): string =>
  `Eligible for ${unit}s: ${formatCounted(eligible, "op")}. No kernels were recorded, which would tell which of them use ${unit}s.`;

/** The cause of most of what the row does not do on matrix units; with `about`, the name of these, what it is. */
function Cause({ row: { causes }, about, mean }: { row: TreeRow; about: string | null; mean: (ns: number) => string }) {
  const [cause] = causes;
  if (cause === undefined) return null;
  return (
    <>
      <strong>{cause.label}</strong>, {mean(cause.kernelNs)} in {formatCounted(cause.ops, "op")}.
      {about !== null && ` ${causeAbout(cause.label, about)}`}
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
  return (
    <button type="button" class="link-button" data-tip={path + apart} onClick={() => tree.select(row)}>
      {cutLabel(row.name, LETTERS)}
      {row.part === null ? "" : ` (${row.part})`}
      {row.members.length > 1 ? ` ×${formatCount(row.members.length)}` : ""}
      {others.length > 0 &&
        direction === "" &&
        `${row.members.length > 1 ? "" : " ×1"} of ${formatCount(row.members.length + others.length)}`}
      {direction}
    </button>
  );
}
