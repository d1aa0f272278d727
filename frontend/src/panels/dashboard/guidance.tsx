import type { DashboardResponse } from "../../api/types";
import { ExternalLink } from "../../components/external_link";
import { Layout, NarrowTypes, NarrowTypesLink } from "../../components/framework_advice";
import { Panel } from "../../components/panel";

/** Short advice that always holds for programs of this framework. */
export function Guidance({ data }: { data: DashboardResponse }) {
  const { framework } = data;
  const amd = data.matrix_unit !== "Tensor Core";
  if (!data.has_matrix_units)
    return (
      <Panel title="Guidance">
        <ul class="guidance">
          <li>This GPU has no {data.matrix_unit}s, which came with compute capability 7.0.</li>
          <li>
            FP16 still halves the bytes that are read and written. <NarrowTypesLink framework={framework} />
          </li>
        </ul>
      </Panel>
    );
  return (
    <Panel title="Guidance">
      <ul class="guidance">
        <li>
          {data.matrix_unit}s multiply matrices many times faster than the other units, in FP16, BF16, TF32 and FP8.{" "}
          {amd ? (
            <ExternalLink href="https://rocm.docs.amd.com/en/latest/how-to/rocm-for-ai/">ROCm for AI</ExternalLink>
          ) : (
            <ExternalLink href="https://docs.nvidia.com/deeplearning/performance/mixed-precision-training/index.html">
              Mixed precision training
            </ExternalLink>
          )}
        </li>
        <li>
          What turns them on: <NarrowTypes framework={framework} /> <NarrowTypesLink framework={framework} />
        </li>
        <li>
          Sizes of layers and batches that are multiples of 8 (FP16, BF16) or 16 (FP8, INT8) use them best.{" "}
          {!amd && (
            <ExternalLink href="https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html">
              Matrix multiplication guide
            </ExternalLink>
          )}
        </li>
        <li>
          Several kernels on one op are often transposes around the one that computes; transposes do not use{" "}
          {data.matrix_unit}
          s. <Layout framework={framework} />
        </li>
      </ul>
    </Panel>
  );
}
