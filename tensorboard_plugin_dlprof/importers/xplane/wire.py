"""Protocol buffers' wire format: single messages in plain Python, many equal messages column by column in NumPy.

No generated code: a profile may be larger than protobuf's limit of 2 GB, and an object for each event would cost more
than all the rest. Every length is checked against the end of the message around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, NoReturn

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.importers.xplane.lanes import Octets, UInt64s, varints, walk, words

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types."""

_WINDOW_BYTES = 1 << 18
_CHUNK_BYTES = 2 << 20
_MOST_HEAD_BYTES = 30
"""Longest tag and value of a field, but for the content of ``BYTES``."""
_SHORT_BYTES = 1 << 12
_FEW = 16
"""Fields of a line before its events, and events, that are read one by one."""
_MOST_PACKED_BYTES = 1 << 20
"""Most bytes of integers in one field: operands, members of a group, the schedule of a computation."""
_MOST_FIELDS = 4_096
"""Most fields of one event or stat. Real ones have about 20."""
_PADDING_BYTES = 32


class Source:
    """Random access to the bytes of a file.

    Args:
        file: The file, open for reading.

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

    def cut_short(self) -> NoReturn:
        """Refuse the file because it ends before the end of what it announced."""
        raise BrokenSource(
            f"{self._name} is cut short: it ends at byte {self.size:,}, within a part that goes on; copy the profile "
            "again, or record it again."
        )

    def data(self, begin: int, end: int) -> bytes:
        """The bytes from ``begin`` up to ``end``."""
        low = begin - self._begin
        if low >= 0 and end - self._begin <= len(self._window):
            return self._window[low : end - self._begin]
        self._file.seek(begin)
        if end - begin >= _WINDOW_BYTES:
            data = self._file.read(end - begin)
        else:
            self._begin, self._window = begin, self._file.read(_WINDOW_BYTES)
            data = self._window[: end - begin]
        if len(data) < end - begin:
            self.damaged(begin + len(data))
        return data

    def fields(self, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """The fields of the message between two offsets: number, wire type, value, offset behind the field.

        The value of ``BYTES`` is their length; they end where the field ends. Fixed values are returned as integers.
        """
        at, base, window, safe = begin, 0, b"", -1
        while at < end:
            if not base <= at < safe:
                base, window = self._around(at, min(at + _MOST_HEAD_BYTES, end))
                covered = base + len(window)
                safe = end if covered >= end else covered - _MOST_HEAD_BYTES + 1
            low = at - base
            tag, used = (window[low], low + 1) if window[low] < 128 else self._varint(window, low, at)
            number, wire = tag >> 3, tag & 7
            if wire in (VARINT, BYTES):
                if used < len(window) and window[used] < 128:
                    value, used = window[used], used + 1
                else:
                    value, used = self._varint(window, used, at)
                stop = base + used + (value if wire == BYTES else 0)
            elif wire in (FIXED64, FIXED32):
                size = 8 if wire == FIXED64 else 4
                value = int.from_bytes(window[used : used + size], "little")
                stop = base + used + size
            else:
                self.damaged(at)
            if stop > self.size:
                self.cut_short()
            if stop > end or not number:
                self.damaged(at)
            yield number, wire, value, stop
            at = stop

    def few_fields(self, begin: int, end: int) -> Sequence[tuple[int, int, int, int]]:
        """As ``fields``, for short messages of which there are many."""
        if end - begin > _SHORT_BYTES:
            return list(self.fields(begin, end))
        fields: list[tuple[int, int, int, int]] = []
        data, at, size = self.data(begin, end), 0, end - begin
        while at < size:
            # One byte for the tag and up to three for the value, as nearly always; all else is left to ``fields``.
            tag, value, used = data[at], data[at + 1] if at + 1 < size else 128, 2
            if value >= 128 and at + 2 < size and data[at + 2] < 128:
                value, used = value & 127 | data[at + 2] << 7, 3
            elif value >= 128 and at + 3 < size and data[at + 3] < 128:
                value, used = value & 127 | (data[at + 2] & 127) << 7 | data[at + 3] << 14, 4
            if tag >= 128 or (used == 2 and value >= 128) or tag & 7 not in (VARINT, BYTES) or tag < 8:
                return fields + list(self.fields(begin + at, end))
            at += used + (value if tag & 7 == BYTES else 0)
            if at > size:
                self.damaged(begin + at)
            fields.append((tag >> 3, tag & 7, value, begin + at))
        return fields

    def _around(self, begin: int, end: int) -> tuple[int, bytes]:
        """A window of the file, and its offset, that holds the bytes between two offsets near each other."""
        if begin < self._begin or end > self._begin + len(self._window):
            self._file.seek(begin)
            self._begin, self._window = begin, self._file.read(_WINDOW_BYTES)
            if len(self._window) < end - begin:
                self.damaged(begin + len(self._window))
        return self._begin, self._window

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
            length = min(size, end - at)
            padded = self._padded(at, length)
            last = at + length >= end
            starts, stops, used = self._boundaries(padded, length, tag, at, last)
            if not used:  # One field is longer than the chunk.
                if last:
                    self.damaged(at)
                size *= 4
                continue
            if len(starts):
                yield padded, starts, stops, at
            at, size = at + used, _CHUNK_BYTES

    def behind(self, begin: int, end: int, number: int) -> int:
        """The place behind the messages in field ``number`` (below 16) that follow one another from ``begin``."""
        at = begin
        while at < end:
            length = min(_CHUNK_BYTES, end - at)
            padded = np.frombuffer(self._padded(at, length), np.uint8)
            *_, used = walk(padded, number << 3 | BYTES, 0, length)
            if not used:
                break
            at += used
        return at

    def _padded(self, begin: int, length: int) -> bytes:
        """Some bytes, and others behind them, so that a varint at their end can be read before it is found too long."""
        data = self.data(begin, min(begin + length + _PADDING_BYTES, self.size))
        return data + bytes(max(length + _PADDING_BYTES - len(data), 0))

    def _boundaries(self, chunk: bytes, size: int, tag: int, base: int, last: bool) -> tuple[Int64s, Int64s, int]:
        """Where the messages with a tag begin and end that lie wholly in a chunk, and how much of it was used."""
        head, at = self._one_by_one(chunk, size, tag, 0, base, last, most=_FEW)
        begins = ends = np.zeros(0, np.int64)
        tail: list[tuple[int, int]] = []
        if at < size:
            begins, ends, at = walk(np.frombuffer(chunk, np.uint8), tag, at, size)
            tail, at = self._one_by_one(chunk, size, tag, at, base, last)
        if last and at < size:
            self.damaged(base + at)
        few = [np.array(each, np.int64).reshape(-1, 2) for each in (head, tail)]
        starts = np.concatenate((few[0][:, 0], begins, few[1][:, 0]))
        return starts, np.concatenate((few[0][:, 1], ends, few[1][:, 1])), at

    def _one_by_one(
        self, chunk: bytes, size: int, tag: int, at: int, base: int, last: bool, most: int = 1 << 62
    ) -> tuple[list[tuple[int, int]], int]:
        """Begin and end of the messages with a tag from ``at``, and the place behind the last field."""
        fields: list[tuple[int, int]] = []
        while at < size and len(fields) < most:
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
                fields.append((first, stop))
            at = stop
        return fields, at

    def values(self, begin: int, end: int) -> dict[int, int]:
        """The values of the fields of a message, by number; the last of each."""
        return {number: value for number, _, value, _ in self.fields(begin, end)}

    def integers(self, wire: int, value: int, stop: int) -> list[int]:
        """The values of one field of repeated integers, packed or not: as ``fields`` gave it."""
        if wire == VARINT:
            return [value]
        if wire != BYTES:
            return []
        if value > _MOST_PACKED_BYTES:
            self.damaged(stop - value)
        values, data, at = [], self.data(stop - value, stop), 0
        while at < len(data):
            each, at = self._varint(data, at, stop - value)
            values.append(each)
        return values

    def text(self, begin: int, end: int) -> str:
        """The bytes between two offsets as text."""
        return self.data(begin, end).decode("utf-8", "replace")


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
        data: The bytes with at least 32 bytes behind the last message.
        starts: Where each message begins in ``data``.
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
                value[some] = words(data, behind[some])
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
    value, length = varints(data, at)
    if (length > 10).any():
        source.damaged(base + int(at[length > 10][0]))
    return value, at + length
