/** In sentences above the modules: which of them could gain most, or takes most, why, and why eligible ops do not use matrix units. */
import { useMemo } from "preact/hooks";

import { IterationGain } from "../../components/iteration_gain";
import type { GroupTree } from "../../components/tree/use_group_tree";
import { useOneStop } from "../../components/walking";
import { formatCount, formatCounted, ofIterations } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { causeAbout, isUntold } from "../../model/causes";
import { pathOf, type TreeRow } from "../../model/group_tree";
import { iterationGain } from "../../model/iteration_gain";
import { labelOf } from "../../model/kernel_name";
import { boundInWords } from "../../model/shades";
import { timeOf } from "../../model/tree_values";
import { eligibleSentence, onUnitsInWords, othersOf, wasteOf } from "../../model/waste";

const ABOVE_RATES = "Kernel time above the GPU's published rates";

export function WasteNote({ tree, matrixUnit }: { tree: GroupTree; matrixUnit: string }) {
  const { longest, gains, isLongestUntold, limited, ops } = useMemo(() => wasteOf(tree.unordered), [tree.unordered]);
  const stop = useOneStop<HTMLElement>();
  const { iterations, busy } = useScope();
  const inIterations = ofIterations(" in", iterations);
  const named = gains === null || isLongestUntold ? longest : gains;
  if (named === null) return null;
  const { by, whole } = timeOf(tree.unordered.roots);
  const isOnGpu = by === "gpu_time_ns";
  const time = named.values[by];
  const [missing] = tree.missing;
  const about = [onUnitsInWords(named, matrixUnit), boundInWords(named)].filter(Boolean).join(", ");
  const unknown = gains === null ? "What modules could gain" : isLongestUntold ? "What it could gain" : "";
  const sentencesOfGpu = [
    <>
      {about}. {/* What holds for the named row is said of it, once. */}
      {limited?.key === named.key && (
        <>
          {isUntold(limited.causes[0]?.label ?? "") ? "What is not known:" : "Why not more:"}{" "}
          <Cause row={limited} matrixUnit={matrixUnit} />
        </>
      )}
    </>,
    limited !== null && limited.key !== named.key && (
      <>
        <Place row={limited} tree={tree} /> takes the most time that could be on {matrixUnit}s and is not
        {isUntold(limited.causes[0]?.label ?? "") ? " known to be" : ", or not well"}:{" "}
        <Cause row={limited} matrixUnit={matrixUnit} />
      </>
    ),
    isLongestUntold && gains !== null && (
      <>
        Of what is known, <Place row={gains} tree={tree} /> could gain most: up to{" "}
        {formatDuration(gains.values.gain_ns)} of {formatDuration(gains.values.kernel_time_ns)} kernel time.
      </>
    ),
    gains !== null && iterationGain(busy) !== "" && <IterationGain />,
    <>
      {eligibleSentence(ops, matrixUnit)}{" "}
      {unknown !== "" && missing !== undefined && (
        <>
          {unknown} is not known without {lowered(missing.what)}. {missing.hint}
        </>
      )}
    </>,
  ];
  const sentences = (isOnGpu ? sentencesOfGpu : [ops.eligible > 0 && withoutKernels(ops.eligible, matrixUnit)]).filter(
    (sentence) => sentence !== false,
  );
  return (
    <header class="headline waste" {...stop}>
      <h2>
        <Place row={named} tree={tree} />{" "}
        {gains === named ? (
          <>
            could gain most: up to{" "}
            <strong class="nowrap" data-tip={ABOVE_RATES}>
              {formatDuration(named.values.gain_ns)}
            </strong>{" "}
            of its {formatDuration(named.values.kernel_time_ns)} kernel time{inIterations}.
          </>
        ) : (
          <>
            takes most {isOnGpu ? "GPU" : "CPU"} time: <strong class="nowrap">{formatDuration(time)}</strong>
            {inIterations}, {formatShare(shareOf(time, whole))}.
          </>
        )}
      </h2>
      <ul class="waste-lines">
        {sentences.map((sentence, i) => (
          <li key={i}>{sentence}</li>
        ))}
      </ul>
    </header>
  );
}

/** Without work of a GPU in the recording. */
const withoutKernels = (eligible: number, unit: string): string =>
  `Eligible for ${unit}s: ${formatCounted(eligible, "op")}. No kernels were recorded, which would tell which of them use ${unit}s.`;

/** Lowered, but for abbreviations. */
const lowered = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/** The cause of most of what the row does not do on matrix units. */
function Cause({ row: { causes }, matrixUnit }: { row: TreeRow; matrixUnit: string }) {
  const [cause] = causes;
  if (cause === undefined) return null;
  return (
    <>
      <strong>{cause.label}</strong>, {formatDuration(cause.kernelNs)} in {formatCounted(cause.ops, "op")}.{" "}
      {causeAbout(cause.label, matrixUnit)}
    </>
  );
}

function Place({ row, tree }: { row: TreeRow; tree: GroupTree }) {
  const path = pathOf(tree.rows.tree, row.members[0] ?? 0);
  const others = useMemo(() => othersOf(tree.rows, row), [tree.rows, row]);
  const [other] = others;
  const apart =
    other === undefined
      ? ""
      : `\n${formatCount(others.length)} more of this path, but for its numbers, in modules that are not alike, counted apart: ${other}`;
  return (
    <button type="button" class="link-button" data-tip={path + apart} onClick={() => tree.select(row)}>
      {labelOf(row.name)}
      {row.members.length > 1 ? ` ×${formatCount(row.members.length)}` : ""}
      {others.length > 0 &&
        `${row.members.length > 1 ? "" : " ×1"} of ${formatCount(row.members.length + others.length)}`}
    </button>
  );
}
