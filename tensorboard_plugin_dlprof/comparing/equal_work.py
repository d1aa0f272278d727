"""Kernel times of recordings whose inputs differ in size, as they would be if all were of one size.

Batches of sentences or particles differ in length, and that explains nearly all of the noise between recordings of one
program. So what size costs is estimated within each side, where the program is the same, and taken off. The time is
taken to grow with the root of the size: kernels that a small input does not fill take the same time, others grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.comparing.noise import Estimate, estimate
from tensorboard_plugin_dlprof.comparing.recording import FEWEST_SAMPLES, Op

_COSTS = (0.5, 0.35, 0.65)
"""Quantiles of the cost of size: the estimate is of the first, and its interval holds under all."""

_MOST_ELEMENTS = 1 << 60

_MOST_PAIRED = 500
"""Samples of a side that are compared with each other, each with each; of more, some that are spread evenly."""

Floats = npt.NDArray[np.float64]


def input_elements(ops: Sequence[Op]) -> int:
    """The elements of all inputs of all calls; 0 where no shapes were recorded."""
    return sum(op.calls * _elements(op.shapes) for op in ops)


def estimate_at_equal_work(
    a: Sequence[float], b: Sequence[float], a_work: Sequence[float], b_work: Sequence[float]
) -> Estimate | None:
    """The ratio of B to A on inputs of equal size; None where that cannot be told.

    Args:
        a: samples of A.
        b: samples of B.
        a_work: elements of the inputs of each sample of A.
        b_work: the same of B; the sizes of both sides must overlap, for nothing is known beyond.
    """
    if len(a) != len(a_work) or len(b) != len(b_work) or not all((*a_work, *b_work)):
        return None
    if max(a_work) < min(b_work) or max(b_work) < min(a_work):
        return None
    times = [np.asarray(side, np.float64) for side in (a, b)]
    work = [np.sqrt(np.asarray(side, np.float64)) for side in (a_work, b_work)]
    costs = np.concatenate([_costs(*side) for side in zip(times, work, strict=True)])
    if len(costs) < FEWEST_SAMPLES:
        return None
    middle = np.median(np.concatenate(work))
    result = []
    for cost in np.maximum(np.quantile(costs, _COSTS), 0.0):
        left, right = (time - cost * (size - middle) for time, size in zip(times, work, strict=True))
        one = estimate(left.tolist(), right.tolist()) if min(left.min(), right.min()) > 0 else None
        if one is None or one.low is None or one.high is None:
            return None
        result.append((one, one.low, one.high))
    low, high = min(low for _, low, _ in result), max(high for _, _, high in result)
    return msgspec.structs.replace(result[0][0], low=low, high=high)


def _costs(times: Floats, work: Floats) -> Floats:
    """Time by root of size between each two samples of one side whose inputs differ in size."""
    some = np.linspace(0, len(times) - 1, min(len(times), _MOST_PAIRED)).astype(np.int64)
    times, work = times[some], work[some]
    one, other = np.triu_indices(len(times), 1)
    more: Floats = work[other] - work[one]
    cost: Floats = (times[other] - times[one])[more != 0] / more[more != 0]
    return cost


@lru_cache(maxsize=65_536)
def _elements(shapes: str) -> int:
    """Of all inputs of a call, such as ``[[44,4,17],[17]]``; 0 if unknown, or more than any memory holds."""
    try:
        size = _size(_decoded(shapes))
    except RecursionError:
        return 0
    return size if size < _MOST_ELEMENTS else 0


@lru_cache(maxsize=65_536)
def first_input_elements(shapes: str) -> int:
    """Of the first input of a call that is not a number, such as the activations that meet weights; 0 if unknown."""
    try:
        decoded = _decoded(shapes)
        first = next(filter(None, map(_size, decoded if isinstance(decoded, list) else ())), 0)
    except RecursionError:
        return 0
    return first if first < _MOST_ELEMENTS else 0


def _decoded(shapes: str) -> Any:
    try:
        return msgspec.json.decode(shapes.encode("utf-8", "replace")) if shapes else None
    except msgspec.DecodeError:
        return None


def _size(shape: Any) -> int:
    if not isinstance(shape, list):
        return 0
    if all(isinstance(length, int) for length in shape):
        size = 1
        for length in shape:
            size *= length
        return max(size, 0)
    return sum(map(_size, shape))
