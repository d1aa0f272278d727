"""Estimates what another type would gain: the model behind the rules about AMP, TF32, FP8 and attention.

A product takes the longer of computing and moving data, and never less than the GPU needs to launch it. Real kernels
reach between a third and three quarters of the published dense rate of matrix units, and four fifths of the memory's.
Without shapes, the kernels themselves bound the work: no more than the peak of the unit that they run on now.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.efficiency.peaks import Peaks

REACHED: Final = (0.35, 0.75)
"""Part of the matrix units' rate that products reach, in bad and good cases."""

MOVED: Final = 0.8
"""Part of the memory's rate that they reach."""

LAUNCH_NS: Final = 2_000
"""No kernel takes less."""

CAST: Final = 1.5
"""Bytes that autocast moves to halve the width of a product's operands (it reads all and writes half), of those that
the product moves now. A model that holds the narrow type itself moves none: it is the good case."""

MOST_TIMES_FASTER: Final = (3.0, 8.0)
"""Without shapes, products become at least and at most this many times as fast where the rates would allow more: then
the memory is the limit."""


class Saving(msgspec.Struct, frozen=True):
    """Saved kernel time, in plain sums over all iterations and GPUs."""

    low_ns: float
    high_ns: float
    modelled: bool
    """Whether it is computed from shapes, not only from the rates of the units."""


def narrower(signals: Signals, selected: Bools, precision: str, byte_factor: float) -> Saving | None:
    """What products would save by computing in another precision on matrix units; None if the GPU's rates are unknown.

    Args:
        signals: The measurements.
        selected: The aggregated kernels.
        precision: The other one.
        byte_factor: Bytes that it moves, of those that are moved now.
    """
    peaks, ops = signals.peaks, signals.efficiency.ops
    then = peaks.flops_per_second(precision, True) if peaks is not None else None
    if peaks is None or not then:
        return None
    facts, kernels = signals.efficiency.facts, signals.profile.kernels
    kernel, duration = signals.kernel[selected], signals.duration[selected]
    now = np.array([_rate_now(peaks, each, on) or np.nan for each in facts.precisions for on in (False, True)])
    unit = facts.precision[kernel].astype(np.int64) * 2 + (kernels.matrix_unit[kernel] == MatrixUnit.YES)
    row_of_op = np.full(len(signals.profile.ops), -1, np.int64)
    row_of_op[ops.op] = np.arange(len(ops.op))
    row = row_of_op[kernels.op[kernel]]
    groups, number = numbered(row * len(now) + unit)
    time = np.bincount(number, weights=duration)
    count = np.bincount(number)
    row, unit = groups // len(now), groups % len(now)
    # Of the work of an op, each of its products gets the share of its time.
    whole = np.bincount(kernels.op[signals.kernel[signals.products]], signals.duration[signals.products],
                        len(signals.profile.ops))[ops.op[row]]  # fmt: skip
    part = time / np.maximum(np.maximum(whole, time), 1) * ops.kernel_ns[row] / np.maximum(ops.measured_ns[row], 1)
    flops, moved = ops.product_flops[row] * part, np.maximum(ops.min_bytes[row], 0) * part
    per_byte = 1e9 / (peaks.bytes_per_second * MOVED)
    casts = (moved * CAST * per_byte + LAUNCH_NS * count if byte_factor < 1 else 0, 0)
    known = (row >= 0) & (ops.product_flops[row] > 0) & (ops.measured_ns[row] > 0)
    times_faster = then / now[unit]
    if np.isnan(times_faster[~known]).any():
        return None
    after = []
    for reached, most, cast in zip(REACHED, MOST_TIMES_FASTER, casts, strict=True):
        modelled = np.maximum(flops / (then * reached) * 1e9, moved * byte_factor * per_byte) + cast
        reported = np.where(known, modelled, time / np.clip(times_faster * reached, 1.0, most))
        after.append(np.maximum(reported, LAUNCH_NS * count))
    low, high = (float(np.maximum(time - each, 0).sum()) for each in after)
    return Saving(low, high, bool(known.all()))


def _rate_now(peaks: Peaks, precision: str, on_matrix_unit: bool) -> float | None:
    return peaks.flops_per_second(precision, on_matrix_unit or precision == "tf32")
