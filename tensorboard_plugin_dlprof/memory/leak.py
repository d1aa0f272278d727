"""Whether memory grows from iteration to iteration, and is not given back."""

from __future__ import annotations

from math import sqrt

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s

FEWEST = 4
"""Fewer iterations after the first cannot tell a leak from a warm-up."""

_MOST = 500
"""Iterations that are compared with each other, each with each; of more, some that are spread evenly."""

_SURE = 1.96
"""Standard errors of an interval that is right 19 of 20 times."""


class Leak(msgspec.Struct, frozen=True):
    """The verdict on a leak."""

    verdict: str
    """``leak``, ``none`` or ``cannot_tell``."""
    bytes_per_iteration: int | None = None
    low_bytes: int | None = None
    high_bytes: int | None = None
    """95 % interval (Theil and Sen)."""
    iterations_until_full: int | None = None


def find_leak(end_bytes: Int64s, capacity_bytes: int) -> Leak:
    """Judge the memory in use at the end of each iteration.

    Args:
        end_bytes: One value for each iteration. The first is left out: it allocates what stays.
        capacity_bytes: Of the GPU; 0 if unknown.
    """
    ends = end_bytes[1:]
    count = len(ends)
    if count < FEWEST:
        return Leak("cannot_tell")
    compared = min(count, _MOST)
    at = np.linspace(0, count - 1, compared).astype(np.int64)
    first, second = np.triu_indices(compared, 1)
    slopes = np.sort((ends[at[second]] - ends[at[first]]) / (at[second] - at[first]))
    width = _SURE * sqrt(compared * (compared - 1) * (2 * compared + 5) / 18)
    low = slopes[max(int((len(slopes) - width) / 2), 0)]
    high = slopes[min(int((len(slopes) + width) / 2), len(slopes) - 1)]
    slope = round(float(slopes[(len(slopes) - 1) // 2] + slopes[len(slopes) // 2]) / 2)
    grows = bool((np.diff(ends) > 0).all()) and low > 0
    left = capacity_bytes - int(ends[-1])
    return Leak(
        "leak" if grows else "none",
        slope,
        round(float(low)),
        round(float(high)),
        left // slope if grows and capacity_bytes > 0 and slope > 0 and left > 0 else None,
    )
