"""Selects events with usable times, and converts these to nanoseconds since the start of the capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.importers.kineto.clock import MAX_US, Clock
from tensorboard_plugin_dlprof.units import NS_PER_US

NO_START = "events without a usable start time"
NO_DURATION = "events without a usable duration"
NEGATIVE_DURATION = "events with a negative duration"

_DAY_US = 86_400e6

_BLOCK = 1 << 18
"""Rows converted at a time, because intermediate arrays take more memory than the columns."""

Columns = dict[str, npt.NDArray[Any]]
"""The columns of a table by name."""

Mask = npt.NDArray[np.bool_]
Microseconds = npt.NDArray[np.float64]


def blocks(count: int) -> Iterator[slice]:
    """Slices that cover ``count`` rows."""
    return (slice(low, low + _BLOCK) for low in range(0, count, _BLOCK))


def middle_of(starts: Iterable[Microseconds]) -> float:
    """The median start (us) of a sample from the largest table; 0 without events."""
    largest = max(starts, key=len)
    sample = largest[:: max(1, len(largest) // 100_000)]
    sample = sample[np.isfinite(sample) & (np.abs(sample) < MAX_US)]
    middle = len(sample) // 2  # numpy.median would import numpy.ma
    return float(np.partition(sample, middle)[middle]) if len(sample) else 0.0


def leave_out(columns: Columns, keep: Mask) -> None:
    """Removes rows from a table."""
    if not keep.all():
        columns.update({name: values[keep] for name, values in columns.items()})


def leave_out_unusable(columns: Columns, middle_us: float, skipped: Counter[str]) -> None:
    """Removes rows without a usable start or duration, and counts them."""
    count = len(columns["start_us"])
    keep = np.empty(count, np.bool_)
    for rows in blocks(count):
        started = usable_start(columns["start_us"][rows], middle_us)
        skipped[NO_START] += int(np.count_nonzero(~started))
        if "duration_us" in columns:
            duration_us = columns["duration_us"][rows]
            negative = duration_us < 0
            lasted = np.isfinite(duration_us) & (duration_us < MAX_US)
            skipped[NO_DURATION] += int(np.count_nonzero(started & ~lasted & ~negative))
            skipped[NEGATIVE_DURATION] += int(np.count_nonzero(started & negative))
            started &= lasted & ~negative
        keep[rows] = started
    leave_out(columns, keep)


def usable_start(start_us: Microseconds, middle_us: float) -> Mask:
    """Whether each time is finite and within a day of the middle of the trace. With an event at time 0, the capture
    would last 50 years."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(start_us) & (np.abs(start_us) < MAX_US) & (np.abs(start_us - middle_us) < _DAY_US)


class Times:
    """Nanoseconds since the start of the capture.

    Args:
        starts: starts of all usable events.
        clock: converts the times of the trace.
    """

    def __init__(self, starts: Iterable[Microseconds], clock: Clock) -> None:
        firsts = [start.min() for start in starts if len(start)]
        self._first_ns = int(nanoseconds(np.array([min(firsts, default=0.0)]))[0])
        self.base_ns = self._first_ns + clock.origin_us * NS_PER_US if firsts else 0
        """Start of the first event on the trace's clock."""
        self.end_ns = 0
        """End of the last event that was converted."""

    def points(self, microseconds: Microseconds) -> Int64s:
        """Times of the clock, converted to nanoseconds since the start of the capture."""
        result = nanoseconds(microseconds)
        result -= self._first_ns
        self.end_ns = max(self.end_ns, int(result.max(initial=0)))
        return result

    def span(self, start_us: Microseconds, duration_us: Microseconds) -> tuple[Int64s, Int64s]:
        """Start and end. Durations are converted separately, so that their sum equals that in the trace."""
        start = self.points(start_us)
        return start, start + nanoseconds(duration_us)

    def spans(self, columns: Columns, store: ColumnStore) -> tuple[Int64s, Int64s]:
        """Start and end of the rows of a table, from which these columns are removed."""
        start_us, duration_us = columns.pop("start_us"), columns.pop("duration_us")
        start, end = store.empty(len(start_us), np.int64), store.empty(len(start_us), np.int64)
        for rows in blocks(len(start_us)):
            start[rows], end[rows] = self.span(start_us[rows], duration_us[rows])
            self.end_ns = max(self.end_ns, int(end[rows].max()))
        return start, end


def nanoseconds(microseconds: Microseconds) -> Int64s:
    """Finite microseconds, rounded to nanoseconds.

    The fraction is scaled separately, because 1000 times a timestamp since 1970 is not exact as a double.
    """
    whole = np.floor(microseconds)
    parts = np.rint((microseconds - whole) * NS_PER_US)
    result: Int64s = whole.astype(np.int64)
    result *= NS_PER_US
    result += parts.astype(np.int64)
    return result
