"""Puts devices one after the other on a common time axis, so that many of them can be handled at once.

A profile may have thousands of devices with a few kernels each. The times of the n-th device are shifted by n times a
span that is longer than the whole recording. So intervals of different devices never overlap, and a single union of all
intervals contains the union of each device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.intervals import Clock, Intervals, Piece, clock_within, length
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s

_MOST_ALONE = 16
"""Up to this many devices are handled one by one, because their times then need no shift."""

_ROWS = 1 << 18
"""Rows of the devices in one group."""

_LATEST_NS = 1 << 62
"""Limit of shifted times."""

Work: TypeAlias = "tuple[Int64s, Int64s, Int32s]"
"""Starts, stops and devices of the rows of a table."""


class SideBySide(msgspec.Struct, frozen=True):
    """A group of devices on a common axis."""

    row: Int64s
    """Index of each device among those given to ``side_by_side``."""
    device_id: Int64s
    """Ids of the devices, ascending."""
    first_ns: int = 0
    """The earliest time."""
    span_ns: int = 0
    """Shift between one device and the next."""

    @property
    def shift_ns(self) -> Int64s:
        """The shift of the times of each device."""
        return self.span_ns * np.arange(len(self.row))

    def piece(self, work: Work, selected: npt.NDArray[np.bool_] | None = None) -> Piece:
        """The intervals of these devices on the axis, from all rows or the chosen ones."""
        start, stop, device = work
        if len(self.row) == 1:
            here = device == self.device_id[0]
            return start, stop, here if selected is None else here & selected
        rows, shift = self.rows(device, selected)
        return start[rows] + shift, stop[rows] + shift

    def rows(self, device: Int32s, selected: npt.NDArray[np.bool_] | None = None) -> tuple[Int64s, Int64s]:
        """The rows of a table that belong to these devices, and the shift of each."""
        place = np.minimum(np.searchsorted(self.device_id, device), len(self.row) - 1)
        here = self.device_id[place] == device
        result = np.flatnonzero(here if selected is None else here & selected)
        return result, self.shift_ns[place[result]]

    def repeated(self, intervals: Intervals) -> Intervals:
        """Intervals that all devices have in common, repeated on the axis for each device."""
        if len(self.row) == 1:
            return intervals
        start, stop = (np.add.outer(self.shift_ns, time).reshape(-1) for time in (intervals.start, intervals.stop))
        return Intervals(start, stop)

    def index(self, time: Int64s) -> Int64s:
        """Index within the group of the device that each time on the axis belongs to."""
        return (time - self.first_ns) // self.span_ns if len(self.row) > 1 else np.zeros(len(time), np.int64)

    def own(self, time: Int64s) -> Int64s:
        """Times on the axis, shifted back to the time of the recording."""
        return time - self.index(time) * self.span_ns if len(self.row) > 1 else time

    def clock_within(self, intervals: Intervals) -> Clock:
        """A clock for the axis that runs only within intervals that all devices have in common."""
        within = clock_within(intervals)
        if len(self.row) == 1:
            return within
        whole = length(intervals)
        return lambda time: within(self.own(time)) + self.index(time) * whole


def side_by_side(device_ids: Int64s, tables: Sequence[Work], shared: Sequence[Intervals]) -> Iterator[SideBySide]:
    """All devices, in groups that are not too large.

    Args:
        device_ids: Distinct ids.
        tables: The work of the devices, and perhaps of others.
        shared: Intervals that will be repeated for each device, or compared with its own.
    """
    order = np.argsort(device_ids)
    ids = device_ids[order]
    if len(ids) <= _MOST_ALONE:
        for row in range(len(ids)):
            yield SideBySide(order[row : row + 1], ids[row : row + 1])
        return
    first_ns, span_ns = _extent(
        [*((start, stop) for start, stop, _ in tables), *((each.start, each.stop) for each in shared)]
    )
    rows = np.full(len(ids), 1 + sum(len(each.start) for each in shared))
    for _, _, device in tables:
        place = np.minimum(np.searchsorted(ids, device), len(ids) - 1)
        rows += np.bincount(place[ids[place] == device], minlength=len(ids))
    most = max(_LATEST_NS // span_ns - 1, 1)
    group = np.cumsum(rows) // _ROWS
    begin = 0
    while begin < len(ids):
        end = min(int(np.searchsorted(group, group[begin], side="right")), begin + most)
        yield SideBySide(order[begin:end], ids[begin:end], first_ns, span_ns)
        begin = end


def _extent(times: Iterable[tuple[Int64s, Int64s]]) -> tuple[int, int]:
    """The earliest of all times, and a span longer than from there to the latest."""
    ends = [(min(int(start.min()), int(stop.min())), max(int(start.max()), int(stop.max())))
            for start, stop in times if len(start)]  # fmt: skip
    if not ends:
        return 0, 2
    first = min(low for low, _ in ends)
    return first, max(high for _, high in ends) - first + 2
