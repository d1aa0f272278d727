"""Nests the ranges of each thread: their parents and depths, and the innermost range at a given time.

The ranges of one thread form a stack. Of two ranges with the same start, the longer one is outside; if they have the
same end too, frames, modules and annotations are outside ops, and earlier rows outside later ones. A range of zero
length counts as half a nanosecond: it is inside a range that covers its time, and contains events at exactly that time.
The code that repairs overlaps doubles all times so that they stay integers.

Everything is vectorised sorting and searching: ten million ranges take seconds.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import ordered_by_value, rows_by_value
from tensorboard_plugin_dlprof.columns.store import ColumnStore, release_pages
from tensorboard_plugin_dlprof.events import trees
from tensorboard_plugin_dlprof.events.overlaps import count_overlaps, repair_overlaps
from tensorboard_plugin_dlprof.events.tables import Frames, Int8s, Int32s, Int64s, RangeKind, Ranges
from tensorboard_plugin_dlprof.events.trees import BLOCK

_IN_MEMORY = ColumnStore()

NESTABLE = (
    RangeKind.FRAME,
    RangeKind.MODULE,
    RangeKind.ANNOTATION,
    RangeKind.DLPROF_CONFIG,
    RangeKind.DLPROF_TRACE,
    RangeKind.OP,
    RangeKind.GRAPH_OP,
    RangeKind.DLPROF_OP,
)
"""Kinds that form a stack. Of ranges with equal times, the kind that comes first here is outside."""


class Nesting(msgspec.Struct):
    """All nested ranges, ordered by thread, then start, then from the outside in: *places*.

    The place of a parent is before the places of its children. Columns have one value per place.
    """

    row: Int32s
    """Row of the range in ``Ranges`` or ``Frames``."""
    parent: Int32s
    """Place of the parent, -1 for outermost ranges."""
    depth: Int32s
    """Number of ancestors."""
    stop: Int32s
    """Place after the last descendant, so that the descendants of place p are p + 1 to stop - 1."""
    start_ns: Int64s
    end_ns: Int64s
    """Repaired: never after the parent's end."""
    threads: dict[int, slice]
    """Places of each thread, by row of ``Capture.threads``."""
    repaired_overlaps: int
    """Number of ranges that another range of the thread crossed."""

    def innermost(self, thread: Int32s, time_ns: Int64s) -> Int32s:
        """The place of the innermost range around each of n times on n threads (rows), -1 if there is none."""
        places = np.empty(len(thread), np.int32)
        for low in range(0, len(thread), BLOCK):
            block = slice(low, low + BLOCK)
            places[block] = self._innermost(thread[block], time_ns[block])
        return places

    def _innermost(self, thread: Int32s, time_ns: Int64s) -> Int64s:
        places = self._last_started(thread, time_ns)
        # The innermost open range is the last one that has started, or an ancestor of it.
        pending = np.flatnonzero(places >= 0)
        for _ in range(trees.STEPS_UP):
            result, time = places[pending], time_ns[pending]
            end = self.end_ns[result]
            closed = (end < time) | (end == time) & (self.start_ns[result] < end)
            pending = pending[closed]
            places[pending] = self.parent[result[closed]]
            pending = pending[places[pending] >= 0]
            if not len(pending):
                return places
        for index, rows in rows_by_value(thread[pending]):
            places[pending[rows]] = self._by_depth(self.threads[index], time_ns[pending[rows]])
        return places

    def _by_depth(self, here: slice, time_ns: Int64s) -> Int64s:
        """``innermost`` for one thread, however deep: the last place as deep as the number of ranges that are open."""
        started = np.searchsorted(self.start_ns[here], time_ns, side="right")
        ended = np.searchsorted(np.sort(_doubled_ends(self, here)), 2 * time_ns, side="right")
        count, depth = here.stop - here.start, started - ended - 1
        order = np.argsort(self.depth[here], kind="stable")
        by_depth = self.depth[here][order] * np.int64(count) + order
        last = np.searchsorted(by_depth, depth * count + started - 1, side="right") - 1
        return np.where(depth >= 0, here.start + order[last], -1)

    def _last_started(self, thread: Int32s, time_ns: Int64s) -> Int64s:
        """The last place of each thread that starts at or before each time, -1 if there is none."""
        places = np.full(len(thread), -1, np.int64)
        for index, rows in rows_by_value(thread):
            ranges = self.threads.get(index)
            if ranges is not None:
                started = np.searchsorted(self.start_ns[ranges], time_ns[rows], side="right")
                places[rows] = np.where(started > 0, ranges.start - 1 + started, -1)
        return places

    def inherit(self, own: npt.NDArray[np.bool_], values: Int32s | None = None) -> Int32s:
        """Let places without a value inherit that of their nearest ancestor with one.

        Args:
            own: Whether each place has a value of its own.
            values: The value of each place; by default the place itself.

        Returns:
            One value per place, read-only; -1 if neither the place nor an ancestor has one.
        """
        places = trees.nearest(own, self.parent)
        if values is None or not own.any():
            return places
        inherited = values[places]
        inherited[places < 0] = -1
        return inherited

    def above(self, values: Int32s) -> Int32s:
        """The value of each place's parent; -1 for outermost ranges."""
        of_parent = values[self.parent]
        of_parent[self.parent < 0] = -1
        return of_parent


