"""Rules about lengths that do not suit matrix units."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.attention_pattern import written_out
from tensorboard_plugin_dlprof.analysis.evidence import work_evidence
from tensorboard_plugin_dlprof.analysis.gains import about_kernels
from tensorboard_plugin_dlprof.analysis.program import NO_SHAPES
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.expressions import Expression

_NARROW = ("fp16", "bf16", "fp8", "int8", "fp4")

_OF_UNITS = (*_NARROW, "tf32")


def shapes(signals: Signals) -> Finding | Lacks | None:
    """Products in TF32 and narrower types that are slower because a length is no multiple of 16 bytes.

    They do not use matrix units, or their kernel's name says that it loads less than 16 bytes at a time.
    """
    ops = signals.efficiency.ops
    products = [
        row for row, family in enumerate(ops.family) if family in PRODUCT_FAMILIES and ops.precision[row] in _OF_UNITS
    ]
    if products and not any(ops.dimensions[row] for row in products):
        return Lacks(
            "the shapes of the ops",
            signals.advice(
                "Record with profile(record_shapes=True).",
                torch_nsys="Record with emit_nvtx(record_shapes=True).",
                tensorflow="No recording of TensorFlow says which of them is transposed.",
                tensorrt="The ranges of TensorRT carry no shapes.",
                cuda=NO_SHAPES,
            ),
        )
    narrow, tf32 = _unaligned(signals, _ALIGN), _unaligned(signals, _ALIGN_TF32)
    rows = np.array(
        [
            row
            for row in products
            if ops.misaligned[row] is not None
            and (
                ops.matrix_unit[row] == MatrixUnit.NO
                or int(ops.op[row]) in (tf32 if ops.precision[row] == "tf32" else narrow)
            )
        ],
        np.int64,
    )
    rows = rows[~_is_near_peak(signals, rows) & ~_of_attention(signals)[ops.op[rows]]]
    selected, lost = (_kernels(signals, some) for some in (rows, rows[ops.matrix_unit[rows] == MatrixUnit.NO]))
    time, lost_ns = signals.time(selected), signals.time(lost)
    if not len(rows) or signals.kernel_share(time) < thresholds.SHAPE_FRACTION:
        return None
    first = ops.misaligned[int(rows[np.argmax(ops.kernel_ns[rows])])]
    assert first is not None
    return Finding(
        "shape_detector",
        Severity.ADVICE,
        Confidence.MEDIUM if lost_ns else Confidence.LOW,
        "shapes",
        "Matrix multiplications with a length that does not fit the {unit} take {products_ns} of each iteration ({ops} "
        "{ops:op|ops}). The longest has {dimension} = {length}.",
        "Pad such lengths to a multiple of 8 (4 for TF32, 16 for FP8 and INT8): {dimension} {length} to {padded}. "
        "Vocabulary, classes, channels, sequence and batch are the usual ones.",
        {
            "ops": len(rows),
            "products_ns": signals.kernel_time(selected),
            "dimension": first.dimension,
            "length": first.length,
            "padded": first.padded,
            "unit": "Matrix Cores" if signals.is_amd else "Tensor Cores",
        },
        work_evidence(signals, selected),
        link="https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html",
        **about_kernels(
            signals,
            selected,
            {Pool.PRODUCTS: (0.15 * (time - lost_ns) + 0.5 * lost_ns, 0.4 * (time - lost_ns) + 0.85 * lost_ns)},
            "Multiplications that miss the units entirely gain a half to 85 %, those that use them with unaligned "
            "loads 15 to 40 %, by the alignment chart of NVIDIA's guide.",
        ),
    )


def _kernels(signals: Signals, rows: Int64s) -> Bools:
    """The aggregated kernels that multiply in these ops."""
    selected = np.zeros(len(signals.profile.ops), np.bool_)
    selected[signals.efficiency.ops.op[rows]] = True
    return signals.of_ops(selected) & signals.products


def _of_attention(signals: Signals) -> Bools:
    """Which ops are products of attention that is written out: one kernel for all of it loads what it likes, and pads
    nothing."""
    attention = written_out(signals)
    return np.zeros(len(signals.profile.ops), np.bool_) if attention is None else attention.products


def _is_near_peak(signals: Signals, rows: Int64s) -> Bools:
    """Whether ops reach so much of the peak of the unit that they should use that padding has little to give."""
    ops, peaks = signals.efficiency.ops, signals.peaks
    half = peaks.best_half() if peaks is not None else None
    if peaks is None or not half:
        return np.zeros(len(rows), np.bool_)
    tf32 = peaks.matrix_flops.get("tf32") or half
    rate = np.array([tf32 if ops.precision[row] == "tf32" else half for row in rows.tolist()])
    reached = ops.product_flops[rows] / (rate * np.maximum(ops.measured_ns[rows], 1) * 1e-9)
    # More than the peak is a mistake in the recorded shapes, and says nothing.
    return (ops.product_flops[rows] > 0) & (ops.measured_ns[rows] > 0) & (reached >= _NEAR_PEAK) & (reached <= 1)


_NEAR_PEAK = 0.6
"""Share of the peak in 16 bits (in TF32) from which padding is not advised: well-shaped products reach 60 to 75 %."""

_ALIGN = Expression(r"align(?:1|2|4)(?!\d)|_GLVW[AB](?:1|2|4)(?!\d)")
_ALIGN_TF32 = Expression(r"align(?:1|2)(?!\d)|_GLVW[AB](?:1|2)(?!\d)")
"""Four numbers of 4 bytes are 16 bytes."""


def _unaligned(signals: Signals, pattern: Expression) -> set[int]:
    """Rows of the ops with kernels for unaligned operands (CUTLASS: ``..._tn_align2``; Tensile: ``GLVWA2``, elements of
    one load)."""
    kernels, texts = signals.profile.kernels, signals.profile.strings
    rows = signals.kernel
    names = [name for name in distinct_values(kernels.long_name[rows]).tolist() if pattern.search(texts[name])]
    return set(distinct_values(kernels.op[rows[are_among(kernels.long_name[rows], names)]]).tolist())
