"""Packs columns of integers into few bytes, for tables whose rows would take several times more in SQLite.

A part has up to 65,536 rows: the number of rows in four bytes, then for each column

* one byte: the width of each number in bytes, 0 to 8, plus 128 if the numbers are differences from the previous column
  or, in the first column, from the row number;
* one byte: the width of the smallest number, 0 to 8; then that number, signed;
* the distance of each number from the smallest, unsigned. All numbers are little-endian.

So a column with a single value, or one equal to the previous column, takes a few bytes. Finally, the whole part is
compressed with zlib, which makes patterns that repeat in every training step almost free. If that saves too little to
be worth decompressing, the part is stored uncompressed after a zero byte.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

PART = 8_192
"""Most rows that are written into one part: enough to make repeated values cheap, but few enough to read a whole part
for a handful of rows."""

_MOST_ROWS = 65_536
_DIFFERENCES = 0x80
_NUMBER_BYTES = 8
_SIZES = (1, 2, 4, 8)
"""Widths of NumPy's integers in bytes."""

_COMPRESSION = 1
"""zlib's level. Higher levels save little."""

_WORTH_IT = 0.8
"""A part is stored compressed if it then takes less than this fraction of its bytes."""

_PLAIN = b"\0"
"""First byte of uncompressed parts. No zlib stream begins with it."""


def pack(columns: Sequence[npt.NDArray[np.integer]]) -> bytes:
    """Pack at least one column; all have the same length, at most 65,536 rows."""
    count = len(columns[0])
    values = np.empty((1 + len(columns), count), np.int64)
    values[0] = np.arange(count)
    for row, column in enumerate(columns, 1):
        values[row] = column
    plain, differences = values[1:], np.diff(values, axis=0)
    texts = [count.to_bytes(4, "little")]
    for ways in zip(_columns(plain, 0), _columns(differences, _DIFFERENCES), strict=True):
        shortest = min(ways, key=_Column.size)
        texts += (shortest.head, shortest.distances())
    whole = b"".join(texts)
    small = zlib.compress(whole, _COMPRESSION)
    return small if len(small) < _WORTH_IT * len(whole) else _PLAIN + whole


def unpack(data: object, columns: int) -> list[Numbers]:
    """Unpack a part with this number of columns. It need not be trusted.

    Raises:
        ValueError: The data is not a part, or has fewer columns.
    """
    plain = _inflated(data, columns)
    padded = plain + bytes(_NUMBER_BYTES)  # because narrow numbers are read as wider ones, beyond the last number
    count = int.from_bytes(plain[:4], "little")
    if count > _MOST_ROWS:
        raise ValueError("too many rows in packed columns")
    place = 4
    before = np.arange(count, dtype=np.int64)
    columns_read: list[Numbers] = []
    for _ in range(columns):
        kind, lowest_bytes = padded[place : place + 2] if place + 2 <= len(plain) else (255, 0)
        width, begin = kind & ~_DIFFERENCES, place + 2 + lowest_bytes
        place = begin + count * width
        if width > _NUMBER_BYTES or lowest_bytes > _NUMBER_BYTES or place > len(plain):
            raise ValueError("packed columns are cut short")
        lowest = int.from_bytes(padded[begin - lowest_bytes : begin], "little", signed=True)
        if width:
            values = _distances(padded, begin, count, width)
            values += lowest
            if kind & _DIFFERENCES:
                values += before
        elif kind & _DIFFERENCES:
            values = before + lowest
        else:
            values = _all_the_same(lowest, count)
        columns_read.append(values)
        before = values
    return columns_read


def unpack_from(con: object, data: object, columns: int) -> list[Numbers]:
    """As ``unpack``, of a part that was read from a database. Its connection may limit what all parts together cost.

    Raises:
        ValueError: The data is not a part, or has fewer columns.
        ProfileError: From a connection of ``opening.sqlite_file``: the parts are more than a file of its size holds.
    """
    numbers = unpack(data, columns)
    spend = getattr(con, "spend_packed", None)
    if spend is not None:
        spend(len(numbers[0]), data)
    return numbers


def _distances(data: bytes, place: int, count: int, width: int) -> Numbers:
    """``count`` numbers of ``width`` bytes each, from offset ``place``."""
    # Numbers of three bytes are read as four bytes with a stride of three; the last byte is masked.
    size = next(size for size in _SIZES if size >= width)
    numbers: npt.NDArray[Any] = np.ndarray((count,), f"<u{size}", data, place, (width,))
    values: Numbers = numbers.astype(np.int64)
    if size > width:
        values &= (1 << 8 * width) - 1
    return values


def _all_the_same(number: int, count: int) -> Numbers:
    """A read-only column that repeats one number without taking memory for each row."""
    same: Numbers = np.ndarray((count,), np.int64, np.int64(number), 0, (0,))
    return same


class _Column(NamedTuple):
    """One way to encode a column: as plain numbers or as differences."""

    head: bytes
    """The bytes before the distances."""
    values: Numbers
    lowest: int
    width: int
    """Bytes of each distance."""

    def size(self) -> int:
        """Size of the encoded column in bytes."""
        return len(self.head) + len(self.values) * self.width

    def distances(self) -> bytes:
        """The encoded distances from the smallest number."""
        if not self.width:
            return b""
        # The distance of two numbers may exceed the range of signed 64-bit integers.
        distance = self.values.view(np.uint64) - np.uint64(self.lowest % 2**64)
        size = next(size for size in _SIZES if size >= self.width)
        packed: bytes = distance.astype(f"<u{size}").view(np.uint8).reshape(-1, size)[:, : self.width].tobytes()
        return packed


def _columns(table: Numbers, kind: int) -> Iterator[_Column]:
    """One encoding of each column, which is a row of ``table``; ``kind`` is 0 or ``_DIFFERENCES``."""
    if not table.size:
        yield from (_Column(bytes((kind, 0)), values, 0, 0) for values in table)
        return
    # One call for all columns: most parts have a few hundred rows, so the overhead of calling NumPy dominates.
    for values, lowest, highest in zip(table, table.min(axis=1).tolist(), table.max(axis=1).tolist(), strict=True):
        width = ((highest - lowest).bit_length() + 7) // 8
        lowest_bytes = 0 if lowest == 0 else (lowest if lowest >= 0 else ~lowest).bit_length() // 8 + 1
        head = bytes((width | kind, lowest_bytes)) + lowest.to_bytes(lowest_bytes, "little", signed=True)
        yield _Column(head, values, lowest, width)


def _inflated(data: object, columns: int) -> bytes:
    """Decompress a part, limited to the largest size that it can have, since the data may be hostile."""
    if not isinstance(data, bytes):
        raise ValueError("no packed columns")
    if data[:1] == _PLAIN:
        return _checked(data[1:])
    most = 4 + columns * (2 + _NUMBER_BYTES + _MOST_ROWS * _NUMBER_BYTES)
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(data, most + 1)
    except zlib.error:
        raise ValueError("no packed columns") from None
    if not reader.eof:
        raise ValueError("packed columns are cut short, or too long")
    return _checked(raw)


def _checked(raw: bytes) -> bytes:
    if len(raw) < 4:
        raise ValueError("packed columns are cut short")
    return raw
