"""Reads whole columns of our own tables, portion by portion, into as little memory as each column needs.

SQLite concatenates the values of a column to one text, which NumPy parses; that is twice as fast as reading row by row.
Many columns (processes, threads, shapes) keep one value for a long time. SQLite only compares these with their previous
value, and a column with a single value takes no memory.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO, Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import LONG_BYTES, ColumnStore
from tensorboard_plugin_dlprof.events.tables import Int64s

_ROWS = 8192
"""Rows of a portion, whose pages fit into the processor's cache."""

_Values = npt.NDArray[Any]


def _unchanged(values: Int64s) -> _Values:
    return values


class Column(msgspec.Struct, frozen=True):
    """A column to read."""

    name: str
    """Name of the column in the table."""
    dtype: npt.DTypeLike = np.int64
    """Type of the result."""
    convert: Callable[[Int64s], _Values] = _unchanged
    """Applied to the values of each portion, or to its single value."""


def read_columns(
    con: sqlite3.Connection, table: str, columns: Sequence[Column], between: tuple[int, int] | None = None
) -> list[_Values]:
    """Integer columns of one of our tables, ordered by id.

    Args:
        con: to one of our databases.
        table: one that has a primary key ``id``.
        columns: what to read.
        between: first and last id, inclusive; all rows by default.

    Returns:
        One array per column. A column with a single value is a read-only view of that value.

    Raises:
        ValueError: a value is not an integer.
    """
    with warnings.catch_warnings(), ExitStack() as files:
        # NumPy only warns about text that it cannot parse.
        warnings.simplefilter("error", DeprecationWarning)
        first, last = between or _ends(con, table)
        most = last - first + 1
        grown = [_Grown(column.dtype, most, files) for column in columns]
        try:
            for portion in _portions(con, table, columns, first, last) if most else ():
                for column, values, whole in zip(columns, portion, grown, strict=True):
                    is_steady = not values.strides[0]
                    whole.add(column.convert(values[:1] if is_steady else values), len(values))
        except DeprecationWarning:
            raise ValueError("not an integer") from None
        return [column.whole() for column in grown]


def _ends(con: sqlite3.Connection, table: str) -> tuple[int, int]:
    """The first and the last id; 1 and 0 for an empty table."""
    # SQLite looks up min(id) or max(id) alone, but reads the whole table for both in one SELECT.
    ends = f"SELECT coalesce((SELECT min(id) FROM {table}), 1), coalesce((SELECT max(id) FROM {table}), 0)"
    first, last = con.execute(ends).fetchone()
    return first, last


def _portions(
    con: sqlite3.Connection, table: str, columns: Sequence[Column], first: int, end: int
) -> Iterator[list[Int64s]]:
    """The columns of the rows with ids ``first`` to ``end``, by portion. A column of one value has strides of 0."""
    # NOT INDEXED makes SQLite read rows in the order of their ids; a subquery with ORDER BY takes half as long again.
    rows = f"FROM {table} NOT INDEXED WHERE id BETWEEN ? AND ?"
    names = [column.name for column in columns]

    def read(first: int, last: int, wanted: Sequence[int], steady: dict[int, int]) -> tuple[int, dict[int, str | None]]:
        """The number of rows with the steady values, and the concatenated values of the wanted columns in them."""
        texts = ", ".join(["count(*)", *(f"group_concat({names[position]})" for position in wanted)])
        as_before = "".join(f" AND {names[position]} = ?" for position in steady)
        count, *found = con.execute(f"SELECT {texts} {rows}{as_before}", (first, last, *steady.values())).fetchone()
        return count, dict(zip(wanted, found, strict=True))

    steady: dict[int, int] = {}
    while first is not None and first <= end:
        last = min(first + _ROWS - 1, end)
        varying = [position for position in range(len(columns)) if position not in steady]
        count, texts = read(first, last, varying, steady)
        if count <= last - first:
            # A steady column changed, or ids have gaps.
            steady = {}
            count, texts = read(first, last, range(len(columns)), steady)
        numbers = {position: _numbers(text, count) for position, text in texts.items()}
        steady |= {position: int(values[0]) for position, values in numbers.items() if (values == values[0]).all()}
        yield [
            np.broadcast_to(np.int64(steady[position]), count) if position in steady else numbers[position]
            for position in range(len(columns))
        ]
        (first,) = con.execute(f"SELECT min(id) FROM {table} WHERE id > ?", (last,)).fetchone()


def _numbers(text: str | None, count: int) -> Int64s:
    values = np.fromstring(text or "", np.int64, sep=",")
    if len(values) != count:
        # group_concat leaves NULL out.
        raise ValueError("a number is missing")
    return values


class _Grown:
    """A column that grows: a single value while all rows have it, then an array, or a file if the column may be long.

    Args:
        dtype: type of the column.
        most: number of rows that it may have.
        files: owns the temporary file. The caller closes it once the column is complete.
    """

    def __init__(self, dtype: npt.DTypeLike, most: int, files: ExitStack) -> None:
        self._dtype = np.dtype(dtype)
        self._most = most
        self._files = files
        self._rows = 0
        self._value: Any = None
        """The value of all rows so far, until one differs."""
        self._array: _Values | None = None
        self._file: IO[bytes] | None = None

    def add(self, values: _Values, rows: int) -> None:
        """Adds values, of which there are ``rows``, or one value for all of these rows."""
        is_one = len(values) == 1
        if self._array is None and self._file is None:
            if is_one and (not self._rows or values[0] == self._value):
                self._value = values[0]
                self._rows += rows
                return
            self._begin()
        self._put(np.broadcast_to(values, rows) if is_one else values)

    def _begin(self) -> None:
        """Switches to an array or a file, with the single value of the rows so far."""
        before, self._rows = self._rows, 0
        if self._most * self._dtype.itemsize < LONG_BYTES:
            self._array = np.empty(self._most, self._dtype)
        else:
            self._file = self._files.enter_context(ColumnStore().temporary_file())
        for begin in range(0, before, _ROWS):
            self._put(np.broadcast_to(np.asarray(self._value), min(_ROWS, before - begin)))

    def _put(self, values: _Values) -> None:
        if self._array is not None:
            self._array[self._rows : self._rows + len(values)] = values
        elif self._file is not None:
            np.ascontiguousarray(values, self._dtype).tofile(self._file)
        self._rows += len(values)

    def whole(self) -> _Values:
        """The complete column."""
        if self._array is not None:
            return self._array[: self._rows]
        if self._file is not None:
            return np.memmap(self._file, self._dtype, "r+").view(np.ndarray)
        return np.broadcast_to(np.asarray(self._value or 0, self._dtype), self._rows)
