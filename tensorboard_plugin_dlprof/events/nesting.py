"""Parents and depths of the ranges of each thread, and the innermost range at a time.

Ranges on one thread form a stack. Where they start together the longer one is outside; where they
end together too, frames, modules and annotations are outside ops, and earlier rows outside later
ones. A range without length counts as half a nanosecond: it lies within the range it interrupts
and holds what happened at its very moment. So that halves stay integers, times are doubled here.

Everything is sorting and searching: ten million ranges take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.overlaps import count_overlaps, repair_overlaps
from tensorboard_plugin_dlprof.events.tables import Int8s, Int32s, Int64s, RangeKind, Ranges
from tensorboard_plugin_dlprof.spilling import Spill

_IN_MEMORY = Spill()

NESTABLE = (
    RangeKind.FRAME,
    RangeKind.MODULE,
    RangeKind.ANNOTATION,
    RangeKind.DLPROF_CONFIG,
    RangeKind.DLPROF_TRACE,
    RangeKind.OP,
    RangeKind.DLPROF_OP,
)
"""Kinds that form a stack, those that go outside first where two ranges are equal."""


_BLOCK = 1 << 18
"""Places at a time, where what is made of them takes more memory than they do."""


@dataclass(slots=True)
class ThreadStack:
    """The nested ranges of one thread. A place is a position in the order of their starts."""

    first: int
    """Place of the thread's first range among the places of all threads."""
    start_ns: Int64s
    sorted_end: Int64s
    """Repaired ends in half-nanoseconds, ascending."""
    by_depth: Int64s
    """``depth * n + place``, ascending."""

    def last_at_depth(self, depth: Int64s, place: Int64s) -> Int64s:
        """The last range at a depth that starts no later than a place. It must exist."""
        count = len(self.start_ns)
        found = np.searchsorted(self.by_depth, depth * count + place, side="right") - 1
        return self.by_depth[found] % count

    def innermost(self, time_ns: Int64s) -> Int64s:
        """The place (of all threads) of the innermost range around each time, -1 where there is none."""
        started = np.searchsorted(self.start_ns, time_ns, side="right")
        open_ranges = started - np.searchsorted(self.sorted_end, 2 * time_ns, side="right")
        inside = open_ranges > 0
        places = np.full(len(time_ns), -1, np.int64)
        places[inside] = self.first + self.last_at_depth(open_ranges[inside] - 1, started[inside] - 1)
        return places


@dataclass(slots=True)
class Nesting:
    """All nested ranges, ordered by thread, then start, then outside in: *places*.

    A parent's place is before its children's.
    """

    row: Int32s
    """Row of ``Capture.ranges`` at each place."""
    parent: Int32s
    """Place of the parent, -1 for the outermost."""
    depth: Int32s
    start_ns: Int64s
    end_ns: Int64s
    """As repaired: never after the parent's."""
    stacks: dict[int, ThreadStack]
    """By row of ``Capture.threads``."""
    repaired_overlaps: int
    _by_depth: list[Int32s] = field(default_factory=list)

    def innermost(self, thread: Int32s, time_ns: Int64s) -> Int64s:
        """The place of the innermost range around each time on a thread, -1 where there is none."""
        places = np.full(len(thread), -1, np.int64)
        for index, rows in rows_by_value(thread):
            stack = self.stacks.get(index)
            if stack is not None:
                places[rows] = stack.innermost(time_ns[rows])
        return places

    def inherit(self, own: npt.NDArray[np.bool_], values: Int32s | None = None) -> Int32s:
        """What each place has from its nearest ancestor, itself included, that has something of its own.

        Args:
            own: Places that have a value of their own.
            values: Their values; default their places.

        Returns:
            One value per place; -1 where neither the place nor an ancestor has one.
        """
        inherited = np.full(len(own), -1, np.int32)
        inherited[own] = np.flatnonzero(own) if values is None else values[own]
        if not own.any():
            return inherited
        for places in self.places_by_depth()[1:]:
            without = places[~own[places]]
            inherited[without] = inherited[self.parent[without]]
        return inherited

    def places_by_depth(self) -> list[Int32s]:
        """The places at depth 0, 1, ...; each ascending."""
        if not self._by_depth and len(self.depth):
            narrow = self.depth.astype(np.int16) if self.depth.max() < 1 << 15 else self.depth
            order = np.argsort(narrow, kind="stable").astype(np.int32)
            self._by_depth = np.split(order, np.cumsum(np.bincount(self.depth))[:-1])
        return self._by_depth

    def above(self, values: Int32s) -> Int32s:
        """``values`` of the parents; -1 for the outermost."""
        taken = values[self.parent]
        taken[self.parent < 0] = -1
        return taken