def nest(ranges: Ranges | Frames, store: ColumnStore = _IN_MEMORY) -> Nesting:
    """Nest the ranges of each thread, and repair those that cross.

    Args:
        ranges: Only rows of ``NESTABLE`` kinds are nested. None may end before it starts (see ``cleaning``).
        store: Stores the long columns of the result.
    """
    rank = np.full(max(RangeKind) + 1, -1, np.int8)
    rank[list(NESTABLE)] = np.arange(len(NESTABLE))
    ranks = rank[ranges.kind]
    rows = np.flatnonzero(ranks >= 0).astype(np.int32)
    count = len(rows)
    # Filled thread by thread, in place: a capture may hold ten million ranges.
    nesting = Nesting(
        row=store.empty(count, np.int32),
        parent=store.empty(count, np.int32),
        depth=store.empty(count, np.int32),
        stop=store.empty(count, np.int32),
        start_ns=store.empty(count, np.int64),
        end_ns=store.empty(count, np.int64),
        threads={},
        repaired_overlaps=0,
    )
    by_thread, threads, begins = ordered_by_value(ranges.thread[rows])
    nesting.threads.update(zip(threads.tolist(), map(slice, begins[:-1].tolist(), begins[1:].tolist()), strict=True))
    for here in nesting.threads.values():
        nesting.row[here] = _outside_in(ranges, rows[by_thread[here]], ranks)
    del rows, ranks, by_thread
    release_pages()
    for low in range(0, count, BLOCK):
        block = slice(low, low + BLOCK)
        nesting.start_ns[block] = ranges.start_ns[nesting.row[block]]
        nesting.end_ns[block] = ranges.end_ns[nesting.row[block]]
    for here in nesting.threads.values():
        _find_stops(nesting, here)
    _find_parents(nesting)
    if crossed := _threads_with_crossings(nesting):
        for here in crossed:
            _repair(nesting, here, ranges.kind[nesting.row[here]] == RangeKind.FRAME)
            _find_stops(nesting, here)
        _find_parents(nesting)
    return nesting


def _outside_in(ranges: Ranges | Frames, rows: Int32s, ranks: Int8s) -> Int32s:
    """The rows of one thread in the order of places. Equal starts are rare, so only these rows are sorted by the other
    criteria."""
    start = ranges.start_ns[rows]
    if (start[1:] < start[:-1]).any():
        order = np.argsort(start, kind="stable")
        rows, start = rows[order], start[order]
    equal = start[1:] == start[:-1]
    if equal.any():
        tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
        these = rows[tied]
        rows[tied] = these[np.lexsort((these, ranks[these], -ranges.end_ns[these], start[tied]))]
    return rows


def _find_stops(nesting: Nesting, here: slice) -> None:
    """Set ``stop`` for one thread: a range contains the later places that start before its end, or, if its length is
    zero, at the same time."""
    starts = nesting.start_ns[here]
    for low in range(here.start, here.stop, BLOCK):
        block = slice(low, min(low + BLOCK, here.stop))
        end = nesting.end_ns[block]
        stop = np.searchsorted(starts, end, side="left")
        instants = np.flatnonzero(nesting.start_ns[block] == end)
        stop[instants] = np.searchsorted(starts, end[instants], side="right")
        nesting.stop[block] = stop + here.start


def _find_parents(nesting: Nesting) -> None:
    """Set ``depth`` and ``parent``.

    They are correct if no ranges cross; otherwise at least the first crossing range ends after its parent.
    """
    release_pages()
    nesting.depth[:] = trees.depths(nesting.stop)
    release_pages()
    nesting.parent[:] = trees.parents(nesting.depth)
    release_pages()


def _threads_with_crossings(nesting: Nesting) -> list[slice]:
    """The slices of places of threads in which a range ends after its parent."""
    first = np.array([here.start for here in nesting.threads.values()], np.int64)
    crossed = np.zeros(len(first), np.bool_)
    for low in range(0, len(nesting.row), BLOCK):
        inner = np.flatnonzero(nesting.parent[low : low + BLOCK] >= 0) + low
        later = _doubled_ends(nesting, inner) > _doubled_ends(nesting, nesting.parent[inner])
        crossed[np.searchsorted(first, inner[later], side="right") - 1] = True
    return [here for here, is_crossed in zip(nesting.threads.values(), crossed.tolist(), strict=True) if is_crossed]


def _doubled_ends(nesting: Nesting, places: slice | npt.NDArray[np.integer]) -> Int64s:
    """Ends in half-nanoseconds; half a nanosecond later for ranges of zero length."""
    end = nesting.end_ns[places]
    doubled: Int64s = 2 * end + (end == nesting.start_ns[places])
    return doubled


def _repair(nesting: Nesting, here: slice, frame: npt.NDArray[np.bool_]) -> None:
    """Change ends so that the ranges of a thread nest, and count the crossed ranges.

    Frames are not counted: Python's frames cross annotations wherever a ``with`` statement opens or closes one, which
    is not a fault of the trace.
    """
    start, end = 2 * nesting.start_ns[here], _doubled_ends(nesting, here)
    nesting.repaired_overlaps += count_overlaps(start[~frame], end[~frame])
    nesting.end_ns[here] = repair_overlaps(start, end, frame & (end == end[frame].max(initial=0))) >> 1
