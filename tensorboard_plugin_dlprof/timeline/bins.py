"""Levels of detail: how long the items of a track ran in bins of 2 ** level nanoseconds, by class.

Stored levels begin where a bin has about ``ITEMS_A_BIN`` items. Closer views are made from the items themselves, which
``binned`` does for any bins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

ITEMS_A_BIN = 16
FEWEST_ITEMS = 16_384
"""Tracks with fewer items have no stored bins."""
COARSEST_BINS = 1_024
"""The coarsest level has at most this many bins."""
PART = 1_024
"""Bins in one part."""


def binned(start_ns: Int64s, stop_ns: Int64s, of_class: npt.NDArray[np.integer], classes: int, edges: Int64s) -> Int64s:
    """Nanoseconds that the items of each class cover of each bin; overlapping items are added.

    Args:
        start_ns: start of each item, ascending.
        stop_ns: stop of each item.
        of_class: class of each item.
        edges: ascending; bin i is from ``edges[i]`` to before ``edges[i + 1]``.

    Returns:
        Shape (classes, bins).
    """
    sums = np.zeros((classes, len(edges) - 1), np.int64)
    for number in range(classes):
        of_this = of_class == number
        if not of_this.any():
            continue
        time = _time_before(start_ns[of_this], edges)
        ends = stop_ns[of_this]
        ends.sort(kind="stable")
        time -= _time_before(ends, edges)
        sums[number] = np.diff(time)
    return sums


def _time_before(moments: Int64s, edges: Int64s) -> Int64s:
    """The time from each moment before an edge to the edge, summed over the moments; it may wrap around, as may the
    other that it is compared with, which is why their difference is right."""
    sums = np.zeros(len(moments) + 1, np.int64)
    np.cumsum(moments, out=sums[1:])
    number = np.searchsorted(moments, edges, side="right")
    result: Int64s = number * edges - sums[number]
    return result


def levels(
    start_ns: Int64s, stop_ns: Int64s, of_class: npt.NDArray[np.integer], classes: int
) -> Iterator[tuple[int, int, Int64s]]:
    """The stored levels of a track, finest first: level, number of the first bin since time 0, and nanoseconds
    (classes, bins)."""
    count = len(start_ns)
    if count < FEWEST_ITEMS:
        return
    first_ns, last_ns = int(start_ns[0]), int(stop_ns.max())
    level = max((ITEMS_A_BIN * max(last_ns - first_ns, 1) // count).bit_length(), 0)
    first = first_ns >> level
    edges = np.arange(first, (last_ns >> level) + 2, dtype=np.int64) << level
    busy = binned(start_ns, stop_ns, of_class, classes, edges)
    while True:
        yield level, first, busy
        if busy.shape[1] <= COARSEST_BINS:
            return
        # Bins of a level begin at multiples of its width: the first may stand alone, and so may the last.
        busy = np.pad(busy, ((0, 0), (first % 2, (first + busy.shape[1]) % 2)))
        busy = busy[:, 0::2] + busy[:, 1::2]
        level, first = level + 1, first // 2
