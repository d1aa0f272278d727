"""Clips the activity of GPUs to windows: iterations, a part of a timeline, the whole capture."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tensorboard_plugin_dlprof.columns.store import spilled
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
        windows = Spans(start_ns, stop_ns, np.arange(len(start_ns), dtype=np.int32))
        pieces, item = within(windows, Spans(device.start_ns, device.stop_ns, device.start_ns))
        self.start_ns, self.stop_ns = spilled(pieces.start), spilled(pieces.stop)
        self.window: Int32s = spilled(pieces.row.astype(np.int32, copy=False))
        self.cause: Int32s = spilled(device.cause[item])

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
        return self._sums(self.window * len(Part) + self.part, self.length_ns, len(Part))

    def sums_ns(self, wanted: list[bool]) -> Int64s:
        """Time in each window of the chosen causes, of which there is a flag for each."""
        rows = np.array(wanted or [False], np.bool_)[self.cause]
        return self._sums(self.window[rows], self.length_ns[rows], 1)[:, 0]

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

    def _sums(self, key: Int32s, weights: Int64s, width: int) -> Int64s:
        sums = np.bincount(key, weights=weights, minlength=self.windows * width)
        return sums.astype(np.int64).reshape(self.windows, width)
