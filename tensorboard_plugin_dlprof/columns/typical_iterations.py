"""Finds the range of typical iterations, without warm-up and without outliers at the ends.

Imports propose this range; for databases without a stored proposal, the pages compute it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

SLOW_MEDIANS = 1.5
"""An iteration longer than this many medians is slow. If the first one is slow, it is left out."""

FENCE_IQRS = 1.5
"""Iterations at either end are outliers if they are slow and beyond Q3 + this many interquartile ranges."""


class TypicalRange(msgspec.Struct, frozen=True):
    """A range of iterations that represents the training better than all of them."""

    iter_start: int
    iter_stop: int
    """Inclusive."""
    reason: str
    """One or two sentences."""


def typical_range(
    values: Sequence[int] | npt.NDArray[np.int64], durations_ns: Sequence[int] | npt.NDArray[np.int64]
) -> TypicalRange | None:
    """The range of iterations without warm-up and outliers, or ``None`` if none need to be left out.

    Args:
        values: The number of each iteration, ascending.
        durations_ns: The duration of each iteration.
    """
    duration = np.asarray(durations_ns, np.float64)
    first, last = 0, len(duration) - 1
    if last < 1 or not duration.any():
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
    reasons = [
        _reason(values[:first], duration[:first], median, "warm-up"),
        _reason(values[last + 1 :], duration[last + 1 :], median, "outlier"),
    ]
    return TypicalRange(int(values[first]), int(values[last]), " ".join(filter(None, reasons)))


def _reason(
    values: Sequence[int] | npt.NDArray[np.int64], duration: npt.NDArray[np.float64], median: float, why: str
) -> str:
    if not len(values):
        return ""
    ratio = f"{duration.max() / median:.1f} times the median" if median else "longer than the median"
    if len(values) == 1:
        return f"Iteration {values[0]} took {ratio}: {why}."
    return f"Iterations {values[0]} to {values[-1]} took up to {ratio}: {why}."
