/** What is known of one node of the graph: run time, kernels, and what to do about unused Tensor Cores. */
import { Fragment } from "preact";

import { Properties } from "../../components/properties";
import { DetailsPane } from "../../components/details_pane";
import { ExternalLink } from "../../components/external_link";
import { Layout, NarrowTypes } from "../../components/framework_advice";
import { LongestKernels } from "../../components/longest_kernels";
import type { GroupTree } from "../../components/tree/use_group_tree";
import { SumNote } from "../../components/sum_note";
import { Calls, Duration, Share } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { formatCount, formatCounted, UNKNOWN } from "../../format/number";
import { formatDuration, readableAndExact } from "../../format/time";
import { useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { causeAbout, divided } from "../../model/causes";
import { compatibilityOf } from "../../model/graph_layout";
import { linksOf } from "../../model/group_tree";
import { countedLabel, rowLabel, shownPath, type TreeRow } from "../../model/tree_row";
import { boundSharesInWords } from "../../model/shades";
import {
  chainOf,
  isNotEligible,
  knownOf,
  launchesNone,
  mayBeMoreTime,
  mayGainMore,
  mostlyCommunicates,
  tensorCoreShare,
  type Measure,
} from "../../model/tree_values";
import { showingOp } from "../../model/url_state";

/** Beside a table of them, and where there is none. */
const FEW_KERNELS = 5;
const MOST_KERNELS = 10;
/** Levels above that are named: the tree beside the pane shows them all. */
const NEAREST = 2;

const OF_GPU: ReadonlySet<Measure> = new Set(["gpu_time_ns", "gpu_idle_ns", "using_ops"]);

interface NodePaneProps {
  row: TreeRow;
  tree: GroupTree;
  /** Whether it lists more of the longest kernels, where no table of them stands below. */
  withKernels: boolean;
  onClose: () => void;
}

export function NodePane({ row, tree, withKernels, onClose }: NodePaneProps) {
  const scope = useScope();
  const { matrixUnit: unit } = scope;
  const { members, values } = row;
  const links = linksOf(tree.rows.tree, row);
  const levelsAbove = chainOf(row).slice(0, -1);
  const canStandAlone = !row.isOp && row.gathers === null && members.length === 1 && row.key !== tree.root;
  const isFold = row.gathers === null && members.length > 1;
  // Without any work of a GPU in the recording it is not known what one would have done.
  const known = (measure: Measure): number | null =>
    !scope.onGpu && OF_GPU.has(measure) ? null : knownOf(row, measure);
  return (
    <DetailsPane title={countedLabel(row)} onClose={onClose} calm>
      <div class="node-place">
        <nav class="chain" aria-label="Levels above" data-tip={shownPath(row)}>
          {levelsAbove.length > NEAREST && <span class="muted">… ›</span>}
          {levelsAbove.slice(-NEAREST).map((above, i) => (
            <Fragment key={above.key}>
              {i > 0 && (
                <span class="muted" aria-hidden="true">
                  ›
                </span>
              )}
              <button type="button" class="link-button" onClick={() => tree.select(above)}>
                {rowLabel(above)}
              </button>
            </Fragment>
          ))}
        </nav>
        {canStandAlone && (
          <button
            type="button"
            class="link-button"
            onClick={() => tree.change({ root: row.key, level: null, toggled: null })}
          >
            Show alone
          </button>
        )}
      </div>
      <p class="muted sums-note">
        {isFold && <>{formatCount(members.length)} alike, added up </>}
        <SumNote />
      </p>
      <Properties
        rows={[
          ["GPU time", <Duration ns={known("gpu_time_ns")} />],
          // As of ops that copy, too: the kernels that are listed add up to it.
          ...(values.kernel_time_ns > 0 && formatDuration(values.kernel_time_ns) !== formatDuration(values.gpu_time_ns)
            ? ([["In kernels", <Duration ns={known("kernel_time_ns")} />]] as const)
            : []),
          [
            `${unit} kernels${mayBeMoreTime(row) && tensorCoreShare(row) !== null ? ", at least" : ""}`,
            <Share
              fraction={tensorCoreShare(row)}
              of={`${readableAndExact(values.tensor_core_time_ns)} of ${readableAndExact(values.kernel_time_ns)} kernel time`}
              none={!scope.onGpu || launchesNone(row) ? "no kernels" : isNotEligible(row) ? "not eligible" : UNKNOWN}
            />,
          ],
          ...(scope.onGpu && known("gain_ns") !== null
            ? ([
                [mayGainMore(row) ? "Could gain, known ops" : "Could gain, up to", <Duration ns={known("gain_ns")} />],
                ["Kernel time bound by", boundSharesInWords(row) || UNKNOWN],
              ] as const)
            : []),
        ]}
      />
      {scope.onGpu && links !== null && (
        <LongestKernels
          table={"group" in links ? "kernels_of_group" : "kernels_of_op"}
          links={links}
          most={withKernels ? MOST_KERNELS : FEW_KERNELS}
        />
      )}
      {scope.onGpu ? (
        <Advice row={row} unit={unit} framework={scope.framework} narrows={!withKernels && links?.op === undefined} />
      ) : (
        <p class="muted">No kernels were recorded, so that nothing tells whether {unit}s were used.</p>
      )}
      <Properties
        rows={[
          ["Calls", <Calls key="calls" value={known("calls")} />],
          ["Eligible ops", formatCount(known("eligible_ops"))],
          [`Using ${unit}s`, formatCount(known("using_ops"))],
          ["CPU time", <Duration ns={known("cpu_time_ns")} />],
          ["CPU overhead", <Duration ns={known("cpu_overhead_ns")} />],
          ["Gaps within calls", <Duration ns={known("gpu_idle_ns")} />],
        ]}
      />
      {links?.op !== undefined ? (
        <ViewLink class="button" to={showingOp("ops", links.op)}>
          Open in Ops
        </ViewLink>
      ) : (
        withKernels && (
          <ViewLink class="button" to={{ "groups.as": null }}>
            Show in the tree
          </ViewLink>
        )
      )}
    </DetailsPane>
  );
}

/** Why work of eligible ops is not on the units, or why nobody knows, and what to do about it; where a table of the ops is shown, a click narrows it. */
function Causes({ row, unit, narrows }: { row: TreeRow; unit: string; narrows: boolean }) {
  const chosen = useUrl()["gops.where.cause"] ?? "";
  const { keptOff, untold } = divided(row.causes);
  const lists = [
    [`but not on ${unit}s`, keptOff],
    [`not known whether on ${unit}s`, untold],
  ] as const;
  return (
    <>
      {lists.map(
        ([what, causes]) =>
          causes.length > 0 && (
            <Fragment key={what}>
              <p>
                {row.isOp ? "Eligible" : "Of eligible ops"}, {what}:
              </p>
              <ul class="steps">
                {causes.map(({ label, kernelNs, ops }) => (
                  <li key={label}>
                    {narrows ? (
                      <button
                        type="button"
                        class="link-button"
                        aria-pressed={chosen === label}
                        data-tip="A click shows these ops below."
                        onClick={() =>
                          navigate({ "gops.where.cause": chosen === label ? null : label, "gops.page": null })
                        }
                      >
                        {label}
                      </button>
                    ) : (
                      <strong>{label}</strong>
                    )}
                    , <Duration ns={kernelNs} /> in {formatCounted(ops, "op")}. {causeAbout(label, unit)}
                  </li>
                ))}
              </ul>
            </Fragment>
          ),
      )}
    </>
  );
}

interface AdviceProps {
  row: TreeRow;
  unit: string;
  framework: string | null;
  /** Whether a table of its ops stands below. */
  narrows: boolean;
}

function Advice({ row, unit, framework, narrows }: AdviceProps) {
  const kind = compatibilityOf(row, true);
  if (row.causes.length > 0) return <Causes row={row} unit={unit} narrows={narrows} />;
  if (mostlyCommunicates(row))
    return (
      <p class="muted">
        It communicates: it waits for other GPUs and transfers.{" "}
        <ViewLink to={{ view: "gpus" }}>GPUs and Ranks</ViewLink> tells how much of that is either.
      </p>
    );
  if (kind === "not_known")
    return (
      <p class="muted">
        Whether this {row.values.eligible_ops > 0 ? "uses" : "could use"} {unit}s is not known: no op is known to have
        launched it, the names of its kernels do not say, or it is a CUDA graph that was recorded as a whole.
      </p>
    );
  if (kind === "not_eligible")
    return (
      <p class="muted">
        Nothing here multiplies matrices in a way that {unit}s could do: no convolution, linear layer, matrix
        multiplication or recurrent cell with known data types.
      </p>
    );
  if (kind === "using" && row.values.using_ops === row.values.eligible_ops)
    return <p class="muted">Every eligible op has at least one kernel that uses {unit}s.</p>;
  return (
    <>
      <p>
        {kind === "using" ? "Some eligible ops do not use them." : `Eligible, but no kernel uses ${unit}s.`} What
        usually helps:
      </p>
      <ul class="steps">
        <li>
          <NarrowTypes framework={framework} />
        </li>
        <li>Sizes of layers, channels and batches that are multiples of 8 (FP16, BF16) or 16 (FP8, INT8).</li>
        <li>
          No transposes around convolutions. <Layout framework={framework} />
        </li>
      </ul>
      {unit === "Tensor Core" && (
        <p>
          <ExternalLink href="https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html">
            When Tensor Cores are used
          </ExternalLink>
        </p>
      )}
    </>
  );
}
