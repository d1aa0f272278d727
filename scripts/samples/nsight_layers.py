"""The layers of the small network under Nsight Systems, with their kernels as Nsight Systems demangles them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple


class Run(NamedTuple):
    """One kernel of a layer."""

    name: str
    duration_ns: int
    tensor_core: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: its op as ``emit_nvtx`` names it, and the kernels of its two passes."""

    op: str
    node: str
    sizes: str
    forward: tuple[Run, ...]
    backward: tuple[Run, ...]


def _convolution(direction: str, tile: str) -> str:
    indexed = "indexed_" if direction == "wgrad" else ""
    return (
        f"sm80_xmma_{direction}_implicit_gemm_{indexed}tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize{tile}_stage4"
        "_warpsize2x2x1_g1_tensor16x8x8_execute_kernel__5x_cudnn"
    )


_RELU: Final = (
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::<unnamed>::launch_clamp_scalar("
    "at::TensorIteratorBase &, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::[lambda() (instance 1)]"
    "::operator ()() const::[lambda() (instance 7)]::operator ()() const::[lambda(float) (instance 1)], "
    "std::array<char *, (unsigned long)2>>(int, T2, T3)"
)
_THRESHOLD: Final = (
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, "
    "at::native::threshold_kernel_impl<float>(at::TensorIteratorBase &, T1, T1)::[lambda(float, float) (instance 1)]>, "
    "std::array<char *, (unsigned long)3>>(int, T2, T3)"
)
_SOFTMAX: Final = (
    "void <unnamed>::softmax_warp_forward<float, float, float, (int)4, (bool)1, (bool)0>(T2 *, const T1 *, int, int, "
    "int, const bool *, int, bool)"
)
_SOFTMAX_BACKWARD: Final = (
    "void <unnamed>::softmax_warp_backward<float, float, float, (int)4, (bool)1, (bool)0>(T2 *, const T1 *, "
    "const T1 *, int, int, int, const bool *)"
)

LAYERS: Final = (
    Layer(
        "aten::conv2d",
        "ConvolutionBackward0",
        "[[256, 1, 28, 28], [32, 1, 3, 3], [32], [], [], [], []]",
        forward=(Run(_convolution("fprop", "64x64x16"), 61_000, True),),
        backward=(Run(_convolution("wgrad", "64x64x32"), 74_000, True),),
    ),
    Layer(
        "aten::relu",
        "ReluBackward0",
        "[[256, 32, 26, 26]]",
        forward=(Run(_RELU, 38_000),),
        backward=(Run(_THRESHOLD, 55_000),),
    ),
    Layer(
        "aten::conv2d",
        "ConvolutionBackward0",
        "[[256, 32, 26, 26], [64, 32, 3, 3], [64], [], [], [], []]",
        forward=(Run(_convolution("fprop", "128x64x16"), 143_000, True),),
        backward=(
            Run(_convolution("dgrad", "128x64x16"), 171_000, True),
            Run(_convolution("wgrad", "128x128x16"), 166_000, True),
        ),
    ),
    Layer(
        "aten::relu",
        "ReluBackward0",
        "[[256, 64, 24, 24]]",
        forward=(Run(_RELU, 62_000),),
        backward=(Run(_THRESHOLD, 91_000),),
    ),
    Layer(
        "aten::linear",
        "AddmmBackward0",
        "[[256, 36864], [10, 36864], [10]]",
        forward=(Run("ampere_sgemm_32x32_sliced1x4_tn", 119_000),),
        backward=(Run("ampere_sgemm_128x32_nn", 88_000), Run("ampere_sgemm_32x128_nt", 97_000)),
    ),
    Layer(
        "aten::log_softmax",
        "LogSoftmaxBackward0",
        "[[256, 10], [], []]",
        forward=(Run(_SOFTMAX, 3_000),),
        backward=(Run(_SOFTMAX_BACKWARD, 3_100),),
    ),
)

SGD: Final = Run(
    "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::TensorListMetadata<(int)2>, "
    "at::native::<unnamed>::BinaryOpListAlphaFunctor<float, (int)2, (int)2, (int)0>, std::plus<float>, float>"
    "(T1, T2, T3...)",
    9_000,
)
