"""Reads thousands of rows at a time into columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection

ROWS = 4_096
"""Rows of a batch."""


class Source(msgspec.Struct, frozen=True):
    """What to read, as SQL that is never taken from a file."""

    table: str
    """Name of the table, quoted."""
    rowid: str
    """A name for the row id that no column has."""
    numbers: Sequence[str]
    """Expressions of integers, never NULL."""
    text: str | None
    """Expression of a text, never NULL; ``None`` if no text is wanted."""
    condition: str
    """Condition on the rows; empty for all rows."""


class Batch(msgspec.Struct, frozen=True):
    """Some rows of a table."""

    rows: int
    integers: list[Int64s]
    """One array per column that was asked for."""
    texts: list[bytes]
    """The text column as UTF-8, which may be invalid; empty if none was requested."""


def batches(con: UntrustedConnection, source: Source) -> Iterator[Batch]:
    """All rows, in the order of their ids.

    Raises:
        sqlite3.DataError: one text is longer than the connection allows.
    """
    text = [] if source.text is None else [f"CAST({source.text} AS TEXT)"]
    where = f"WHERE {source.condition} " if source.condition else ""
    # An index would return the rows that meet the condition in another order.
    statement = (
        f"SELECT {', '.join([*source.numbers, *text]) or 'NULL'} FROM {source.table} NOT INDEXED {where}"
        f"ORDER BY {source.rowid}"
    )
    cursor = con.cursor()
    rows = _fetched(con, cursor, statement)
    while rows:
        *columns, last = zip(*rows, strict=True)
        texts: list[bytes] = list(last) if text else []
        numbers = columns if text or not source.numbers else [*columns, last]
        yield Batch(len(rows), [np.array(column, np.int64) for column in numbers], texts)
        rows = _fetched(con, cursor)


def _fetched(con: UntrustedConnection, cursor: sqlite3.Cursor, statement: str = "") -> list[tuple[Any, ...]]:
    """The first rows of a statement, or the next ones, with texts as bytes, which may be invalid UTF-8."""
    decode, con.text_factory = con.text_factory, bytes
    try:
        if statement:
            cursor.execute(statement)
        return cursor.fetchmany(ROWS)
    finally:
        con.text_factory = decode
