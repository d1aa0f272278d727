"""Clips the activity of GPUs to windows: iterations, a part of a timeline, the whole capture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tensorboard_plugin_dlprof.columns.store import joined, spilled
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

_BLOCK = 1 << 18
"""Pieces, and segments to clip, at a time: there may be tens of millions."""


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
        segments = Spans(device.start_ns, device.stop_ns, device.start_ns)

        def pieces() -> Iterator[Int64s]:
            step = max(1, self.windows * _BLOCK // max(len(device.start_ns), 1))
            for begin in range(0, self.windows, step):
                some = slice(begin, begin + step)
                windows = Spans(start_ns[some], stop_ns[some], np.arange(begin, begin + len(start_ns[some])))
                inside, item = within(windows, segments)
                yield np.stack((inside.start, inside.stop, inside.row, device.cause[item]), axis=1)

        self.start_ns, self.stop_ns, window, cause = joined(pieces(), 4)
        self.window: Int32s = spilled(window.astype(np.int32))
        self.cause: Int32s = spilled(cause.astype(np.int32))

    @cached_property
    def part(self) -> Int32s:
        """``Part`` of each piece."""
        return np.array([cause.part for cause in self._causes] or [0], np.int32)[self.cause]

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
        """Add the lengths of some pieces to the sums with their keys."""
        sums += np.bincount(key, weights=self.stop_ns[rows] - self.start_ns[rows], minlength=len(sums)).astype(np.int64)
