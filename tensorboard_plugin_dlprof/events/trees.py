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

STEPS_UP = 64
"""Steps from parent to parent for some places before all places are looked at instead: few real ranges lie deeper."""

Flags = npt.NDArray[np.bool_]


def depths(stop: Int32s) -> Int32s:
    """The depth of each place: the number of earlier ranges that are still open there."""
    closed = np.cumsum(np.bincount(stop, minlength=len(stop))[: len(stop)])
    return np.arange(len(stop), dtype=np.int32) - closed.astype(np.int32)


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


def nearest(own: Flags, parent: Int32s) -> Int32s:
    """The nearest flagged ancestor of each place, itself included; -1 if there is none. Do not change the result."""
    if not own.any():
        return np.broadcast_to(np.full(1, -1, np.int32), own.shape)
    result = np.where(own, np.arange(len(own), dtype=np.int32), parent)
    pending = np.flatnonzero(~own)
    # The other places repeatedly jump to the result of an ancestor.
    while len(pending):
        target = result[pending]
        is_there = (target < 0) | own[target]
        pending, target = pending[~is_there], target[~is_there]
        result[pending] = result[target]
    return result


def nearest_of(places: Rows, own: Flags, parent: Int32s) -> Int64s:
    """``nearest`` for some places only; -1 stays -1."""
    result = places.astype(np.int64)
    pending = np.flatnonzero(result >= 0)
    for _ in range(STEPS_UP):
        pending = pending[~own[result[pending]]]
        if not len(pending):
            return result
        result[pending] = parent[result[pending]]
        pending = pending[result[pending] >= 0]
    result[pending] = nearest(own, parent)[result[pending]]
    return result


def outline(places: Int32s, stop: Int32s) -> tuple[Int32s, Int32s]:
    """The tree of only some places: for each, the index of its parent in ``places``, -1 for none, and its depth.

    Args:
        places: Ascending.
        stop: Of all places.
    """
    depth = depths(np.searchsorted(places, stop[places]).astype(np.int32))
    return parents(depth), depth


def inside(flags: Flags, stop: Int32s) -> Flags:
    """Which places have a flagged ancestor, themselves not included."""
    if not flags.any():
        return np.zeros(len(flags), np.bool_)
    opened = np.cumsum(flags, dtype=np.int32) - flags
    closed = np.cumsum(np.bincount(stop[flags], minlength=len(flags))[: len(flags)])
    return opened > closed


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
