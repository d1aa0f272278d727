"""Computes the roof of each op: the time that it would take at the peaks of its device, and which peak bounds it."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.efficiency import thresholds
from tensorboard_plugin_dlprof.efficiency.tables import Bound, Floats
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.units import NS_PER_S


class Roofs(msgspec.Struct, frozen=True):
    """One row per op; NaN is unknown."""

    ideal_ns: Floats
    """Time at the peak rates of the device."""
    best_ns: Floats
    """Time at the peaks in 16 bits on matrix units, for products that could use them; else ``ideal_ns``."""
    bound: list[Bound]


def roofs(
    flops: Int64s, moved_bytes: Int64s, measured_ns: Int64s, kernel_calls: Int64s,
    flops_per_second: Floats, bytes_per_second: Floats, half_per_second: Floats,
) -> Roofs:  # fmt: skip
    """The roofs of ops. All arguments have one value per op.

    Args:
        flops: Operations in calls whose work is known; -1 if unknown.
        moved_bytes: The least that these calls must read and write; -1 if unknown.
        measured_ns: Kernel time in these calls.
        kernel_calls: Number of all kernels of the op.
        flops_per_second: Peak for the precision and unit of the op; NaN if unknown.
        bytes_per_second: Peak of the memory; NaN if unknown.
        half_per_second: Peak of 16-bit products, for products in wider types; NaN for other ops.
    """
    moving = np.where(moved_bytes >= 0, moved_bytes, np.nan) / bytes_per_second * NS_PER_S
    computing = np.where(flops >= 0, flops, np.nan) / flops_per_second * NS_PER_S
    computing[(flops == 0) & np.isnan(computing)] = 0.0
    roof = np.maximum(moving, computing)
    ideal = np.where(measured_ns > 0, np.minimum(roof, measured_ns), np.nan)
    best = np.fmin(np.maximum(moving / 2, flops / half_per_second * NS_PER_S), ideal)
    small = measured_ns / np.maximum(kernel_calls, 1) < thresholds.LATENCY_KERNEL_NS
    latency = small & (roof < thresholds.LATENCY_ROOF_FRACTION * measured_ns)
    from_caches = moving > _ABOVE_PEAK * measured_ns
    codes = np.select([np.isnan(ideal), latency, computing >= moving, from_caches], [0, 1, 2, 4], 3)
    return Roofs(ideal, np.where(np.isnan(ideal), np.nan, best), [_BOUNDS[code] for code in codes.tolist()])


_BOUNDS = (Bound.UNKNOWN, Bound.LATENCY, Bound.COMPUTE, Bound.MEMORY, Bound.CACHES)

_ABOVE_PEAK = 1.02
"""Clocks of memories vary by less."""
