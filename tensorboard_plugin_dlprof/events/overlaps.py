"""Ranges of one thread that overlap without nesting, and what to do about them.

A stack cannot produce such ranges, but rounding and clock corrections of a recorder can. The later
start ends the earlier range, for the purpose of nesting only. An exception: a range that reaches
past its parent's end by no more than rounding explains, and lies in it by at least as much, is a
child that rounding made too long, and is cut instead.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int64s

ROUNDING = 2 * 2_000
"""Half-nanoseconds. Older traces hold whole microseconds, rounded for start and duration each."""

_ROUNDS = 8
"""A child cut may in turn cut its own children; real captures need two or three rounds."""

_NEAR = 16
"""The range that crosses another mostly follows soon."""

_BLOCK = 1024


def count_overlaps(start: Int64s, end: Int64s) -> int:
    """The number of ranges that a later one crosses; arguments as for ``repair_overlaps``."""
    return int(np.count_nonzero(_crossed(start, end)))


def repair_overlaps(start: Int64s, end: Int64s) -> Int64s:
    """Ends that nest.

    Args:
        start: Ascending; of equal starts the longer range first.
        end: Not before ``start``.

    Returns:
        Repaired ends, none later than before.
    """
    repaired: Int64s = end.copy()
    for turn in itertools.count():
        crossed = np.flatnonzero(_crossed(start, repaired))
        if not len(crossed):
            return repaired
        crossing = _first_beyond(repaired, crossed)
        past = repaired[crossing] - repaired[crossed]
        inside = repaired[crossed] - start[crossing]
        too_long = (past <= ROUNDING) & (past <= inside) & (turn < _ROUNDS)
        # The longer of two ranges with one start was outside before it was cut itself.
        too_long |= start[crossing] == start[crossed]
        if too_long.any():
            np.minimum.at(repaired, crossing[too_long], repaired[crossed[too_long]])
        else:
            repaired[crossed] = start[crossing]
    raise AssertionError("not reached")


def _crossed(start: Int64s, end: Int64s) -> npt.NDArray[np.bool_]:
    """Whether a later range starts before this one's end and ends after it.

    The maximum of the ends that lie between a range and the first start behind it, found with the
    levels of a sparse table, of which only one is kept at a time.
    """
    count = len(start)
    first = np.arange(1, count + 1)
    width = np.searchsorted(start, end, side="left") - first
    level = np.zeros(count, np.int64)
    np.log2(width, out=(logarithm := np.zeros(count)), where=width > 0)
    level[:] = logarithm
    latest = np.full(count, np.iinfo(np.int64).min)
    maximum = end.copy()
    for step in range(int(level.max(initial=0)) + 1):
        rows = np.flatnonzero((level == step) & (width > 0))
        last = first[rows] + width[rows] - (1 << step)
        latest[rows] = np.maximum(maximum[first[rows]], maximum[last])
        np.maximum(maximum[: -(1 << step)], maximum[1 << step :], out=maximum[: -(1 << step)])
    return latest > end


def _first_beyond(end: Int64s, rows: Int64s) -> Int64s:
    """For each of ``rows`` the first later row with a later end. There is one for each."""
    padded = np.full(-(-len(end) // _BLOCK) * _BLOCK, np.iinfo(np.int64).min)
    padded[: len(end)] = end
    block_latest = padded.reshape(-1, _BLOCK).max(axis=1)
    found = np.full(len(rows), -1, np.int64)
    for distance in range(1, _NEAR):
        ahead = np.minimum(rows + distance, len(end) - 1)
        np.copyto(found, ahead, where=(found < 0) & (end[ahead] > end[rows]))
    far = np.flatnonzero(found < 0)
    for index, row in zip(far.tolist(), rows[far].tolist(), strict=True):
        limit = end[row]
        block = row // _BLOCK
        after = np.flatnonzero(padded[row + 1 : (block + 1) * _BLOCK] > limit)
        if len(after):
            found[index] = row + 1 + after[0]
            continue
        block += 1 + int(np.argmax(block_latest[block + 1 :] > limit))
        found[index] = block * _BLOCK + int(np.argmax(padded[block * _BLOCK : (block + 1) * _BLOCK] > limit))
    return found
