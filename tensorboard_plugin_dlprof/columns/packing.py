"""Packs columns of integers into few bytes, for tables whose rows would take several times more in SQLite.

A part has up to 65,536 rows: the number of rows in four bytes, then for each column

* one byte: 1 if its numbers are differences from the previous column or, in the first column, from the row number;
* the lowest bytes of all numbers, then the next bytes of all, up to the eighth.

All of it is compressed with zlib. High bytes are mostly equal, and so are columns with a single value or one equal to
the previous column: they take a few bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

PART = 8_192
"""Most rows that are written into one part: enough to make repeated values cheap, but few enough to read a whole part
for a handful of rows."""

_MOST_ROWS = 65_536
_COUNT_BYTES, _NUMBER_BYTES = 4, 8

_COMPRESSION = 1
"""zlib's level. Higher levels save little."""


def pack(columns: Sequence[npt.NDArray[np.integer]]) -> bytes:
    """Pack at least one column; all have the same length, at most 65,536 rows."""
    before = np.arange(len(columns[0]))
    parts = [len(before).to_bytes(_COUNT_BYTES, "little")]
    for column in columns:
        values = column.astype(np.int64)
        differences = values - before
        is_difference = _range(differences) < _range(values)
        written = (differences if is_difference else values).astype("<i8")
        parts += (bytes((is_difference,)), written.view(np.uint8).reshape(-1, _NUMBER_BYTES).T.tobytes())
        before = values
    return zlib.compress(b"".join(parts), _COMPRESSION)


def unpack(data: object, columns: int) -> list[Numbers]:
    """Unpack a part with this number of columns. It need not be trusted.

    Raises:
        ValueError: The data is not a part, or has another number of columns.
    """
    plain = _inflated(data, _COUNT_BYTES + columns * (1 + _NUMBER_BYTES * _MOST_ROWS))
    count = int.from_bytes(plain[:_COUNT_BYTES], "little")
    size = 1 + _NUMBER_BYTES * count
    if len(plain) != _COUNT_BYTES + columns * size:
        raise ValueError("packed columns are cut short, or too long")
    before = np.arange(count)
    result: list[Numbers] = []
    for place in range(_COUNT_BYTES, len(plain), size):
        of_bytes = np.frombuffer(plain, np.uint8, size - 1, place + 1).reshape(_NUMBER_BYTES, count)
        values = np.ascontiguousarray(of_bytes.T).view("<i8").reshape(count).astype(np.int64, copy=False)
        if plain[place]:
            values += before
        result.append(values)
        before = values
    return result


def unpack_from(con: object, data: object, columns: int) -> list[Numbers]:
    """As ``unpack``, of a part that was read from a database. Its connection may limit what all parts together cost.

    Raises:
        ValueError: The data is not a part, or has another number of columns.
        ProfileError: From a connection of ``opening.sqlite_file``: the parts are more than a file of its size holds.
    """
    numbers = unpack(data, columns)
    spend = getattr(con, "spend_packed", None)
    if spend is not None:
        spend(len(numbers[0]), data)
    return numbers


def _range(values: Numbers) -> int:
    return int(values.max()) - int(values.min()) if len(values) else 0


def _inflated(data: object, most_bytes: int) -> bytes:
    """Decompress a part, up to the largest size that it can have, since the data may be hostile."""
    reader = zlib.decompressobj()
    try:
        plain = reader.decompress(data, most_bytes + 1)  # type: ignore[arg-type]
    except (TypeError, zlib.error):
        raise ValueError("no packed columns") from None
    if not reader.eof:
        raise ValueError("packed columns are cut short, or too long")
    return plain
