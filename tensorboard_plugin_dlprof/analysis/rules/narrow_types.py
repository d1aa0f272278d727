"""Rules about products that could be faster in a narrower type: 16 bits, TF32 or FP8."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import most_in, work_evidence
from tensorboard_plugin_dlprof.analysis.gains import about_kernels
from tensorboard_plugin_dlprof.analysis.precision_gain import Saving, narrower
from tensorboard_plugin_dlprof.analysis.program import CUBLAS_LINK, TENSORRT_LINK, Framework
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.analysis.wording import Number
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.efficiency.tables import Cause

_AMP_LINK = "https://pytorch.org/docs/stable/amp.html"
_TF32_LINK = "https://pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices"

_DOUBLE_IN_PYTHON = (
    "Look for float64 tensors: NumPy's default type, Python scalars on tensors of integers, linspace and arange; "
    "cast them to float32 where they are made."
)

_VOLTA, _AMPERE = 7, 8
"""Major capabilities of the first GPUs with Tensor Cores and with TF32."""

_FP8_SAVES = (0.12, 0.35)
"""Share of the time of large products that FP8 saves."""


def mixed_precision(signals: Signals) -> Finding | Lacks | None:
    """Products in FP32 or TF32 that 16 bits would make faster."""
    selected = _products(signals, "fp32", "tf32")
    time = signals.time(selected)
    share = signals.kernel_share(time)
    if share < thresholds.PRODUCT_FRACTION:
        return None
    if not signals.capability_major and (signals.device is None or not signals.device.name):
        return Lacks("the name of the GPU", "PyTorch's profiler records it since 1.9.")
    if not _has_matrix_units(signals):
        return None
    half = _half(signals)
    saved = narrower(signals, selected, half, 0.5)
    numbers: dict[str, Number] = {
        "what": _what(signals, selected),
        "now": _types(signals, selected),
        "kernels": signals.kernel_count(selected),
        "products_ns": signals.kernel_time(selected),
        "share_fraction": signals.stated_share(selected),
        "most": most_in(signals, selected),
        "type": "bfloat16" if half == "bf16" else "float16",
        "unit": "Matrix Cores" if signals.is_amd else "Tensor Cores",
        "scaler": "" if half == "bf16" else " and torch.amp.GradScaler" if signals.backward else "",
    }
    return Finding(
        "amp_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "products",
        "{what} in {now} take {products_ns} of each iteration ({share_fraction}; {kernels} "
        "{kernels:kernel|kernels}{most}); {unit} could do them in 16 bits.",
        signals.advice(
            'Use automatic mixed precision: torch.autocast("cuda", dtype=torch.{type}){scaler}, or a model in {type}.',
            tensorflow='Use mixed precision: tf.keras.mixed_precision.set_global_policy("mixed_{type}"), with a '
            "LossScaleOptimizer around an optimizer of your own for float16.",
            jax="Compute in jnp.bfloat16: dtype of the layers (Flax, Haiku, Equinox), or arrays cast before; "
            "keep parameters and sums in float32.",
            tensorrt="Build the engine for 16 bits: --fp16 or --bf16 of trtexec, or types in the network where it is "
            "strongly typed.",
            cuda="Multiply in 16 bits, with sums in FP32: operands of {type} for cublasGemmEx, cuBLASLt and cuDNN "
            "(CUBLAS_COMPUTE_32F).",
        ),
        numbers,
        work_evidence(signals, selected),
        link=signals.advice(
            _AMP_LINK,
            tensorflow="https://www.tensorflow.org/guide/mixed_precision",
            jax="https://docs.jax.dev/en/latest/gpu_performance_tips.html",
            tensorrt=TENSORRT_LINK,
            cuda=CUBLAS_LINK,
        ),
        action="ShowBadDataTypeOps",
        overlaps_with=("tf32_detector",),
        **about_kernels(signals, selected, _claimed(saved), _how(saved, "16-bit"), _unknown_rates(signals)),
    )


def tf32(signals: Signals) -> Finding | Lacks | None:
    """Products in FP32 on a device that could compute them as TF32, which is a switch."""
    if signals.is_amd or signals.capability_major < _AMPERE:
        return None
    selected = _products(signals, "fp32") & (signals.profile.kernels.matrix_unit[signals.kernel] == MatrixUnit.NO)
    convolutions = signals.of_convolutions[signals.kernel]
    if signals.framework is Framework.PYTORCH:  # It has a switch for each; what one cannot do, its library has chosen.
        on_for_convolutions, on_for_others = signals.switches_of_tf32
        selected &= ~convolutions if on_for_convolutions else True
        selected &= convolutions if on_for_others else True
    time = signals.time(selected)
    share = signals.kernel_share(time)
    if share < thresholds.PRODUCT_FRACTION:
        return None
    saved = narrower(signals, selected, "tf32", 1.0)
    elsewhere = signals.uses_tf32
    return Finding(
        "tf32_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "products",
        "{what} in full FP32 take {products_ns} of each iteration ({share_fraction}; {kernels} "
        "{kernels:kernel|kernels}{most}) on a GPU that could use TF32"
        + (", as other kernels of this program do." if elsewhere else "; no kernel uses it."),
        signals.advice(
            "Allow TF32: "
            + " and ".join(
                switch
                for switch, which in (
                    ('torch.set_float32_matmul_precision("high")', ~convolutions),
                    ("torch.backends.cudnn.allow_tf32 = True", convolutions),
                )
                if (selected & which).any()
            )
            + ".",
            tensorflow="Allow TF32: tf.config.experimental.enable_tensor_float_32_execution(True).",
            jax='Allow TF32: jax.config.update("jax_default_matmul_precision", "tensorfloat32"), or '
            'with jax.default_matmul_precision("tensorfloat32") around a part; no precision="highest" in it.',
            tensorrt="Allow TF32: build the engine without --noTF32.",
            cuda="Allow TF32: cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), and in cuDNN no CUDNN_FMA_MATH.",
        )
        + " Sums stay in FP32, operands keep 10 bits of mantissa.",
        {
            "what": _what(signals, selected),
            "kernels": signals.kernel_count(selected),
            "products_ns": signals.kernel_time(selected),
            "share_fraction": signals.stated_share(selected),
            "most": most_in(signals, selected),
        },
        work_evidence(signals, selected),
        link=signals.advice(
            _TF32_LINK,
            tensorflow="https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_tensor_float_32_execution",
            jax="https://docs.jax.dev/en/latest/_autosummary/jax.default_matmul_precision.html",
            tensorrt=TENSORRT_LINK,
            cuda=CUBLAS_LINK,
        ),
        overlaps_with=("amp_detector",),
        **about_kernels(signals, selected, _claimed(saved), _how(saved, "TF32"), _unknown_rates(signals)),
    )


def double_precision(signals: Signals) -> Finding | Lacks | None:
    """Kernels in FP64, which models rarely mean to use."""
    selected = signals.of_precision("fp64")
    time, products = signals.time(selected), signals.time(selected & signals.products)
    if signals.kernel_share(time) < thresholds.FP64_FRACTION:
        return None
    return Finding(
        "fp64_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "double precision",
        "Double-precision kernels take {kernels_ns} of each iteration ({share_fraction}).",
        signals.advice(
            _DOUBLE_IN_PYTHON,
            tensorflow=_DOUBLE_IN_PYTHON,
            tensorrt=_DOUBLE_IN_PYTHON,
            jax="Where single precision is enough, leave jax_enable_x64 off, and give NumPy arrays dtype=np.float32.",
            cuda="Where single precision is enough, keep to it: float in place of double, and no constants such as "
            "1.0, which make whole expressions double.",
        ),
        {"kernels_ns": signals.kernel_time(selected), "share_fraction": signals.stated_share(selected)},
        work_evidence(signals, selected),
        **about_kernels(
            signals,
            selected,
            {
                Pool.PRODUCTS: (0.3 * products, 0.7 * products),
                Pool.OTHER_KERNELS: (0.3 * (time - products), 0.7 * (time - products)),
            },
            "FP32 moves half the bytes and computes at least twice as fast.",
        ),
    )


def fp8(signals: Signals) -> Finding | Lacks | None:
    """Large 16-bit products on a device that supports FP8. TensorFlow has no way to request it."""
    peaks, ops = signals.peaks, signals.efficiency.ops
    if peaks is None or "fp8" not in peaks.matrix_flops or signals.framework is Framework.TENSORFLOW:
        return None
    rows = np.array(
        [
            row
            for row in np.flatnonzero(ops.product_flops > 0).tolist()
            if ops.precision[row] in ("fp16", "bf16") and ops.family[row] == "gemm" and _is_large(signals, row)
        ],
        np.int64,
    )
    are_large = np.zeros(len(signals.profile.ops), np.bool_)
    are_large[ops.op[rows]] = True
    selected = signals.of_ops(are_large) & signals.products
    time = signals.time(selected)
    if signals.kernel_share(time) < thresholds.FP8_FRACTION:
        return None
    return Finding(
        "fp8_detector",
        Severity.INFO,
        Confidence.LOW,
        "fp8",
        "{ops} large matrix {ops:multiplication in 16 bits takes|multiplications in 16 bits take} "
        "{products_ns} of each iteration "
        "({share_fraction}), on a GPU that multiplies up to twice as fast in FP8.",
        signals.advice(
            "Try FP8 for the linear layers (Transformer Engine, torchao.float8), and "
            + ("watch the loss" if signals.backward else "compare answers")
            + ": values must be scaled to its range, and only large layers gain from it.",
            tensorflow="",
            jax="Try FP8 for the linear layers (Transformer Engine for JAX, qwix), and watch the loss.",
            tensorrt="Try FP8: quantise the model with its scales, build the engine with --fp8, and compare answers.",
            cuda="Try FP8 for large multiplications (cuBLASLt), and compare answers: it needs scaling.",
        ),
        {
            "ops": len(rows),
            "products_ns": signals.kernel_time(selected),
            "share_fraction": signals.stated_share(selected),
        },
        work_evidence(signals, selected),
        link="https://docs.nvidia.com/deeplearning/transformer-engine/user-guide/examples/fp8_primer.html",
        **about_kernels(
            signals, selected, {Pool.PRODUCTS: (_FP8_SAVES[0] * time, _FP8_SAVES[1] * time)},
            "Twice the rate, less what casting and scaling cost: training is reported to be 1.1 to 1.5 times as fast.",
        ),
    )  # fmt: skip


def _products(signals: Signals, *precisions: str) -> Bools:
    """The aggregated kernels that multiply matrices in these precisions and that are worth it.

    Kernels of unknown precision count with their op. A framework's options do not change kernels of the user's own.
    """
    facts, ops = signals.efficiency.facts, signals.efficiency.ops
    selected = signals.products & signals.of_precision("", *precisions)
    if signals.framework is not Framework.UNKNOWN:
        selected &= ~signals.of_library("custom")
    fits = np.zeros(len(signals.profile.ops), np.bool_)
    small = fits.copy()
    fits[ops.op] = [precision in precisions for precision in ops.precision]
    small[ops.op] = [cause is Cause.TOO_SMALL for cause in ops.cause]
    unknown = np.array([not precision for precision in facts.precisions], np.bool_)[facts.precision[signals.kernel]]
    return selected & ~signals.of_ops(small | signals.searching) & (~unknown | signals.of_ops(fits))


def _what(signals: Signals, selected: Bools) -> str:
    """What products are."""
    convolves = signals.of_convolutions[signals.kernel]
    kinds = {"matrix multiplications": ~convolves, "convolutions": convolves}
    return " and ".join(name for name, which in kinds.items() if (selected & which).any()).capitalize()


def _types(signals: Signals, selected: Bools) -> str:
    """The types of products: attention in FP32 is FP32, though it splits its operands for TF32."""
    tf32, attention = signals.of_precision("tf32"), signals.of_family("attention")
    are = {"FP32": signals.of_precision("fp32") | (tf32 & attention), "TF32": tf32 & ~attention}
    return " and ".join(name for name, which in are.items() if (selected & which).any())


def _claimed(saved: Saving | None) -> dict[Pool, tuple[float, float]] | None:
    return None if saved is None else {Pool.PRODUCTS: (saved.low_ns, saved.high_ns)}


def _how(saved: Saving | None, rate: str) -> str:
    if saved is not None and saved.modelled:
        return (
            f"Each multiplication from its FLOPs and bytes: 35 to 75 % of the GPU's {rate} rate, 80 % of the memory's"
            + ("; at least what is left after casting what it reads." if rate == "16-bit" else ".")
        )
    return (
        f"The GPU's {rate} rate over that of the unit used now, of which kernels reach 35 to 75 %; without shapes, at "
        "most 3 times (low) and 8 times (high) as fast."
    )


def _unknown_rates(signals: Signals) -> str:
    if signals.peaks is not None:
        return ""
    if signals.device is not None and signals.device.name:
        return f"The peak rates of the {signals.device.name} are not known to this program."
    return "The recording does not name the GPU, so its rates are unknown; newer profilers name it."


def _half(signals: Signals) -> str:
    """The 16-bit type to recommend: BF16 if the device's matrix units support it, else FP16."""
    peaks = signals.peaks
    if peaks is not None:
        return "bf16" if "bf16" in peaks.matrix_flops else "fp16"
    return "bf16" if signals.capability_major >= _AMPERE else "fp16"


def _has_matrix_units(signals: Signals) -> bool:
    if signals.peaks is not None:
        return bool(signals.peaks.matrix_flops)
    return not signals.is_amd and signals.capability_major >= _VOLTA


def _is_large(signals: Signals, row: int) -> bool:
    lengths = signals.efficiency.ops.dimensions[row]
    return bool(lengths) and min(lengths) >= thresholds.FP8_LENGTH
