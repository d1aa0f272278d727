"""Repairs ranges of one thread that overlap without nesting.

A stack cannot produce such ranges, but rounding and clock corrections of a recorder can. By default, for the purpose of
nesting only, the earlier range ends where the later one starts. There are two exceptions, in which the later range is
cut to the end of the earlier one instead: if it ends later by no more than rounding explains, and overlaps by at least
as much, it is a child that rounding made too long. And if its return was not seen, mostly because a built-in function
raised an exception, the recorder lets it last to the end of the recording.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s

Flags = npt.NDArray[np.bool_]

ROUNDING = 2 * 2_000
"""Half-nanoseconds. Older traces have whole microseconds, with start and duration rounded separately."""

_ROUNDS = 8
"""Most rounds in which children are cut. A cut child may cross its own children; real captures take two or three."""

_NEAR = 16
"""Rows after a range in which the range that crosses it is searched for first, because it is mostly near."""

_BLOCK = 1024
"""Rows whose latest end is computed once, to search far ranges quickly."""

_WIDE = 64
"""Values whose maximum is computed once, to find maxima of wide slices quickly."""


def count_overlaps(start: Int64s, end: Int64s) -> int:
    """The number of ranges that a later one crosses; arguments as for ``repair_overlaps``."""
    return len(_crossed(start, end, np.arange(len(start))))


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
        crossed = _crossed(start, repaired, suspects)
        if not len(crossed):
            return repaired
        crossing = _first_beyond(repaired, crossed)
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


def _crossed(start: Int64s, end: Int64s, suspects: Int64s) -> Int64s:
    """The suspects for which a later range starts before their end and ends after it."""
    stop = np.searchsorted(start, end[suspects], side="left")
    holds_starts = stop > suspects + 1
    rows, stop = suspects[holds_starts], stop[holds_starts]
    return rows[_maximum_between(end, rows + 1, stop) > end[rows]]


def _maximum_between(values: Int64s, first: Int64s, stop: Int64s) -> Int64s:
    """The maximum of each slice ``values[first:stop]``, none empty. Wide slices use the maxima of whole blocks."""
    maxima = _slice_maxima(values, first, np.where(stop - first < 2 * _WIDE, stop, first + 1))
    wide = np.flatnonzero(stop - first >= 2 * _WIDE)
    if len(wide):
        blocks = np.maximum.reduceat(values, np.arange(0, len(values), _WIDE))
        first_block, stop_block = -(-first[wide] // _WIDE), stop[wide] // _WIDE
        before = _slice_maxima(values, first[wide], first_block * _WIDE + 1)
        after = _slice_maxima(values, stop_block * _WIDE - 1, stop[wide])
        between = _slice_maxima(blocks, first_block, stop_block)
        maxima[wide] = np.maximum(np.maximum(before, after), between)
    return maxima


def _slice_maxima(values: Int64s, first: Int64s, stop: Int64s) -> Int64s:
    if not len(first):
        return np.zeros(0, np.int64)
    # The last slice may stop after the last value, but reduceat allows no such index.
    maxima: Int64s = np.maximum.reduceat(np.append(values, 0), np.stack([first, stop], axis=1).reshape(-1))[::2]
    return maxima


def _first_beyond(end: Int64s, rows: Int64s) -> Int64s:
    """For each of ``rows``, the first later row with a later end, which must exist."""
    padded = np.full(-(-len(end) // _BLOCK) * _BLOCK, np.iinfo(np.int64).min)
    padded[: len(end)] = end
    block_latest = padded.reshape(-1, _BLOCK).max(axis=1)
    result = np.full(len(rows), -1, np.int64)
    for distance in range(1, _NEAR):
        ahead = np.minimum(rows + distance, len(end) - 1)
        np.copyto(result, ahead, where=(result < 0) & (end[ahead] > end[rows]))
    far = np.flatnonzero(result < 0)
    for index, row in zip(far.tolist(), rows[far].tolist(), strict=True):
        limit = end[row]
        block = row // _BLOCK
        after = np.flatnonzero(padded[row + 1 : (block + 1) * _BLOCK] > limit)
        if len(after):
            result[index] = row + 1 + after[0]
            continue
        block += 1 + int(np.argmax(block_latest[block + 1 :] > limit))
        result[index] = block * _BLOCK + int(np.argmax(padded[block * _BLOCK : (block + 1) * _BLOCK] > limit))
    return result
