"""Pure interval arithmetic on NumPy arrays of integer nanoseconds.

``Intervals`` are half-open, ascending, disjoint and not empty; ``union`` makes them from any intervals.
Everything is sorting and searching: no function loops over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import release_pages, spilled
from tensorboard_plugin_dlprof.events.tables import Int64s

_BLOCK = 1 << 18
"""Intervals that are handled at once, because intermediate results take several times their memory."""


class Intervals(msgspec.Struct, frozen=True):
    """Disjoint intervals in ascending order: ``start[i] < stop[i] < start[i + 1]``."""

    start: Int64s
    stop: Int64s


Clock: TypeAlias = Callable[[Int64s], Int64s]
"""The reading of a clock at given times; it may stand still but never runs backwards."""

Piece: TypeAlias = "tuple[Int64s, Int64s] | tuple[Int64s, Int64s, npt.NDArray[np.bool_]]"
"""Starts and stops of intervals, and optionally which of them to use."""


def union(start: Int64s, stop: Int64s) -> Intervals:
    """The time covered by at least one interval. Intervals that end at or before their start cover nothing."""
    return union_of([(start, stop)])


def union_of(pieces: Sequence[Piece]) -> Intervals:
    """The union of the intervals of several tables; they are copied only once, for sorting."""
    most = sum(len(piece[0]) for piece in pieces)
    starts, stops = np.empty(most, np.int64), np.empty(most, np.int64)
    count = 0
    for start, stop, *selected in pieces:
        for begin in range(0, len(start), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            first, last = start[some], stop[some]
            retained = last > first
            if selected:
                retained &= selected[0][some]
            end = count + int(np.count_nonzero(retained))
            np.compress(retained, first, out=starts[count:end])
            np.compress(retained, last, out=stops[count:end])
            count = end
        if len(start) > _BLOCK:
            release_pages()
    starts, stops = starts[:count], stops[:count]
    # Starts and stops are sorted separately: where no interval is open, as many have ended as have begun. Rows come in
    # runs that are sorted by time, for each op or table, which a stable sort merges in a fraction of the time.
    starts.sort(kind="stable")
    stops.sort(kind="stable")
    begins = np.ones(count, np.bool_)
    np.greater(starts[1:], stops[:-1], out=begins[1:])
    ends = np.ones(count, np.bool_)
    ends[:-1] = begins[1:]
    return Intervals(spilled(starts[begins]), spilled(stops[ends]))


def length(intervals: Intervals) -> int:
    """Total length in nanoseconds."""
    return int((intervals.stop - intervals.start).sum())


def intersect(one: Intervals, other: Intervals) -> Intervals:
    """The time covered by both."""
    few, many = (one, other) if len(one.start) <= len(other.start) else (other, one)
    starts, stops = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin in range(0, len(few.start), _BLOCK):
        start, stop = few.start[begin : begin + _BLOCK], few.stop[begin : begin + _BLOCK]
        # Each interval overlaps those of many from first to last.
        first = np.searchsorted(many.stop, start, side="right")
        count = np.searchsorted(many.start, stop, side="left") - first
        row = np.repeat(np.arange(len(start)), count)
        theirs = np.arange(len(row)) + np.repeat(first - np.cumsum(count) + count, count)
        starts.append(np.maximum(start[row], many.start[theirs]))
        stops.append(np.minimum(stop[row], many.stop[theirs]))
    return Intervals(spilled(np.concatenate(starts)), spilled(np.concatenate(stops)))


def subtract(one: Intervals, other: Intervals) -> Intervals:
    """The time covered by ``one`` and not by ``other``."""
    if not len(one.start) or not len(other.start):
        return one
    before = min(int(one.start[0]), int(other.start[0])) - 1
    after = max(int(one.stop[-1]), int(other.stop[-1])) + 1
    return intersect(one, Intervals(np.append(before, other.stop), np.append(other.start, after)))


def covered(intervals: Intervals, start: Int64s, stop: Int64s, clock: Clock | None = None) -> Int64s:
    """Nanoseconds of ``intervals`` within each window from ``start[i]`` to ``stop[i]``; windows may overlap.

    Args:
        intervals: Whose time counts.
        clock: Measures the time; by default, all nanoseconds count.
    """
    lengths = np.zeros(len(start), np.int64)
    if not len(intervals.start):
        return lengths
    total = _totals(intervals, clock)
    for begin in range(0, len(start), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        before = _covered_before(intervals, total, start[some], clock)
        np.maximum(_covered_before(intervals, total, stop[some], clock) - before, 0, out=lengths[some])
    return lengths


def clock_within(intervals: Intervals) -> Clock:
    """A clock that runs only within ``intervals``."""
    total = _totals(intervals)
    return lambda time: _covered_before(intervals, total, time) if len(intervals.start) else np.zeros_like(time)


def _totals(intervals: Intervals, clock: Clock | None = None) -> Int64s:
    """The total length of the first n intervals, for n from 0 to all."""
    total = np.zeros(len(intervals.start) + 1, np.int64)
    if clock is None:
        np.subtract(intervals.stop, intervals.start, out=total[1:])
    else:
        for begin in range(0, len(intervals.start), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            np.subtract(clock(intervals.stop[some]), clock(intervals.start[some]), out=total[1:][some])
    np.cumsum(total, out=total)
    return total


def _covered_before(intervals: Intervals, total: Int64s, time: Int64s, clock: Clock | None = None) -> Int64s:
    """The length of the intervals before each time; ``total`` is from ``_totals``."""
    begun = np.searchsorted(intervals.start, time, side="right")
    stop = intervals.stop[begun - 1]
    still_to_come = np.maximum(stop - time if clock is None else clock(stop) - clock(time), 0)
    return np.where(begun > 0, total[begun] - still_to_come, 0)


def are_shared(segment: npt.NDArray[np.integer], segments: int) -> npt.NDArray[np.bool_]:
    """Which rows share their segment with others. Most ops launch a single piece of work, which needs no sorting."""
    shared: npt.NDArray[np.bool_] = np.bincount(segment, minlength=segments)[segment] > 1
    return shared


def union_lengths(segment: Int64s, start: Int64s, stop: Int64s, segments: int) -> Int64s:
    """Nanoseconds covered in each of ``segments`` groups of intervals; ``segment[i]`` is the group of row i."""
    lengths = np.zeros(segments, np.int64)
    if not len(segment):
        return lengths
    shared = are_shared(segment, segments)
    alone = ~shared
    lengths[segment[alone]] = np.maximum(stop[alone] - start[alone], 0)
    segment, start, stop = segment[shared], start[shared], stop[shared]
    rows = len(segment)
    if not rows:
        return lengths
    order = np.lexsort((start, segment))
    segment, start, stop = segment[order], start[order], stop[order]
    # A running maximum that restarts with each segment, computed from ranks because segment x time could overflow.
    by_stop = np.argsort(stop, kind="stable")
    rank = np.empty(rows, np.int64)
    rank[by_stop] = np.arange(rows)
    offset = segment.astype(np.int64) * rows
    reach = stop[by_stop][np.maximum.accumulate(offset + rank) - offset]
    begins = np.concatenate(([True], segment[1:] != segment[:-1]))
    covered_so_far = np.where(begins, start, np.concatenate((start[:1], reach[:-1])))
    added = np.maximum(stop - np.maximum(start, covered_so_far), 0)
    heads = np.flatnonzero(begins)
    lengths[segment[heads]] = np.add.reduceat(added, heads)
    return lengths
