"""Trees of ranges, derived from where the descendants of each range stop.

Places are positions in preorder: by start, then from the outside in. ``stop`` of a place is the place after its last
descendant. Depth, parent, ancestors and descendants follow from that alone, in linear time and without sorting more
than a block of places at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Rows

BLOCK = 1 << 18
"""Places processed at a time, if intermediate results take more memory than the places."""

Flags = npt.NDArray[np.bool_]


def depths(stop: Int32s) -> Int32s:
    """The depth of each place: the number of earlier ranges that are still open there."""
    count = len(stop)
    depth = np.empty(count, np.int32)
    closing = np.zeros(count + 1, np.int32)
    closed = 0
    for low in range(0, count, BLOCK):
        block = slice(low, min(low + BLOCK, count))
        # Most ranges stop nearby: bincount adds them at once, add.at one by one.
        near = stop[block] < low + 2 * BLOCK
        counts = np.bincount(stop[block][near] - low)
        closing[low : low + len(counts)] += counts.astype(np.int32)
        np.add.at(closing, stop[block][~near], 1)
        closed_here = np.cumsum(closing[block])
        depth[block] = np.arange(block.start, block.stop) - closed - closed_here
        closed += int(closed_here[-1])
    return depth


def parents(depth: Int32s) -> Int32s:
    """For each place, the last place before it that is one level less deep; -1 at depth 0.

    Depth grows by at most one from place to place. So a first child directly follows its parent, and any other child
    has the same parent as the previous place of its depth.
    """
    parent = np.empty(len(depth), np.int32)
    latest = np.full(int(depth.max(initial=0)) + 1, -1, np.int32)
    """By depth, the parent of the last place of that depth."""
    before = 0
    for low in range(0, len(depth), BLOCK):
        here = depth[low : low + BLOCK]
        is_first = np.diff(here, prepend=before) > 0
        before = int(here[-1])
        order = np.argsort(here.astype(np.int16) if len(latest) <= 1 << 15 else here, kind="stable")
        ordered = here[order]
        heads = np.flatnonzero(np.diff(ordered, prepend=-1))  # The first place of each depth.
        known = is_first[order]
        parent_if_known = np.where(known, order + (low - 1), latest[ordered]).astype(np.int32)
        known[heads] = True
        rows = np.flatnonzero(known)
        result = parent_if_known[rows][np.cumsum(known) - 1]
        parent[low + order] = result
        latest[ordered[heads]] = result[np.append(heads[1:], len(ordered)) - 1]
    return parent


def nearest(own: Flags, parent: Int32s, stop: Int32s) -> Int32s:
    """The nearest flagged ancestor of each place, itself included; -1 if there is none. Do not change the result."""
    flagged = int(np.count_nonzero(own))
    if not flagged:
        return np.broadcast_to(np.full(1, -1, np.int32), own.shape)
    if 2 * flagged > len(own):
        return _climbed(own, parent)
    places = np.flatnonzero(own).astype(np.int32)
    return spread(places, outline(places, stop)[0], places, stop)


def nearest_of(places: Rows, own: Flags, parent: Int32s) -> Int64s:
    """``nearest`` for some places only; -1 stays -1."""
    result = places.astype(np.int64)
    pending = np.flatnonzero(result >= 0)
    while len(pending := pending[~own[result[pending]]]):
        result[pending] = parent[result[pending]]
        pending = pending[result[pending] >= 0]
    return result


def _climbed(own: Flags, parent: Int32s) -> Int32s:
    """``nearest`` if most places are flagged: the other places repeatedly jump to the result of an ancestor."""
    result = np.where(own, np.arange(len(own), dtype=np.int32), parent)
    pending = np.flatnonzero(~own)
    while len(pending):
        target = result[pending]
        is_there = (target < 0) | own[target]
        pending, target = pending[~is_there], target[~is_there]
        result[pending] = result[target]
    return result


def outline(places: Int32s, stop: Int32s) -> tuple[Int32s, Int32s]:
    """The tree of only some places: for each, the index of its parent in ``places``, -1 for none, and its depth.

    Args:
        places: Ascending.
        stop: Of all places.
    """
    depth = depths(np.searchsorted(places, stop[places]).astype(np.int32))
    return parents(depth), depth


def spread(places: Int32s, parent: Int32s, values: Int32s, stop: Int32s, nothing: int = -1) -> Int32s:
    """For each place, the value of its nearest ancestor, itself included, among some given places.

    Args:
        places: The given places, ascending.
        parent: Their parents, from ``outline``.
        values: Their values.
        stop: Of all places.
        nothing: Value for places without such an ancestor.

    Returns:
        One value per place, ``len(stop)`` in all.
    """
    around = np.where(parent >= 0, values[parent], nothing).astype(values.dtype)
    count = len(stop)
    changed = np.zeros(count + 1, np.bool_)
    result = np.empty(count + 1, values.dtype)
    # NumPy keeps the last of several writes to one element: of ranges that stop together the outermost wins, and a
    # range that starts there wins over all of them.
    stops = stop[places][::-1]
    changed[0] = changed[stops] = changed[places] = True
    result[0] = nothing
    result[stops] = around[::-1]
    result[places] = values
    carried = nothing
    for low in range(0, count, BLOCK):
        high = min(low + BLOCK, count)
        heads = np.flatnonzero(changed[low:high])
        lengths = np.diff(heads, append=high - low)
        first = int(heads[0]) if len(heads) else high - low
        values_here = np.repeat(result[low:high][heads], lengths)
        result[low : low + first] = carried
        result[low + first : high] = values_here
        carried = int(result[high - 1])
    return result[:count]


def around(flags: Flags, stop: Int32s) -> Flags:
    """Which places have a flagged descendant, themselves not included."""
    if not flags.any():
        return np.zeros(len(flags), np.bool_)
    before = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=before[1:])
    result = np.empty(len(flags), np.bool_)
    for low in range(0, len(flags), BLOCK):
        block = slice(low, low + BLOCK)
        result[block] = before[stop[block]] > before[1:][block]
    return result
