"""The range of iterations that we propose: without warm-up and without outliers at the ends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.tables import Proposal
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

SLOW_MEDIANS = 1.5
"""An iteration longer than this many medians is slow; the first one is then left out."""

FENCE_IQRS = 1.5
"""At either end, iterations are outliers when they are slow and beyond Q3 + this many interquartile ranges."""


def propose(candidate: IterationCandidate) -> Proposal | None:
    """The range without warm-up and outliers, or ``None`` where all iterations are alike."""
    duration = (candidate.stop_ns - candidate.start_ns).astype(np.float64)
    first, last = 0, len(duration) - 1
    if not last or not duration.any():
        return None
    q1, median, q3 = np.interp(last * np.array([0.25, 0.5, 0.75]), np.arange(last + 1), np.sort(duration)).tolist()
    slow = duration > SLOW_MEDIANS * median
    outlier = slow & (duration > q3 + FENCE_IQRS * (q3 - q1))
    if slow[0]:
        first = 1
    while first < last and outlier[first]:
        first += 1
    while last > first and outlier[last]:
        last -= 1
    if first == 0 and last == len(duration) - 1:
        return None
    values = candidate.values
    reasons = [
        _reason(values[:first], duration[:first], median, "warm-up"),
        _reason(values[last + 1 :], duration[last + 1 :], median, "outlier"),
    ]
    return Proposal(int(values[first]), int(values[last]), " ".join(filter(None, reasons)))


def _reason(values: Int64s, duration: npt.NDArray[np.float64], median: float, why: str) -> str:
    if not len(values):
        return ""
    ratio = f"{duration.max() / median:.1f} times the median" if median else "longer than the median"
    if len(values) == 1:
        return f"Iteration {values[0]} took {ratio}: {why}."
    return f"Iterations {values[0]} to {values[-1]} took up to {ratio}: {why}."
