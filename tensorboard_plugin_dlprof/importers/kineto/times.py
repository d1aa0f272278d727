"""Converts the times of a trace to integer nanoseconds without rounding, and leaves out events without usable ones.

Kineto has written ``ts`` in three ways: whole microseconds since 1970 (until 2024), microseconds
since 1970 with three decimals (2024), and microseconds with three decimals since
``baseTimeNanoseconds`` (since then). A double represents the first and the third exactly. The second it
rounds to a quarter of a microsecond, which is enough to make nested ranges cross; so its digits are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.importers.kineto.events import Event, ExactEvent
from tensorboard_plugin_dlprof.units import NS_PER_S, NS_PER_US

NO_START = "events without a usable start time"
NO_DURATION = "events without a usable duration"
NEGATIVE_DURATION = "events with a negative duration"

NO_TIME: Final = -(1 << 63)
"""Stands for a time that is absent, not a number, or does not fit."""

Columns = dict[str, npt.NDArray[Any]]
"""The columns of a table by name."""

Mask = npt.NDArray[np.bool_]

_STAMP = re.compile(rb'"ts"\s*:\s*"?(\d{13,18})\.\d')

_EXACT_BELOW_US = 1 << 43
"""Below this, neighbouring doubles are less than a nanosecond apart."""

_MAX_US = (1 << 62) // NS_PER_US
"""Beyond, the sum of a start and a duration may overflow 64 bits."""

_LONGEST = 20
"""Characters of a number with a point whose digits surely fit into 64 bits without a sign."""

_DAY_NS = 86_400 * NS_PER_S


def event_type(sample: bytes) -> type[Event]:
    """What to decode events as, of a text from their start: all timestamps of a trace are written in the same way."""
    is_long = any(int(stamp[1]) >= _EXACT_BELOW_US for stamp in _STAMP.finditer(sample))
    return ExactEvent if is_long else Event


def nanoseconds(microseconds: Sequence[float] | Sequence[msgspec.Raw]) -> Int64s:
    """Times or durations, which are numbers or JSON text, in nanoseconds; ``NO_TIME`` where they are not finite or too
    long.

    The fraction of a double is scaled separately, because 1000 times a timestamp since 1970 is not exact.
    """
    if microseconds and isinstance(microseconds[0], msgspec.Raw):
        return _of_texts(b"\0".join(microseconds).split(b"\0"))  # type: ignore[arg-type]
    stamps = np.array(microseconds, np.float64)
    usable = np.abs(stamps) < _MAX_US
    stamps[~usable] = 0
    whole = np.floor(stamps)
    result: Int64s = whole.astype(np.int64) * NS_PER_US + np.rint((stamps - whole) * NS_PER_US).astype(np.int64)
    result[~usable] = NO_TIME
    return result


def _of_texts(texts: list[bytes]) -> Int64s:
    """The times in JSON texts. Mostly all have as many digits and three decimals."""
    width = len(texts[0])
    if 4 < width <= _LONGEST and set(map(len, texts)) == {width}:
        characters = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, width)
        digits = characters - np.uint8(ord("0"))
        if (characters[:, -4] == ord(".")).all() and np.count_nonzero(digits > 9) == len(texts):
            tens = np.uint64(10) ** np.arange(width - 2, -1, -1, dtype=np.uint64)
            times = digits @ np.insert(tens, width - 4, np.uint64(0))
            return np.where(times < _MAX_US * NS_PER_US, times.astype(np.int64), NO_TIME)
    return np.array([_exact(text) for text in texts], np.int64)


def _exact(text: bytes) -> int:
    try:
        stamp = Decimal(text.decode().strip('"'))
        return round(stamp * NS_PER_US) if -_MAX_US < stamp < _MAX_US else NO_TIME
    except (ValueError, ArithmeticError):  # no number
        return NO_TIME


def middle_of(starts: Iterable[Int64s]) -> int:
    """The median start of a sample from the largest table; 0 without events."""
    largest = max(starts, key=len)
    sample = np.sort(largest[:: max(1, len(largest) // 100_000)])
    sample = sample[sample != NO_TIME]
    return int(sample[len(sample) // 2]) if len(sample) else 0


def usable_start(start_ns: Int64s, middle_ns: int) -> Mask:
    """Whether each time is known and within a day of the middle of the trace. With an event at time 0, the capture
    would last 50 years."""
    return (start_ns > middle_ns - _DAY_NS) & (start_ns < middle_ns + _DAY_NS)


def leave_out(columns: Columns, keep: Mask) -> None:
    """Removes rows from a table."""
    if not keep.all():
        columns.update({name: values[keep] for name, values in columns.items()})


def leave_out_unusable(columns: Columns, middle_ns: int, skipped: Counter[str]) -> None:
    """Removes rows without a usable start or duration, and counts them."""
    keep = usable_start(columns["start_ns"], middle_ns)
    skipped[NO_START] += int(np.count_nonzero(~keep))
    if "duration_ns" in columns:
        duration_ns = columns["duration_ns"]
        for reason, is_bad in ((NO_DURATION, duration_ns == NO_TIME), (NEGATIVE_DURATION, duration_ns < 0)):
            skipped[reason] += int(np.count_nonzero(keep & is_bad))
            keep &= ~is_bad
    leave_out(columns, keep)


def count_from(columns: Columns, first_ns: int) -> int:
    """Makes the times of a table count from ``first_ns``, and its durations ends. Returns the last end.

    Durations are added as they were converted, so that their sum equals that in the trace.
    """
    start_ns = end_ns = columns["start_ns"]
    start_ns -= first_ns
    if "duration_ns" in columns:
        end_ns = columns["end_ns"] = columns.pop("duration_ns")
        end_ns += start_ns
    return int(end_ns.max(initial=0))
