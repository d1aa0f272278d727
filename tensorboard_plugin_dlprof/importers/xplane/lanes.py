"""Finds where many small messages of one kind begin, and decodes varints, many at a time.

A message begins where the one before ends, so a single walk is a loop over all events. Instead, thousands of walks go
in step, each from a place that looks like a begin. Whether it was one shows where the walk before it arrives: stats are
the last fields of an event and look alike, so a walk that began in the wrong place is on the right way after one event.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int64s

Octets = npt.NDArray[np.uint8]
UInt64s = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

_LANE_BYTES = 1024
_SEARCHED_BYTES = 192
_FIRST_FIELD = 1 << 3
"""Tag of the first field of events and of stats: the id of their metadata."""

_7F = np.uint64(0x7F7F7F7F7F7F7F7F)
_80 = np.uint64(0x8080808080808080)
_01 = np.uint64(0x0101010101010101)
_PAIRS = ((0x007F007F007F007F, 1), (0x00003FFF00003FFF, 2), (0x000000000FFFFFFF, 4))
_ONE = np.uint64(1)
BYTE = tuple(np.uint64(8 * each) for each in range(8))
"""Bits to shift by for a number of bytes."""
LOW = np.uint64(255)


def words(data: Octets, at: Int64s) -> UInt64s:
    """The eight bytes at some places, the first one lowest; ``data`` has eight bytes behind the last place."""
    every: npt.NDArray[np.void] = np.ndarray((len(data) - 7,), "V8", data.data, strides=(1,))
    result: UInt64s = every[at].view("<u8").astype(np.uint64, copy=False)
    return result


def short_varints(word: UInt64s) -> tuple[UInt64s, Int64s]:
    """The varint that each word begins with, and its length; 9 if it is longer than a word."""
    ends = ~word & _80
    lowest = ends & (~ends + _ONE)
    below = (lowest << _ONE) - _ONE
    value = word & below & _7F
    for mask, shift in _PAIRS:
        low = np.uint64(mask)
        value = (value & low) | (value >> np.uint64(shift)) & ~low
    length = ((below & _01) * _01 >> BYTE[7]).astype(np.int64)
    length[ends == 0] = 9
    return value, length


def varints(data: Octets, at: Int64s) -> tuple[UInt64s, Int64s]:
    """The varints at some places, and their lengths; above 10 for one that is too long."""
    value, length = short_varints(words(data, at))
    long = np.flatnonzero(length > 8)
    if len(long):
        ninth, tenth = data[at[long] + 8], data[at[long] + 9]
        # The eight bytes before gave 56 bits.
        value[long] |= (ninth & 127).astype(np.uint64) << np.uint64(56)
        more = ninth >= 128
        value[long] |= np.where(more, tenth & 1, 0).astype(np.uint64) << np.uint64(63)
        length[long] = np.where(more, np.where(tenth < 128, 10, 11), 9)
    return value, length


def walk(data: Octets, tag: int, at: int, size: int) -> tuple[Int64s, Int64s, int]:
    """Find messages that follow one another.

    Args:
        data: The bytes, with at least eight behind ``size``.
        tag: Tag of their field, below 128.
        at: Where the first field begins.
        size: Where the data ends.

    Returns:
        Where the messages begin and end, and the place behind the last. Behind that there may be more of them: it is
        where something else comes, or something too unusual to be found this way.
    """
    entries = _entries(data, tag, at, size)
    position, halted = entries.copy(), np.zeros(len(entries), np.bool_)
    rows: list[Int64s] = []
    while True:
        _advance(data, tag, size, entries, position, halted, rows)
        begins = np.array(rows, np.int64).reshape(-1, len(entries))
        # Each lane is entered where the one before arrived. One that was never there did not begin at a message.
        entered = np.append(at, position[:-1])
        wrong = ~(begins == entered).any(axis=0)
        wrong[1:] &= ~halted[:-1]
        if not wrong[1:].any():
            break
        valid = ~wrong | np.append(False, wrong[:-1])
        valid[0] = True
        entries, position, halted = entries[valid], position[valid], halted[valid]
        rows = [row[valid] for row in rows]
    stopped = np.flatnonzero(halted)
    lanes = int(stopped[0]) + 1 if len(stopped) else len(entries)
    end = int(position[lanes - 1])
    begins = begins.T[:lanes]
    starts = begins[begins >= entered[:lanes, np.newaxis]]
    stops = np.append(starts[1:], end)[: len(starts)]
    return starts + 2 + (data[starts + 1] >= 128), stops, end


def _advance(
    data: Octets, tag: int, size: int, entries: Int64s, position: Int64s, halted: Flags, rows: list[Int64s]
) -> None:
    """Walk on in all lanes, each up to where the next one began; every step adds a row of begins, -1 for none."""
    limits = np.append(entries[1:], size)
    alive = np.flatnonzero((position < limits) & ~halted)
    while len(alive):
        here = position[alive]
        behind, good = _behind(data, tag, here, size)
        halted[alive[~good]] = True
        alive, behind = alive[good], behind[good]
        row = np.full(len(entries), -1, np.int64)
        row[alive] = here[good]
        rows.append(row)
        position[alive] = behind
        alive = alive[behind < limits[alive]]


def _entries(data: Octets, tag: int, at: int, size: int) -> Int64s:
    """Places that look like begins of messages, one every kilobyte; the first is ``at``."""
    lanes = (size - at) // _LANE_BYTES
    if lanes < 2:
        return np.array([at], np.int64)
    octets = data[at : at + lanes * _LANE_BYTES].reshape(lanes, _LANE_BYTES)[:, :_SEARCHED_BYTES]
    fits = octets[:, :-3] == tag
    fits &= (octets[:, 2:-1] == _FIRST_FIELD) | (octets[:, 3:] == _FIRST_FIELD)
    place = fits.argmax(axis=1)
    some = fits[np.arange(lanes), place]
    some[0] = False
    places = at + np.flatnonzero(some) * _LANE_BYTES + place[some]
    behind, good = _behind(data, tag, places, size)
    return np.append(at, places[good & (data[np.minimum(behind, size)] == tag)])


def _behind(data: Octets, tag: int, here: Int64s, size: int) -> tuple[Int64s, Flags]:
    """The places behind the messages at some places, and which of them are messages that end in the data."""
    word = words(data, here)
    first, second = word >> BYTE[1] & LOW, word >> BYTE[2] & LOW
    long = first >= 128
    good = word & LOW == tag
    if long.any():
        first = np.where(long, first & np.uint64(127) | second << np.uint64(7), first)
        good &= ~(long & (second >= 128))
        here = here + long
    behind: Int64s = here + 2 + first.astype(np.int64)
    good &= behind <= size
    return behind, good
