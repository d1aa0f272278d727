"""Rules about lengths that do not suit matrix units."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import op_evidence
from tensorboard_plugin_dlprof.analysis.gains import kernel_gain
from tensorboard_plugin_dlprof.analysis.signals import NO_SHAPES, Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.expressions import Expression

_NARROW = ("fp16", "bf16", "fp8", "int8", "fp4")


def shapes(signals: Signals) -> Finding | Lacks | None:
    """Products in 16 bits or less that are slower because a length is not a multiple of 8 (16 for FP8 and INT8).

    They do not use matrix units, or their kernel's name says that it loads less than 16 bytes at a time.
    """
    ops = signals.efficiency.ops
    products = [
        row for row, family in enumerate(ops.family) if family in PRODUCT_FAMILIES and ops.precision[row] in _NARROW
    ]
    if products and not any(ops.dimensions[row] for row in products):
        return Lacks(
            "the shapes of the ops",
            signals.advice(
                "Record with profile(record_shapes=True), or emit_nvtx(record_shapes=True).",
                tensorflow="No recording of TensorFlow says which of them is transposed.",
                tensorrt="The ranges of TensorRT carry no shapes.",
                cuda=NO_SHAPES,
            ),
        )
    unaligned = _unaligned(signals)
    rows = np.array(
        [
            row
            for row in products
            if ops.misaligned[row] is not None
            and (ops.matrix_unit[row] == MatrixUnit.NO or int(ops.op[row]) in unaligned)
        ],
        np.int64,
    )
    time = int(ops.kernel_ns[rows].sum())
    if signals.kernel_share(time) < thresholds.SHAPE_FRACTION:
        return None
    without = ops.matrix_unit[rows] == MatrixUnit.NO
    lost = int(ops.kernel_ns[rows[without]].sum())
    first = ops.misaligned[int(rows[np.argmax(ops.kernel_ns[rows])])]
    assert first is not None
    return Finding(
        "shape_detector",
        Severity.ADVICE,
        Confidence.MEDIUM if lost else Confidence.LOW,
        "shapes",
        "{ops} {ops:product has|products have} a length that does not fit the {unit}; {ops:its|their} kernels take "
        "{products_ns} of each iteration. The longest has {dimension} = {length}.",
        "Pad such lengths to a multiple of 8 (16 for FP8 and INT8): {dimension} {length} to {padded}. Vocabulary, "
        "classes, channels, sequence and batch are the usual ones.",
        {
            "ops": len(rows),
            "products_ns": signals.per_gpu(time),
            "dimension": first.dimension,
            "length": first.length,
            "padded": first.padded,
            "unit": "Matrix Cores" if signals.is_amd else "Tensor Cores",
        },
        op_evidence(signals, rows),
        kernel_gain(
            signals,
            {Pool.PRODUCTS: (0.05 * (time - lost) + 0.5 * lost, 0.4 * (time - lost) + 0.85 * lost)},
            "Products that miss the units entirely gain a half to 85 %, those that use them with unaligned loads 5 to "
            "40 %, by the alignment chart of NVIDIA's guide.",
        ),
        "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html",
    )  # fmt: skip


_ALIGN = Expression(r"align(?:1|2|4)(?!\d)")


def _unaligned(signals: Signals) -> set[int]:
    """Rows of the ops with kernels for unaligned operands (cuBLAS, CUTLASS: ``..._tn_align2``)."""
    kernels, texts = signals.profile.kernels, signals.profile.strings
    rows = signals.kernel
    names = [name for name in distinct_values(kernels.long_name[rows]).tolist() if _ALIGN.search(texts[name])]
    return set(distinct_values(kernels.op[rows[are_among(kernels.long_name[rows], names)]]).tolist())
