"""Batches of thousands of rows of an export, and what is done to their columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection

ROWS = 4_096
"""Rows of a batch."""

_LATEST_NS = 1 << 62


class Batch(msgspec.Struct, frozen=True):
    """Some rows of a table."""

    columns: dict[str, Int64s]
    texts: list[bytes]
    """The text column as UTF-8, which may be invalid; empty if none was asked for."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Int64s:
        return self.columns[name]

    def only(self, mask: npt.NDArray[np.bool_]) -> Batch:
        """The rows of the mask."""
        if mask.all():
            return self
        return Batch(
            {name: column[mask] for name, column in self.columns.items()}, list(compress(self.texts, mask.tolist()))
        )

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The integers of each row, and its text if one was asked for."""
        columns = [column.tolist() for column in self.columns.values()]
        return zip(*columns, *([self.texts] if self.texts else []), strict=True)


def read_batches(con: UntrustedConnection, numbers: Mapping[str, str], text: str, rows: str) -> Iterator[Batch]:
    """All rows of a table, in the order of their ids. The SQL is never taken from a file.

    Args:
        con: a connection to the file.
        numbers: column -> expression of integers, never NULL.
        text: expression of a text, never NULL; empty for none.
        rows: what follows FROM.

    Raises:
        sqlite3.DataError: one text is longer than the connection allows.
    """
    cursor = con.cursor()
    terms = [*numbers.values(), *([f"CAST({text} AS TEXT)"] if text else [])]
    fetched = _fetched(con, cursor, f"SELECT {', '.join(terms)} FROM {rows}")
    while fetched:
        columns = list(zip(*fetched, strict=True))
        texts = list(columns.pop()) if text else []
        yield Batch({name: np.array(column, np.int64) for name, column in zip(numbers, columns, strict=True)}, texts)
        fetched = _fetched(con, cursor)


def _fetched(con: UntrustedConnection, cursor: sqlite3.Cursor, statement: str = "") -> list[tuple[Any, ...]]:
    """The first rows of a statement, or the next ones, with texts as bytes, which may be invalid UTF-8."""
    decode, con.text_factory = con.text_factory, bytes
    try:
        if statement:
            cursor.execute(statement)
        return cursor.fetchmany(ROWS)
    finally:
        con.text_factory = decode


def possible(start: Int64s, end: Int64s) -> npt.NDArray[np.bool_]:
    """Which events have possible times: the end not before the start, and both within 146 years of zero."""
    return (start > -_LATEST_NS) & (end < _LATEST_NS) & (end >= start)


def narrow(values: Int64s) -> Int32s:
    """The values as 32-bit integers, clipped to their range."""
    info = np.iinfo(np.int32)
    return np.clip(values, info.min, info.max).astype(np.int32)


def mapped(values: npt.NDArray[np.integer], table: Mapping[int, int]) -> Int32s:
    """``table`` applied to each value; every value must be a key."""
    keys, index = numbered(values)
    return np.array([table[key] for key in keys.tolist()], np.int32)[index]
