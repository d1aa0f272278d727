/** How matrix units are put to use, in the words of the program's framework; where it is not known, of those that people use. */
import { ExternalLink } from "./external_link";

interface AdviceProps {
  /** As the Dashboard's answer names it. */
  framework: string | null;
}

const TORCH = <code>torch.autocast</code>;
const TORCH_TF32 = <code>torch.set_float32_matmul_precision("high")</code>;
const KERAS = <code>tf.keras.mixed_precision.set_global_policy("mixed_float16")</code>;

/** The switches for narrower types. */
export function NarrowTypes({ framework }: AdviceProps) {
  switch (framework) {
    case "PyTorch":
      return (
        <>
          FP16 or BF16 by {TORCH}, or TF32 by {TORCH_TF32}.
        </>
      );
    case "TensorFlow":
      return <>FP16 by {KERAS}; TF32 is on unless the program turns it off.</>;
    case "JAX":
      return (
        <>
          BF16 by the layers' dtype (<code>jnp.bfloat16</code>), or TF32 by{" "}
          <code>jax.config.update("jax_default_matmul_precision", "tensorfloat32")</code>.
        </>
      );
    case "TensorRT":
      return (
        <>
          FP16, BF16, INT8 or FP8 in the builder's flags (<code>--fp16</code>, <code>--bf16</code>, <code>--int8</code>,{" "}
          <code>--fp8</code> of trtexec), or types in the network where it is strongly typed.
        </>
      );
    default:
      return (
        <>
          FP16 or BF16 (in PyTorch by {TORCH}, in TensorFlow by {KERAS}), or TF32.
        </>
      );
  }
}

export function NarrowTypesLink({ framework }: AdviceProps) {
  switch (framework) {
    case "PyTorch":
      return <ExternalLink href="https://pytorch.org/docs/stable/amp.html">Automatic mixed precision</ExternalLink>;
    case "TensorFlow":
      return <ExternalLink href="https://www.tensorflow.org/guide/mixed_precision">Mixed precision</ExternalLink>;
    case "JAX":
      return (
        <ExternalLink href="https://docs.jax.dev/en/latest/_autosummary/jax.default_matmul_precision.html">
          Precision of matrix multiplications
        </ExternalLink>
      );
    case "TensorRT":
      return <ExternalLink href="https://docs.nvidia.com/deeplearning/tensorrt/">TensorRT</ExternalLink>;
    default:
      return null;
  }
}

/** What spares the transposes around convolutions. */
export function Layout({ framework }: AdviceProps) {
  switch (framework) {
    case "PyTorch":
      return (
        <>
          The memory format <code>channels_last</code> avoids many of them in convolutions.
        </>
      );
    case "TensorFlow":
      return (
        <>
          The layout NHWC (<code>data_format="channels_last"</code>) avoids many of them in convolutions.
        </>
      );
    case "TensorRT":
      return (
        <>
          Reformatting between layers costs time too: numbers of channels that are multiples of 8, inputs and outputs in
          the formats of the first and last layers, and one type for neighbouring layers avoid much of it.
        </>
      );
    default:
      return <>The layout NHWC (channels last) avoids many of them in convolutions.</>;
  }
}
