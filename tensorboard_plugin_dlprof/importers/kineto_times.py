"""Selects events with usable times, and converts these to nanoseconds since the start of the capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.importers.kineto_clock import MAX_US, Clock
from tensorboard_plugin_dlprof.importers.kineto_rows import MemoryRows, SpanRows
from tensorboard_plugin_dlprof.units import NS_PER_US

NO_START = "events without a usable start time"
NO_DURATION = "events without a usable duration"
NEGATIVE_DURATION = "events with a negative duration"

_DAY_US = 86_400e6

_BLOCK = 1 << 16
"""Rows whose intermediate arrays fit into the processor's cache."""

Mask = npt.NDArray[np.bool_]
Rows = TypeVar("Rows", bound=SpanRows)


def middle_of(tables: Iterable[SpanRows | MemoryRows]) -> float:
    """The median start (us) of a sample from the largest table; 0 without events."""
    largest = np.frombuffer(max((table.start_us for table in tables), key=len), np.float64)
    sample = largest[:: max(1, len(largest) // 100_000)]
    sample = sample[np.isfinite(sample)]
    middle = len(sample) // 2  # numpy.median would import numpy.ma
    return float(np.partition(sample, middle)[middle]) if len(sample) else 0.0


class Kept(Generic[Rows]):
    """The usable rows of one table."""

    def __init__(self, rows: Rows, middle_us: float, skipped: Counter[str]) -> None:
        start = np.frombuffer(rows.start_us, np.float64)
        duration = np.frombuffer(rows.duration_us, np.float64)
        keep = np.empty(len(start), np.bool_)
        for block in blocks(len(start)):
            keep[block] = _usable(start[block], duration[block], middle_us, skipped)
        self.mask: Mask | None = None if keep.all() else keep
        self.count = int(np.count_nonzero(keep))
        self.rows = rows

    def column(self, name: str) -> npt.NDArray[Any]:
        """The usable rows of a column, which is removed from the table."""
        values = self.peek(name)
        setattr(self.rows, name, values[:0].copy())
        return values

    def peek(self, name: str) -> npt.NDArray[Any]:
        """The usable rows of a column, which stays in the table."""
        values = np.asarray(getattr(self.rows, name))
        return values if self.mask is None else values[self.mask]

    def narrow(self, chosen: Mask) -> None:
        """Leaves out more rows; ``chosen`` has a flag for each row that was usable so far."""
        if self.mask is None:
            self.mask = chosen
        else:
            self.mask[self.mask] = chosen
        self.count = int(np.count_nonzero(chosen))


def blocks(count: int) -> Iterator[slice]:
    """Slices that cover ``count`` rows, small enough for the processor's cache and for memory that is reused."""
    return (slice(low, low + _BLOCK) for low in range(0, count, _BLOCK))


def _usable(
    start_us: npt.NDArray[np.float64], duration_us: npt.NDArray[np.float64], middle_us: float, skipped: Counter[str]
) -> Mask:
    started = usable_start(start_us, middle_us)
    negative = duration_us < 0
    lasted = np.isfinite(duration_us) & (duration_us < MAX_US)
    keep: Mask = started & lasted & ~negative
    if not keep.all():
        skipped[NO_START] += int(np.count_nonzero(~started))
        skipped[NO_DURATION] += int(np.count_nonzero(started & ~lasted & ~negative))
        skipped[NEGATIVE_DURATION] += int(np.count_nonzero(started & negative))
    return keep


def usable_start(start_us: npt.NDArray[np.float64], middle_us: float) -> Mask:
    """Whether each time is finite and within a day of the middle of the trace. With an event at time 0, the capture
    would last 50 years."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(start_us) & (np.abs(start_us) < MAX_US) & (np.abs(start_us - middle_us) < _DAY_US)


class Times:
    """Nanoseconds since the start of the capture."""

    def __init__(self, kept: Sequence[Kept[Any]], memory_us: npt.NDArray[np.float64], clock: Clock) -> None:
        firsts = [memory_us.min()] if len(memory_us) else []
        for table in kept:
            start = table.peek("start_us")
            if len(start):
                firsts.append(start.min())
        first = nanoseconds(np.array([min(firsts, default=0.0)]))[0]
        self._first_ns = int(first)
        self.base_ns = self._first_ns + clock.origin_us * NS_PER_US if firsts else 0
        """Start of the first event on the trace's clock."""
        self.end_ns = 0

    def points(self, microseconds: npt.NDArray[np.float64]) -> Int64s:
        """Times of the clock, converted to nanoseconds since the start of the capture."""
        result = nanoseconds(microseconds)
        result -= self._first_ns
        if len(result):
            self.end_ns = max(self.end_ns, int(result.max()))
        return result

    def span(self, start_us: npt.NDArray[np.float64], duration_us: npt.NDArray[np.float64]) -> tuple[Int64s, Int64s]:
        """Start and end. Durations are converted separately, so that their sum equals that in the trace."""
        start = self.points(start_us)
        return start, start + nanoseconds(duration_us)

    def spans(self, kept: Kept[Any], store: ColumnStore) -> tuple[Int64s, Int64s]:
        """Start and end of the usable rows; their columns are removed from the table."""
        start_us, duration_us = kept.column("start_us"), kept.column("duration_us")
        start, end = store.empty(kept.count, np.int64), store.empty(kept.count, np.int64)
        for rows in blocks(kept.count):
            start[rows], end[rows] = self.span(start_us[rows], duration_us[rows])
            self.end_ns = max(self.end_ns, int(end[rows].max()))
        return start, end


def nanoseconds(microseconds: npt.NDArray[np.float64]) -> Int64s:
    """Finite microseconds, rounded to nanoseconds.

    The fraction is scaled separately, because 1000 times a timestamp since 1970 is not exact as a double.
    """
    whole = np.floor(microseconds)
    parts = np.rint((microseconds - whole) * NS_PER_US)
    result: Int64s = whole.astype(np.int64)
    result *= NS_PER_US
    result += parts.astype(np.int64)
    return result
