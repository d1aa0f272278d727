"""Repairs ranges of one thread that overlap without nesting.

A stack cannot produce such ranges, but rounding and clock corrections of a recorder can. By default, for the purpose of
nesting only, the earlier range ends where the later one starts. There are two exceptions, in which the later range is
cut to the end of the earlier one instead: if it ends later by no more than rounding explains, and overlaps by at least
as much, it is a child that rounding made too long. And if its return was not seen, mostly because a built-in function
raised an exception, the recorder lets it last to the end of the recording.
"""

from __future__ import annotations

import itertools
from array import array

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s

Flags = npt.NDArray[np.bool_]

ROUNDING = 2 * 2_000
"""Half-nanoseconds. Older traces have whole microseconds, with start and duration rounded separately."""

_ROUNDS = 8
"""Most rounds in which children are cut. A cut child may cross its own children; real captures take two or three."""


def count_overlaps(start: Int64s, end: Int64s) -> int:
    """The number of ranges that a later one crosses; arguments as for ``repair_overlaps``."""
    return len(_crossed(start, end, np.arange(len(start)), _first_beyond(end)))


def repair_overlaps(start: Int64s, end: Int64s, endless: Flags) -> Int64s:
    """Change ends so that the ranges of one thread nest. Times are in half-nanoseconds.

    Args:
        start: Ascending; of equal starts the longer range first.
        end: Not before ``start``.
        endless: Whether the end of each range was not recorded; such a range ends with the range around it.

    Returns:
        The repaired ends, none later than before.
    """
    repaired: Int64s = end.copy()
    suspects = np.arange(len(start))
    for turn in itertools.count():
        beyond = _first_beyond(repaired)
        crossed = _crossed(start, repaired, suspects, beyond)
        if not len(crossed):
            return repaired
        crossing = beyond[crossed]
        past = repaired[crossing] - repaired[crossed]
        inside = repaired[crossed] - start[crossing]
        too_long = (past <= ROUNDING) & (past <= inside) & (turn < _ROUNDS)
        too_long |= endless[crossing] & (inside > ROUNDING)
        # Of two ranges with the same start, the first was the longer one until it was cut, so it stays outside.
        too_long |= start[crossing] == start[crossed]
        if too_long.any():
            np.minimum.at(repaired, crossing[too_long], repaired[crossed[too_long]])
        else:
            repaired[crossed] = start[crossing]
        # Only ranges whose ends have changed can be crossed now.
        suspects = distinct_values(np.append(crossed, crossing))
    raise AssertionError("not reached")


def _crossed(start: Int64s, end: Int64s, suspects: Int64s, beyond: Int64s) -> Int64s:
    """The suspects for which a later range starts before their end and ends after it; ``beyond`` is of all rows."""
    return suspects[beyond[suspects] < np.searchsorted(start, end[suspects], side="left")]


def _first_beyond(end: Int64s) -> Int64s:
    """For each row the first later row with a later end; the number of rows if there is none."""
    beyond = array("q", [len(end)]) * len(end)
    rows: list[int] = []
    ends: list[int] = []
    for row, latest in enumerate(end.data):
        while ends and ends[-1] < latest:
            ends.pop()
            beyond[rows.pop()] = row
        rows.append(row)
        ends.append(latest)
    return np.frombuffer(beyond, np.int64)
