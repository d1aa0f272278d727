"""Properties of the kernels of each op or group, weighted by their time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import Groups
from tensorboard_plugin_dlprof.efficiency.tables import Floats
from tensorboard_plugin_dlprof.events.tables import Int64s


def heaviest(op: Int64s, value: npt.NDArray[np.integer], weight: Int64s, ops: int, values: int) -> Int64s:
    """For each op, the value with the largest total weight.

    Args:
        value: value of each kernel, from 0 to below ``values``.

    Returns:
        One value for each op; 0 for an op without kernels.
    """
    totals = np.bincount(op * values + value, weights=weight.astype(np.float64), minlength=ops * values)
    return totals.reshape(ops, values).argmax(axis=1).astype(np.int64) if ops else np.zeros(0, np.int64)


def weighted_mean(groups: Groups, values: Floats, kernel: Int64s, duration: Int64s) -> Floats:
    """Mean of the known values of each group, weighted by time.

    Args:
        values: value of every kernel of the profile; NaN if unknown.
        kernel: row of each grouped kernel in the profile.
        duration: duration of each grouped kernel in nanoseconds.

    Returns:
        One mean for each group; NaN if no value is known.
    """
    sums, weights = np.zeros(groups.size), np.zeros(groups.size)
    for rows, heads, present in groups.portions():
        of_rows = values[kernel[rows]]
        known = ~np.isnan(of_rows)
        weight = np.where(known, np.maximum(duration[rows], 1), 0).astype(np.float64)
        sums[present] = np.add.reduceat(np.where(known, of_rows, 0.0) * weight, heads)
        weights[present] = np.add.reduceat(weight, heads)
    return np.where(weights > 0, sums / np.maximum(weights, 1), np.nan)
