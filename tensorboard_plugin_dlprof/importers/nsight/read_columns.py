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


class Batch(msgspec.Struct, frozen=True):
    """Some rows of a table."""

    rows: int
    integers: list[Int64s]
    """One array per column that was asked for."""
    texts: list[bytes]
    """The text column as UTF-8, which may be invalid."""


def batches(con: UntrustedConnection, numbers: Sequence[str], text: str, rows: str) -> Iterator[Batch]:
    """All rows of a table, in the order of their ids. The SQL is never taken from a file.

    Args:
        con: a connection to the file.
        numbers: expressions of integers, never NULL.
        text: expression of a text, never NULL.
        rows: what follows FROM.

    Raises:
        sqlite3.DataError: one text is longer than the connection allows.
    """
    cursor = con.cursor()
    fetched = _fetched(con, cursor, f"SELECT {', '.join([*numbers, f'CAST({text} AS TEXT)'])} FROM {rows}")
    while fetched:
        *columns, texts = zip(*fetched, strict=True)
        yield Batch(len(fetched), [np.array(column, np.int64) for column in columns], list(texts))
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
