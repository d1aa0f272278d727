/** In sentences above the modules: which of them could gain most, or takes most, and why eligible ops do not use matrix units. */
import { useMemo } from "preact/hooks";

import type { GroupTree } from "../../components/tree/use_group_tree";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { formatCount, ofIterations } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration } from "../../format/time";
import { useScope } from "../../frame/scope";
import { causeAbout } from "../../model/causes";
import { pathOf, type TreeRow } from "../../model/group_tree";
import { boundInWords } from "../../model/shades";
import { eligibleSentence, othersOf, wasteOf } from "../../model/waste";

export function WasteNote({ tree, matrixUnit }: { tree: GroupTree; matrixUnit: string }) {
  const { longest, gains, isLongestUntold, limited, ops } = useMemo(() => wasteOf(tree.unordered), [tree.unordered]);
  const row = useOneStop<HTMLElement>();
  const [cause] = limited?.causes ?? [];
  const bound = gains === null ? "" : boundInWords(gains);
  const whole = tree.unordered.roots.reduce((sum, { values }) => sum + values.gpu_time_ns, 0);
  const inIterations = ofIterations(" in", useScope().iterations);
  const sentences = [
    (gains === null || isLongestUntold) && longest !== null && (
      <>
        Most GPU time: <Place row={longest} tree={tree} />,{" "}
        <strong class="nowrap">{formatDuration(longest.values.gpu_time_ns)}</strong> (
        {formatShare(shareOf(longest.values.gpu_time_ns, whole))}){inIterations}
        {gains !== null && "; what it could gain is not known"}.
      </>
    ),
    gains !== null && (
      <>
        Could gain most{isLongestUntold && " of what is known"}: <Place row={gains} tree={tree} />, up to{" "}
        <strong class="nowrap">{formatDuration(gains.values.gain_ns)}</strong> of its{" "}
        {formatDuration(gains.values.gpu_time_ns)} GPU time{inIterations}
        {bound === "" ? "" : `; ${bound}`}.
      </>
    ),
    gains !== null && (
      <>
        That is kernel time above the GPU's published rates; what a step gains of it stands in{" "}
        <ViewLink class="link-button" to={{ view: "recommendations" }}>
          Recommendations
        </ViewLink>
        .
      </>
    ),
    limited !== null && cause !== undefined && (
      <>
        Most time in eligible ops that do not use {matrixUnit}s, or not well: <Place row={limited} tree={tree} />,{" "}
        {formatDuration(cause.kernelNs)}
        {inIterations}. <strong>{cause.label}</strong>: {causeAbout(cause.label, matrixUnit)}
      </>
    ),
    whole > 0 && eligibleSentence(ops, matrixUnit),
  ].filter((sentence) => sentence !== false);
  const [first, ...others] = sentences;
  if (first === undefined) return null;
  return (
    <header class="headline waste" {...row}>
      <h2>{first}</h2>
      <p class="model-line">
        {others.map((sentence, i) => (
          <span key={i}>{sentence}</span>
        ))}
      </p>
    </header>
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
      {row.name === "/" ? "the whole model" : row.name}
      {row.members.length > 1 ? ` ×${formatCount(row.members.length)}` : ""}
      {others.length > 0 &&
        `${row.members.length > 1 ? "" : " ×1"} of ${formatCount(row.members.length + others.length)}`}
    </button>
  );
}
