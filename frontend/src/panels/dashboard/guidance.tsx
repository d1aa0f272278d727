import type { DashboardResponse } from "../../api/types";
import { ExternalLink } from "../../components/external_link";
import { Panel } from "../../components/panel";

/** Short advice that always holds. */
export function Guidance({ data }: { data: DashboardResponse }) {
  const amd = data.matrix_unit !== "Tensor Core";
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
          In PyTorch <code>torch.autocast</code> and <code>torch.set_float32_matmul_precision("high")</code> turn them
          on. <ExternalLink href="https://pytorch.org/docs/stable/amp.html">Automatic mixed precision</ExternalLink>
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
          s. The memory format <code>channels_last</code> avoids many of them in convolutions.
        </li>
      </ul>
    </Panel>
  );
}
