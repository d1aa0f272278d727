"""Ranges of one thread that overlap without nesting, and what to do about them.

A stack cannot produce such ranges, but rounding and clock corrections of a recorder can. The later
start ends the earlier range, for the purpose of nesting only. An exception: a range that reaches
past its parent's end by no more than rounding explains, and lies in it by at least as much, is a
child that rounding made too long, and is cut instead. So is a call whose return was not seen, a
built-in function that raised above all: the recorder lets it last to the end of the recording.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.distinct import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s

Flags = npt.NDArray[np.bool_]

ROUNDING = 2 * 2_000
"""Half-nanoseconds. Older traces hold whole microseconds, rounded for start and duration each."""

_ROUNDS = 8
"""A child cut may in turn cut its own children; real captures need two or three rounds."""

_NEAR = 16
"""The range that crosses another mostly follows soon."""

_BLOCK = 1024

_WIDE = 64
"""Maxima of so many neighbours are kept."""


def count_overlaps(start: Int64s, end: Int64s) -> int:
    """The number of ranges that a later one crosses; arguments as for ``repair_overlaps``."""
    return len(_crossed(start, end, np.arange(len(start))))


def repair_overlaps(start: Int64s, end: Int64s, endless: Flags) -> Int64s:
    """Ends that nest.

    Args:
        start: Ascending; of equal starts the longer range first.
        end: Not before ``start``.
        endless: Ranges whose end was not recorded: they end with what is around them.

    Returns:
        Repaired ends, none later than before.
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
        # The longer of two ranges with one start was outside before it was cut itself.
        too_long |= start[crossing] == start[crossed]
        if too_long.any():
            np.minimum.at(repaired, crossing[too_long], repaired[crossed[too_long]])
        else:
            repaired[crossed] = start[crossing]
        # An earlier end can only make its own range a crossed one.
        suspects = distinct_values(np.append(crossed, crossing))
    raise AssertionError("not reached")


def _crossed(start: Int64s, end: Int64s, suspects: Int64s) -> Int64s:
    """The suspects for which a later range starts before their end and ends after it."""
    stop = np.searchsorted(start, end[suspects], side="left")
    holds_starts = stop > suspects + 1
    rows, stop = suspects[holds_starts], stop[holds_starts]
    return rows[_maximum_between(end, rows + 1, stop) > end[rows]]


def _maximum_between(values: Int64s, first: Int64s, stop: Int64s) -> Int64s:
    """The maximum of ``values[first:stop]`` for many slices, none empty. Wide ones use the maxima of whole blocks."""
    maxima = _slice_maxima(values, first, np.where(stop - first < 2 * _WIDE, stop, first + 1))
    wide = np.flatnonzero(stop - first >= 2 * _WIDE)
    if len(wide):
        blocks = np.maximum.reduceat(values, np.arange(0, len(values), _WIDE))
        first_block, stop_block = -(-first[wide] // _WIDE), stop[wide] // _WIDE
        before = _slice_maxima(values, first[wide], first_block * _WIDE + 1)
        behind = _slice_maxima(values, stop_block * _WIDE - 1, stop[wide])
        between = _slice_maxima(blocks, first_block, stop_block)
        maxima[wide] = np.maximum(np.maximum(before, behind), between)
    return maxima


def _slice_maxima(values: Int64s, first: Int64s, stop: Int64s) -> Int64s:
    if not len(first):
        return np.zeros(0, np.int64)
    # The last slice may stop behind the last value, where reduceat takes no index.
    maxima: Int64s = np.maximum.reduceat(np.append(values, 0), np.stack([first, stop], axis=1).reshape(-1))[::2]
    return maxima


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
