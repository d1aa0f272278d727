"""Is a change more than noise? The Hodges-Lehmann ratio with the exact interval of the Mann-Whitney test.

The ratio is the median of all b / a; its interval lies between the order statistics of these ratios that the
distribution of Mann-Whitney's U leaves 2.5 % beyond. Nothing is random, and no distribution of the times is assumed:
one stalled iteration shifts neither much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TypedDict

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.comparing.recording import FEWEST_SAMPLES

_BEYOND = 0.025
"""Probability left out at each end of an interval."""

_MOST_EXACT = 20
"""Samples a side up to which the distribution of U is computed; beyond, it is taken to be normal."""

_MOST = 2_000

_MOST_HALVED = 200
"""Samples up to which the bounds of a median are exact."""

_Z = 1.959963984540054
"""Quantile of the normal distribution that leaves ``_BEYOND`` above."""


class Estimate(msgspec.Struct, frozen=True):
    """The ratio of B to A."""

    ratio: float
    low: float | None
    """95 % bounds of the ratio; None below ``FEWEST_SAMPLES`` a side."""
    high: float | None
    a_samples: int
    b_samples: int

    def is_sure(self) -> bool:
        """Whether the interval excludes 1."""
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)

    def is_change(self, floor: float) -> bool:
        """Whether the change is more than noise and at least ``floor``, a fraction."""
        return self.is_sure() and abs(self.ratio - 1) >= floor


def estimate(a: Sequence[float], b: Sequence[float]) -> Estimate | None:
    """The ratio of B to A with its interval; None if a side has no sample above 0.

    Args:
        a: samples of A; those that are 0 are left out, for nothing can be divided by them.
        b: samples of B, likewise.
    """
    left, right = _above_zero(a), _above_zero(b)
    if not len(left) or not len(right):
        return None
    ratios = (right[:, None] / left[None, :]).reshape(-1)
    median = _median(ratios)
    if min(len(left), len(right)) < FEWEST_SAMPLES:
        return Estimate(median, None, None, len(left), len(right))
    rank = _rank(len(left), len(right), _tied(left, right))
    ends = np.partition(ratios, (rank, len(ratios) - 1 - rank))
    return Estimate(median, float(ends[rank]), float(ends[-1 - rank]), len(left), len(right))


class Median(TypedDict):
    """A median with the bounds that are 95 % sure."""

    median: float
    low: float | None
    high: float | None


def median_of(values: Sequence[float]) -> Median | None:
    """The median of samples with the bounds that are 95 % sure, by the sign test; None without samples.

    Returns:
        ``median``, ``low`` and ``high``; the bounds are None below six samples.
    """
    if not values:
        return None
    ordered = sorted(values)
    count, middle = len(ordered), len(ordered) // 2
    median = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    below, rank = 0.5**count if count < _MOST_HALVED else 0.0, 0
    if count >= _MOST_HALVED:
        rank = max(math.floor(count / 2 - _Z * math.sqrt(count) / 2), 0)
    elif below > _BEYOND:
        return {"median": median, "low": None, "high": None}
    else:
        total = below
        while total + math.comb(count, rank + 1) * 0.5**count <= _BEYOND:
            rank += 1
            total += math.comb(count, rank) * 0.5**count
    return {"median": median, "low": ordered[rank], "high": ordered[-1 - rank]}


def _above_zero(values: Sequence[float]) -> npt.NDArray[np.float64]:
    result = np.asarray(values, np.float64)
    result = result[result > 0]
    return result if len(result) <= _MOST else result[np.arange(_MOST) * len(result) // _MOST]


def _median(values: npt.NDArray[np.float64]) -> float:
    """The geometric middle of the two middle ratios, so that B / A is exactly the inverse of A / B."""
    middle = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, middle)[middle])
    two = np.partition(values, (middle - 1, middle))
    return math.sqrt(float(two[middle - 1]) * float(two[middle]))


def _tied(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> float:
    """Sum of t**3 - t over the groups of equal samples."""
    ordered = np.sort(np.concatenate((left, right)))
    sizes = np.diff(np.flatnonzero(np.diff(ordered, prepend=-1.0, append=math.inf))).astype(np.float64)
    return float((sizes**3 - sizes).sum())


def _rank(left: int, right: int, tied: float) -> int:
    """How many ratios lie beyond either end of the interval."""
    if max(left, right) <= _MOST_EXACT:
        return _exact_rank(min(left, right), max(left, right))
    total = left + right
    variance = left * right / 12 * (total + 1 - tied / (total * (total - 1)))
    return max(math.floor(left * right / 2 - _Z * math.sqrt(max(variance, 0.0))), 0)


@cache
def _exact_rank(left: int, right: int) -> int:
    """The number of values of U, from 0, whose probability together is at most ``_BEYOND``, less one."""
    counts = _counts(left, right)
    below, total = 0, math.comb(left + right, left)
    for value, count in enumerate(counts):
        below += count
        if below > _BEYOND * total:
            return max(value - 1, 0)
    return 0


@cache
def _counts(left: int, right: int) -> tuple[int, ...]:
    """How many orders of ``left`` and ``right`` samples have each U: the coefficients of the Gaussian binomial."""
    counts = [1] + [0] * (left * right)
    for step in range(1, left + 1):
        # Multiply by 1 - q**(right + step), then divide by 1 - q**step.
        for place in range(len(counts) - 1, right + step - 1, -1):
            counts[place] -= counts[place - right - step]
        for place in range(step, len(counts)):
            counts[place] += counts[place - step]
    return tuple(counts)
