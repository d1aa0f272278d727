"""Clips the activity of GPUs to windows: iterations, a part of a timeline, the whole capture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tensorboard_plugin_dlprof.columns.store import ColumnStore, spilled
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import (
    OVERLAPS_COMMUNICATION,
    OVERLAPS_COPY,
    Activity,
    Int32s,
    Int64s,
    Segments,
)
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, within
from tensorboard_plugin_dlprof.events.tables import Int8s

_BLOCK = 1 << 16
"""Pieces, and segments to clip, at a time: there may be tens of millions, and intermediate results take several times
their memory."""


class Clipped:
    """The segments of one GPU within disjoint ascending windows.

    Args:
        activity: of all GPUs.
        device: one of ``activity.devices``.
        start_ns: Start of each of n windows.
        stop_ns: Their ends.
    """

    def __init__(self, activity: Activity, device: Segments, start_ns: Int64s, stop_ns: Int64s) -> None:
        self._causes = activity.causes
        self.windows = len(start_ns)
        store = ColumnStore()
        start, stop, window, cause = (store.growing(typecode) for typecode in "qqii")
        for begin in range(0, len(device.start_ns), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            segments = Spans(device.start_ns[some], device.stop_ns[some], device.cause[some])
            first = int(np.searchsorted(stop_ns, segments.start[0], side="right"))
            last = int(np.searchsorted(start_ns, segments.stop[-1], side="left"))
            windows = Spans(start_ns[first:last], stop_ns[first:last], np.arange(first, last))
            inside, item = within(windows, segments)
            start.append(inside.start)
            stop.append(inside.stop)
            window.append(inside.row.astype(np.int32))
            cause.append(segments.row[item].astype(np.int32, copy=False))
        self.start_ns: Int64s = start.whole()
        self.stop_ns: Int64s = stop.whole()
        self.window: Int32s = window.whole()
        self.cause: Int32s = cause.whole()

    @cached_property
    def part(self) -> Int8s:
        """``Part`` of each piece."""
        return spilled(np.array([cause.part for cause in self._causes] or [0], np.int8)[self.cause])

    @property
    def length_ns(self) -> Int64s:
        """Length of each piece."""
        length: Int64s = self.stop_ns - self.start_ns
        return length

    def parts_ns(self) -> Int64s:
        """The parts of each window: shape (n, 14), by ``Part``; they add up to its length."""
        sums = np.zeros(self.windows * len(Part), np.int64)
        for rows in self._blocks():
            self._add(sums, self.window[rows].astype(np.int64) * len(Part) + self.part[rows], rows)
        return sums.reshape(self.windows, len(Part))

    def sums_ns(self, wanted: list[bool]) -> Int64s:
        """Time in each window of the chosen causes, of which there is a flag for each."""
        is_wanted = np.array(wanted or [False], np.bool_)
        sums = np.zeros(self.windows, np.int64)
        for block in self._blocks():
            rows = block.start + np.flatnonzero(is_wanted[self.cause[block]])
            self._add(sums, self.window[rows], rows)
        return sums

    def queued_ns(self, detail: str) -> Int64s:
        """Queued time of one reason in each window."""
        return self.sums_ns([cause.part == Part.QUEUED and cause.detail == detail for cause in self._causes])

    def graph_ns(self) -> Int64s:
        """Time in graphs recorded as a whole in each window."""
        return self.sums_ns([cause.part == Part.COMPUTE_UNKNOWN and cause.detail == "graph" for cause in self._causes])

    def communication_ns(self) -> Int64s:
        """Time with any communication in each window, hidden or exposed."""
        return self.sums_ns(
            [c.part == Part.COMMUNICATION or bool(c.overlaps & OVERLAPS_COMMUNICATION) for c in self._causes]
        )

    def copy_ns(self) -> Int64s:
        """Time with any copy in each window, hidden or exposed."""
        return self.sums_ns([c.part == Part.COPY or bool(c.overlaps & OVERLAPS_COPY) for c in self._causes])

    def _blocks(self) -> Iterator[slice]:
        return (slice(begin, begin + _BLOCK) for begin in range(0, len(self.window), _BLOCK))

    def _add(self, sums: Int64s, key: Int32s | Int64s, rows: Int64s | slice) -> None:
        """Add the lengths of some pieces to the sums with their keys, which are near each other."""
        if len(key):
            first = int(key.min())
            added = np.bincount(key - first, weights=self.stop_ns[rows] - self.start_ns[rows]).astype(np.int64)
            sums[first : first + len(added)] += added