def nest(ranges: Ranges, spill: Spill = _IN_MEMORY) -> Nesting:
    """Nests the ranges of each thread. ``spill`` is where the long columns of the result lie."""
    rank = np.full(max(RangeKind) + 1, -1, np.int8)
    rank[list(NESTABLE)] = np.arange(len(NESTABLE))
    ranks = rank[ranges.kind]
    rows = np.flatnonzero(ranks >= 0)
    count, first = len(rows), 0
    # Filled thread by thread, in place: a capture may hold ten million ranges.
    nesting = Nesting(
        row=spill.empty(count, np.int32),
        parent=spill.empty(count, np.int32),
        depth=spill.empty(count, np.int32),
        start_ns=spill.empty(count, np.int64),
        end_ns=spill.empty(count, np.int64),
        stacks={},
        repaired_overlaps=0,
    )
    for thread, members in rows_by_value(ranges.thread[rows]):
        order = rows[members]
        order = order[_outside_in(ranges.start_ns[order], ranges.end_ns[order], ranks[order])]
        here = slice(first, first + len(order))
        nesting.row[here] = order
        nesting.start_ns[here] = ranges.start_ns[order]
        start = 2 * nesting.start_ns[here]
        end = 2 * ranges.end_ns[order]
        end[end == start] += 1
        stack, parent, depth = _stack(first, start, end)
        if (end > end[parent])[parent >= 0].any():
            # Python's frames cross annotations wherever a `with` statement opens or closes one: no fault of the trace.
            frame = ranges.kind[order] == RangeKind.FRAME
            nesting.repaired_overlaps += count_overlaps(start[~frame], end[~frame])
            end = repair_overlaps(start, end, frame & (end == end[frame].max(initial=0)))
            stack, parent, depth = _stack(first, start, end)
        stack.start_ns = nesting.start_ns[here]
        nesting.stacks[thread] = stack
        parent[parent >= 0] += first
        nesting.parent[here] = parent
        nesting.depth[here] = depth
        end >>= 1
        nesting.end_ns[here] = end
        first += len(order)
        del order, start, end, parent, depth  # before the next thread makes its own
        spill.rest()
    return nesting


def rows_by_value(values: Int32s) -> list[tuple[int, Int64s]]:
    """Each distinct value with its rows, both ascending."""
    if not len(values):
        return []
    narrow = values.min() >= 0 and values.max() < 1 << 15
    order = np.argsort(values.astype(np.int16) if narrow else values, kind="stable")
    ordered = values[order]
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    return [(int(values[rows[0]]), rows) for rows in np.split(order, cuts)]


def _outside_in(start: Int64s, end: Int64s, rank: Int8s) -> Int64s:
    """The order of places. Ties are rare, so only they are sorted by more than the start."""
    order = np.argsort(start, kind="stable")
    equal = np.diff(start[order]) == 0
    if equal.any():
        tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, rank[rows], -end[rows], start[rows]))]
    return order


def _stack(first: int, start: Int64s, end: Int64s) -> tuple[ThreadStack, Int32s, Int32s]:
    """The stack of a thread, with parent (-1 for none) and depth of each place of it.

    Right where no ranges cross; else the first range that crosses another ends after its parent.
    """
    count = len(start)
    sorted_end = np.sort(end, kind="stable")  # mostly in order already, which a merge sort makes use of
    depth = np.arange(count, dtype=np.int32)
    for low in range(0, count, _BLOCK):
        block = slice(low, low + _BLOCK)
        depth[block] -= np.searchsorted(sorted_end, start[block], side="right").astype(np.int32)
    narrow = depth.astype(np.int16) if depth.max(initial=0) < 1 << 15 else depth
    order = np.argsort(narrow, kind="stable")
    parent = _parents(narrow, order)
    by_depth = depth[order].astype(np.int64)
    by_depth *= count
    by_depth += order
    return ThreadStack(first, start, sorted_end, by_depth), parent, depth


def _parents(depth: npt.NDArray[np.integer], order: Int64s) -> Int32s:
    """For each place the last one before it that is one less deep; -1 at depth 0.

    Depth grows by one at most from place to place, so the first child follows its parent at once, and each
    other child has the parent of the place before it in ``order``, which is that of depths, then places.
    """
    parent = np.full(len(depth), -1, np.int32)
    deep = order[int(np.count_nonzero(depth == 0)) :]
    if len(deep):
        is_first = depth[deep - 1] < depth[deep]
        heads = (deep[is_first] - 1).astype(np.int32)
        head = np.cumsum(is_first, dtype=np.int32)
        head -= 1
        parent[deep] = heads[head]
    return parent
