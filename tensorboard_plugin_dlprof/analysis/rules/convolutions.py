"""Rules about convolutions: layout and choice of algorithm."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import op_evidence, work_evidence
from tensorboard_plugin_dlprof.analysis.gains import about_kernels
from tensorboard_plugin_dlprof.analysis.program import CUDNN_LINK, NO_SHAPES, TENSORRT_LINK
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.efficiency.tables import Bound
from tensorboard_plugin_dlprof.events.tables import Int64s


def layout(signals: Signals) -> Finding | Lacks | None:
    """Kernels that change NCHW to NHWC and back around convolutions."""
    selected = signals.transposing
    time = signals.time(selected)
    has_convolutions = bool(signals.of_family("convolution").any())
    if not has_convolutions or signals.kernel_share(time) < thresholds.LAYOUT_FRACTION:
        return None
    return Finding(
        "layout_detector",
        Severity.ADVICE,
        Confidence.HIGH,
        "layout",
        "{kernels} {kernels:kernel only changes|kernels only change} the layout of tensors around convolutions; "
        "{kernels:it takes|they take} {transposes_ns} of each iteration ({share_fraction}).",
        signals.advice(
            "Keep the model and its input in NHWC: model.to(memory_format=torch.channels_last), and the same for the "
            "input.",
            tensorflow='Keep the model and its input in one layout: data_format="channels_last" throughout, which '
            "Tensor Cores want with 16 bits.",
            tensorrt="Give the engine its input in the layout of its first layer (--inputIOFormats=fp16:hwc8 of "
            "trtexec), and neighbouring layers one type: TensorRT chooses layouts, and reformats where they differ.",
            jax='Keep tensors in NHWC: dimension_numbers=("NHWC", "HWIO", "NHWC") of lax.conv_general_dilated, as Flax '
            "has it.",
            cuda="Keep tensors and filters in NHWC throughout, which Tensor Cores want with 16 bits.",
        ),
        {
            "kernels": signals.kernel_count(selected),
            "transposes_ns": signals.kernel_time(selected),
            "share_fraction": signals.stated_share(selected),
        },
        work_evidence(signals, selected),
        link=signals.advice(
            "https://pytorch.org/tutorials/intermediate/memory_format_tutorial.html",
            tensorflow="https://www.tensorflow.org/guide/graph_optimization",
            tensorrt=TENSORRT_LINK,
            cuda=CUDNN_LINK,
        ),
        **about_kernels(
            signals, selected, {Pool.LAYOUT: (0.5 * time, time)},
            "The kernels themselves; some may stay at the edges of the network.",
            fewer=True,
        ),
    )  # fmt: skip


def benchmark(signals: Signals) -> Finding | Lacks | None:
    """Convolutions by slow algorithms, or with cuDNN's search for the fastest switched off."""
    ops = signals.efficiency.ops
    rows = np.array([row for row, family in enumerate(ops.family) if family == "convolution"], np.int64)
    if not len(rows):
        return None
    if signals.profile.dlprof_markers:
        return _as_recorded(signals, rows)
    known = rows[(ops.product_flops[rows] > 0) & (ops.measured_ns[rows] > 0) & ~np.isnan(ops.peak_flops[rows])]
    if not len(known):
        return Lacks(
            signals.advice("whether cudnn.benchmark is on, and the", tensorflow="the", tensorrt="the", cuda="the")
            + " FLOPs of convolutions that would show slow ones",
            signals.advice(
                "Record with profile(record_shapes=True).",
                torch_nsys="Record with emit_nvtx(record_shapes=True), backward passes among it.",
                tensorflow="No recording of TensorFlow has their strides and paddings.",
                tensorrt="The ranges of TensorRT carry no shapes.",
                cuda=NO_SHAPES,
            ),
        )
    reached = ops.product_flops[known] / (ops.measured_ns[known] * 1e-9 * ops.peak_flops[known])
    is_bound = np.array([ops.bound[row] is Bound.COMPUTE for row in known.tolist()])
    slow = known[(reached < thresholds.SLOW_CONVOLUTION_RATE) & is_bound]
    are_slow = np.zeros(len(signals.profile.ops), np.bool_)
    are_slow[ops.op[slow]] = True
    selected = signals.of_ops(are_slow) & signals.products
    if signals.kernel_share(signals.time(selected)) < thresholds.SLOW_CONVOLUTION_FRACTION:
        return None
    return Finding(
        "cudnn_benchmark_detector",
        Severity.ADVICE,
        Confidence.LOW,
        "convolutions",
        "{ops} {ops:convolution reaches|convolutions reach} less than 30 % of the device's rate for {ops:its|their} "
        "type, though the memory would allow more; {ops:it takes|they take} {convolutions_ns} of each iteration.",
        "Let the library search for the fastest algorithm"
        + signals.advice(
            ": torch.backends.cudnn.benchmark = True, where shapes are stable.",
            tensorflow=", as TensorFlow does unless TF_CUDNN_USE_AUTOTUNE=0 or deterministic ops are set.",
            jax=", as XLA does unless --xla_gpu_autotune_level is lowered or --xla_gpu_deterministic_ops is set.",
            tensorrt=": build the engine with more time to choose (--builderOptimizationLevel=5, a larger workspace).",
            cuda=": once for each shape, by cudnnFindConvolutionForwardAlgorithm or each plan of a cuDNN graph timed.",
        ),
        {"ops": len(slow), "convolutions_ns": signals.kernel_time(selected)},
        work_evidence(signals, selected),
        link=signals.advice(
            "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#enable-cudnn-auto-tuner",
            tensorflow="",
            tensorrt=TENSORRT_LINK,
            cuda=CUDNN_LINK,
        ),
        **about_kernels(
            signals, selected, None, "", "Only the search itself shows whether there is a faster algorithm; try it."
        ),
    )  # fmt: skip


def _as_recorded(signals: Signals, rows: Int64s) -> Finding | None:
    """The finding based on cuDNN's setting, which DLProf's markers record."""
    if not signals.profile.model_config.cudnn_benchmark_disabled:
        return None
    return Finding(
        "cudnn_benchmark_detector",
        Severity.ADVICE,
        Confidence.LOW,
        "convolutions",
        "The profile has {ops} {ops:convolution|convolutions}, and torch.backends.cudnn.benchmark was off.",
        "Let the library search for the fastest algorithm: torch.backends.cudnn.benchmark = True, where shapes are "
        "stable.",
        {"ops": len(rows)},
        op_evidence(signals, rows),
    )
