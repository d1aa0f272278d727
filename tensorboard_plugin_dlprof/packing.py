"""Columns of whole numbers in as few bytes as they need, for tables of which a row of SQLite takes several times more.

A part holds up to 65,536 rows: their number in four bytes, then column by column

* one byte: how many bytes each number takes, 0 to 8, and 128 more where the numbers are differences, from those of
  the column before or, in the first column, from the number of the row;
* one byte: how many bytes the smallest number takes, 0 to 8; then that number, with its sign;
* each number's distance from the smallest. All numbers are written with the least significant byte first.

So a column of one value takes a few bytes, and so does one that is the same as the column before it. All of it is
compressed with zlib at last: what repeats from step to step of a training takes next to nothing then. Where that saves
too little to read it so, it stays as it is, behind a byte of 0.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

PART = 8_192
"""Rows that are written into one part: enough that what is the same in all of them costs nothing, few enough to read
for a handful of them."""

_MANY = 128
"""Rows of one key."""

_MOST_ROWS = 65_536
_DIFFERENCES = 0x80
_NUMBER_BYTES = 8
_SIZES = (1, 2, 4, 8)
"""Of NumPy's numbers."""

_COMPRESSION = 1
"""More takes twice the time for a tenth of the bytes."""

_WORTH_IT = 0.8
_PLAIN = b"\0"
"""No stream of zlib begins so."""


def pack(columns: Sequence[npt.NDArray[np.integer]]) -> bytes:
    """One part of columns of one length, at most 65,536."""
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
    """The columns of a part.

    Raises:
        ValueError: it is none, or not of as many columns.
    """
    return Part(data, columns).rows()


class Part:
    """A part of which some rows are wanted.

    Args:
        data: what ``pack`` gave.
        columns: how many.

    Raises:
        ValueError: it is none, or not of as many columns.
    """

    def __init__(self, data: object, columns: int) -> None:
        plain = _inflated(data, columns)
        self._data = plain + bytes(_NUMBER_BYTES)
        """With what may be read behind the last number."""
        self._columns: list[tuple[int, int, int]] = []
        """Of each the kind, the smallest number, and where its distances begin."""
        self.count = int.from_bytes(self._data[:4], "little")
        if self.count > _MOST_ROWS:
            raise ValueError("too many rows in packed columns")
        place = 4
        for _ in range(columns):
            kind, lowest_bytes = self._data[place : place + 2] if place + 2 <= len(plain) else (255, 0)
            width, begin = kind & ~_DIFFERENCES, place + 2 + lowest_bytes
            place = begin + self.count * width
            if width > _NUMBER_BYTES or lowest_bytes > _NUMBER_BYTES or place > len(plain):
                raise ValueError("packed columns are cut short")
            lowest = int.from_bytes(self._data[begin - lowest_bytes : begin], "little", signed=True)
            self._columns.append((kind, lowest, begin))

    def column(self, number: int) -> Numbers:
        """All of a column, from 0; the columns before it are read, too."""
        return self._rows(0, self.count, number + 1)[number]

    def rows(self, begin: int = 0, end: int | None = None) -> list[Numbers]:
        """The rows from one to before another, column by column."""
        return self._rows(begin, self.count if end is None else end, len(self._columns))

    def _rows(self, begin: int, end: int, columns: int) -> list[Numbers]:
        before = np.arange(begin, end, dtype=np.int64)
        found: list[Numbers] = []
        for kind, lowest, place in self._columns[:columns]:
            width = kind & ~_DIFFERENCES
            if width:
                values = self._distances(place + begin * width, end - begin, width)
                values += lowest
                if kind & _DIFFERENCES:
                    values += before
            elif kind & _DIFFERENCES:
                values = before + lowest
            else:
                values = _all_the_same(lowest, end - begin)
            found.append(values)
            before = values
        return found

    def _distances(self, place: int, count: int, width: int) -> Numbers:
        """Numbers of so many bytes each."""
        # Numbers of three bytes are read as four, of which the last belongs to the next one.
        size = next(size for size in _SIZES if size >= width)
        numbers: npt.NDArray[Any] = np.ndarray((count,), f"<u{size}", self._data, place, (width,))
        values: Numbers = numbers.astype(np.int64)
        if size > width:
            values &= (1 << 8 * width) - 1
        return values


def _all_the_same(number: int, count: int) -> Numbers:
    """As many of one number, in the memory of one."""
    same: Numbers = np.ndarray((count,), np.int64, np.int64(number), 0, (0,))
    return same


def parts_of(keys: npt.NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """Where parts of rows by an ascending key begin and end.

    Keys of few rows share a part, each whole; those of more have parts of their own, where more columns have one value.
    """
    bounds = [*(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)] if len(keys) else []
    begin = end = 0
    for bound in bounds:
        many = bound - end >= _MANY
        if end > begin and (many or bound - begin > PART):
            yield begin, end
            begin = end
        end = bound
        if many:
            yield from ((row, min(row + PART, end)) for row in range(begin, end, PART))
            begin = end
    if end > begin:
        yield begin, end


class _Column(NamedTuple):
    """One way to write a column."""

    head: bytes
    """What stands before the distances."""
    values: Numbers
    lowest: int
    width: int
    """Bytes of each distance."""

    def size(self) -> int:
        """Bytes of all of it."""
        return len(self.head) + len(self.values) * self.width

    def distances(self) -> bytes:
        """The numbers' distances from the smallest."""
        if not self.width:
            return b""
        # Two numbers may lie further apart than a signed number of eight bytes tells.
        distance = self.values.view(np.uint64) - np.uint64(self.lowest % 2**64)
        size = next(size for size in _SIZES if size >= self.width)
        found: bytes = distance.astype(f"<u{size}").view(np.uint8).reshape(-1, size)[:, : self.width].tobytes()
        return found


def _columns(table: Numbers, kind: int) -> Iterator[_Column]:
    """The rows of ``table``."""
    if not table.size:
        yield from (_Column(bytes((kind, 0)), values, 0, 0) for values in table)
        return
    # All at once: most parts have a few hundred rows, for which NumPy's calls take longer than what they do.
    for values, lowest, highest in zip(table, table.min(axis=1).tolist(), table.max(axis=1).tolist(), strict=True):
        width = ((highest - lowest).bit_length() + 7) // 8
        lowest_bytes = 0 if lowest == 0 else (lowest if lowest >= 0 else ~lowest).bit_length() // 8 + 1
        head = bytes((width | kind, lowest_bytes)) + lowest.to_bytes(lowest_bytes, "little", signed=True)
        yield _Column(head, values, lowest, width)


def _inflated(data: object, columns: int) -> bytes:
    """What was compressed, and no more than columns can take, whatever the data would grow to."""
    if not isinstance(data, bytes):
        raise ValueError("no packed columns")
    if data[:1] == _PLAIN:
        return _checked(data[1:])
    most = 4 + columns * (2 + _NUMBER_BYTES + _MOST_ROWS * _NUMBER_BYTES)
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(data, most + 1)
    except zlib.error:
        raise ValueError("no packed columns") from None
    if not reader.eof:
        raise ValueError("packed columns are cut short, or too long")
    return _checked(found)


def _checked(found: bytes) -> bytes:
    if len(found) < 4:
        raise ValueError("packed columns are cut short")
    return found
