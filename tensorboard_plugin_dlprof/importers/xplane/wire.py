"""Protocol buffers' wire format: single messages in plain Python, many equal messages column by column in NumPy.

No generated code: a profile may be larger than protobuf's limit of 2 GB, and an object for each event would cost more
than all the rest. Every length is checked against the end of the message around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NoReturn

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.events.tables import Int64s

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types."""

_WINDOW_BYTES = 1 << 18
_CHUNK_BYTES = 4 << 20
_MOST_FIELDS = 4_096
"""Most fields of one event or stat. Real ones have about 20."""
_PADDING = bytes(16)
"""Behind decoded data, so that a varint at its end can be read before it is found to be too long."""

Octets = npt.NDArray[np.uint8]
UInt64s = npt.NDArray[np.uint64]


class Source:
    """Random access to the bytes of a file.

    Args:
        file: The file, open for reading.
        name: For messages.

    Raises:
        BrokenSource: from every method: the file is damaged or cut short.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self.size = file.seek(0, 2)
        self._begin, self._window = 0, b""

    def damaged(self, at: int) -> NoReturn:
        """Refuse the file."""
        raise BrokenSource(f"{self._name} is damaged at byte {at:,}; record or copy the profile again.")

    def data(self, begin: int, end: int) -> bytes:
        """The bytes from ``begin`` up to ``end``."""
        low = begin - self._begin
        if low >= 0 and end - self._begin <= len(self._window):
            return self._window[low : end - self._begin]
        self._file.seek(begin)
        if end - begin >= _WINDOW_BYTES:
            found = self._file.read(end - begin)
        else:
            self._begin, self._window = begin, self._file.read(_WINDOW_BYTES)
            found = self._window[: end - begin]
        if len(found) < end - begin:
            self.damaged(begin + len(found))
        return found

    def fields(self, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """The fields of the message between two offsets: number, wire type, value, offset behind the field.

        The value of ``BYTES`` is their length; they end where the field ends. Fixed values are returned as integers.
        """
        at = begin
        while at < end:
            head = self.data(at, min(at + 30, end))
            tag, used = self._varint(head, 0, at)
            number, wire = tag >> 3, tag & 7
            if wire in (VARINT, BYTES):
                value, used = self._varint(head, used, at)
                stop = at + used + (value if wire == BYTES else 0)
            elif wire in (FIXED64, FIXED32):
                size = 8 if wire == FIXED64 else 4
                value = int.from_bytes(head[used : used + size], "little")
                stop = at + used + size
            else:
                self.damaged(at)
            if stop > end or not number:
                self.damaged(at)
            yield number, wire, value, stop
            at = stop

    def _varint(self, data: bytes, at: int, base: int) -> tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if at >= len(data):
                break
            octet = data[at]
            value |= (octet & 127) << shift
            at += 1
            if octet < 128:
                return value & (1 << 64) - 1, at
        self.damaged(base)

    def messages(self, begin: int, end: int, number: int) -> Iterator[tuple[bytes, Int64s, Int64s, int]]:
        """The messages in field ``number`` (below 16) of the message between two offsets, some megabytes at a time.

        Yields:
            Their data with some bytes behind it, the begin and the end of each message in it, and its offset.
        """
        tag = number << 3 | BYTES
        at, size = begin, _CHUNK_BYTES
        while at < end:
            chunk = self.data(at, min(at + size, end))
            last = at + len(chunk) >= end
            tags, used = self._boundaries(chunk, tag, at, last)
            if not used:  # One field is longer than the chunk.
                if last:
                    self.damaged(at)
                size *= 4
                continue
            if tags[0]:
                padded = chunk + _PADDING
                yield padded, *_payloads(padded, *tags), at
            at, size = at + used, _CHUNK_BYTES

    def _boundaries(self, chunk: bytes, tag: int, base: int, last: bool) -> tuple[tuple[list[int], list[int]], int]:
        """Where the fields with a tag begin and end that lie wholly in a chunk, and how much of it was used.

        An event takes a microsecond in all, so this loop, the only one over events, does as little as possible.
        """
        starts: list[int] = []
        stops: list[int] = []
        add, end = starts.append, stops.append
        at, size = 0, len(chunk)
        safe = size - 3
        while at < size:
            if at < safe and chunk[at] == tag:
                length = chunk[at + 1]
                if length < 128:
                    stop = at + 2 + length
                elif chunk[at + 2] < 128:
                    stop = at + length + (chunk[at + 2] << 7) - 125
                else:
                    length, first = self._varint(chunk, at + 1, base + at)
                    stop = first + length
                if stop > size:
                    break
                add(at)
                end(stop)
            else:
                if not last and at + 20 > size:
                    break
                value, first = self._varint(chunk, at, base + at)
                wire = value & 7
                if wire not in (VARINT, FIXED64, BYTES, FIXED32):
                    self.damaged(base + at)
                length = 8 if wire == FIXED64 else 4
                if wire in (VARINT, BYTES):
                    length, first = self._varint(chunk, first, base + at)
                stop = first + (0 if wire == VARINT else length)
                if stop > size:
                    break
                if value == tag:
                    add(at)
                    end(stop)
            at = stop
        if last and at < size:
            self.damaged(base + at)
        return (starts, stops), at

    def text(self, begin: int, end: int) -> str:
        """The bytes between two offsets as text."""
        return self.data(begin, end).decode("utf-8", "replace")


def _payloads(chunk: bytes, tags: list[int], stops: list[int]) -> tuple[Int64s, Int64s]:
    """Where the messages begin, behind tag and length, and where they end."""
    data = np.frombuffer(chunk, np.uint8)
    start = np.array(tags, np.int64) + 1
    more = np.arange(len(start))
    while len(more):
        more = more[data[start[more]] >= 128]
        start[more] += 1
    return start + 1, np.array(stops, np.int64)


def signed(value: int) -> int:
    """A varint as a signed integer."""
    return value - (1 << 64) if value >> 63 else value


class Columns(msgspec.Struct):
    """The fields of n messages, one row per field; later fields of a message come later."""

    row: Int64s
    """Number of the message."""
    number: Int64s
    value: UInt64s
    """The value; of ``BYTES`` their length."""
    at: Int64s
    """Where the bytes begin; 0 for other wire types."""


def decode(data: Octets, starts: Int64s, stops: Int64s, source: Source, base: int) -> Columns:
    """Decode all fields of n messages at once: the first field of all, then the second of all, and so on.

    Args:
        data: The bytes with at least 16 bytes behind the last message.
        starts: Where each message begins in ``data``.
        stops: Where it ends.
        source: For the message about damage.
        base: Offset of ``data`` in it.
    """
    row = np.flatnonzero(starts < stops)
    at, stop = starts[row], stops[row]
    parts: list[tuple[Int64s, Int64s, UInt64s, Int64s]] = []
    while len(row):
        if len(parts) > _MOST_FIELDS:
            source.damaged(base + int(at[0]))
        tag, behind = _varints(data, at, source, base)
        wire = (tag & np.uint64(7)).astype(np.int8)
        value = np.zeros(len(row), np.uint64)
        begin = np.zeros(len(row), np.int64)
        after = behind.copy()
        for kind in np.unique(wire).tolist():
            some = np.flatnonzero(wire == kind)
            if kind in (VARINT, BYTES):
                value[some], after[some] = _varints(data, behind[some], source, base)
                if kind == BYTES:
                    begin[some] = after[some]
                    room = stop[some] - after[some]
                    if (room < 0).any() or (value[some] > room.astype(np.uint64)).any():
                        source.damaged(base + int(at[some[0]]))
                    after[some] += value[some].astype(np.int64)
            elif kind == FIXED64:
                octets = data[behind[some][:, np.newaxis] + np.arange(8)]
                value[some] = np.ascontiguousarray(octets).view("<u8").reshape(-1)
                after[some] += 8
            elif kind == FIXED32:
                after[some] += 4
            else:
                source.damaged(base + int(at[some[0]]))
        if (after > stop).any():
            source.damaged(base + int(at[after > stop][0]))
        parts.append((row, (tag >> np.uint64(3)).astype(np.int64), value, begin))
        going_on = after < stop
        row, at, stop = row[going_on], after[going_on], stop[going_on]
    if not parts:
        none = np.zeros(0, np.int64)
        return Columns(none, none, none.astype(np.uint64), none)
    return Columns(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _varints(data: Octets, at: Int64s, source: Source, base: int) -> tuple[UInt64s, Int64s]:
    """The varints at some places, and the places behind them."""
    octet = data[at]
    value = (octet & 127).astype(np.uint64)
    behind = at + 1
    more = np.flatnonzero(octet >= 128)
    shift = 7
    while len(more):
        if shift > 63:
            source.damaged(base + int(at[more[0]]))
        octet = data[np.minimum(behind[more], len(data) - 1)]
        value[more] |= (octet & np.uint8(127)).astype(np.uint64) << np.uint64(shift)
        behind[more] += 1
        more = more[octet >= 128]
        shift += 7
    return value, behind
