"""Inserts columns and rows into tables.

Each statement inserts several rows, since the calls take most of the time. Everything is inserted in chunks, so that
memory does not grow with the table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.opening.allowance import spend_rows

Value: TypeAlias = "int | float | str | bytes | None"

ROWS_A_STATEMENT = 32
"""Times the number of columns, it stays below the 999 variables that every SQLite allows."""

_FEW_ROWS = 256
"""Fewer are inserted one by one, for which SQLite need not prepare a long statement."""

_ROWS_A_CHUNK = 4_096

_OBJECTS_A_CHUNK = 512
"""Smaller for rows of any values, because some contain packed columns of thousands of kernels."""

_ROWS_A_RELEASE = 1 << 17
"""After this many rows, the memory of columns that are in files is released."""


Columns: TypeAlias = "Mapping[str, npt.NDArray[np.integer] | int | str]"
"""Integers by column, at least one of them an array; an int, or a word of our own, is the value of every row."""


def insert_integers(con: sqlite3.Connection, table: str, columns: Columns) -> None:
    """Insert rows of integers. A value that all rows share is written into the statement.

    Args:
        table: one of our own names.
        columns: all of the same length.
    """
    count = next(len(column) for column in columns.values() if not isinstance(column, int | str))
    shared: dict[str, str] = {}
    """As SQL."""
    varying: dict[str, npt.NDArray[np.integer]] = {}
    for name, column in columns.items():
        if isinstance(column, int | str):
            shared[name] = str(column) if isinstance(column, int) else f"'{column}'"
        elif varying and count and (column == column[0]).all():
            shared[name] = str(column[0])
        else:
            varying[name] = column
    for begin in range(0, count, _ROWS_A_CHUNK):
        if begin % _ROWS_A_RELEASE == 0 and begin:
            release_pages()
        matrix = np.stack([column[begin : begin + _ROWS_A_CHUNK] for column in varying.values()], axis=1)
        whole = _in_whole_statements(len(matrix))
        batches = matrix[:whole].reshape(-1, ROWS_A_STATEMENT * len(varying)).tolist()
        _insert(con, table, tuple(varying), batches, matrix[whole:].tolist(), tuple(shared.items()))


def insert_rows(con: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Insert rows of any values; ``table`` and ``columns`` are our own names."""
    waiting = iter(rows)
    while chunk := list(islice(waiting, _OBJECTS_A_CHUNK)):
        whole = _in_whole_statements(len(chunk))
        batches = [chunk[begin : begin + ROWS_A_STATEMENT] for begin in range(0, whole, ROWS_A_STATEMENT)]
        values = [tuple(chain.from_iterable(batch)) for batch in batches]
        _insert(con, table, tuple(columns), values, chunk[whole:])


def insert_row(con: sqlite3.Connection, table: str, row: Mapping[str, Value]) -> None:
    """Insert one row, by column."""
    insert_rows(con, table, tuple(row), [tuple(row.values())])


def insert_columns(con: sqlite3.Connection, table: str, columns: Mapping[str, Iterable[Value] | Value]) -> None:
    """Insert rows of any values, by column; a single value is that of every row."""
    single = (int, float, str, bytes, type(None))
    values = [repeat(column) if isinstance(column, single) else column for column in columns.values()]
    insert_rows(con, table, tuple(columns), zip(*values, strict=False))


def _in_whole_statements(rows: int) -> int:
    """How many of the rows are inserted by statements of ``ROWS_A_STATEMENT`` rows; the others go one by one."""
    return rows - rows % ROWS_A_STATEMENT if rows >= _FEW_ROWS else 0


def _insert(
    con: sqlite3.Connection,
    table: str,
    columns: tuple[str, ...],
    batches: Sequence[Sequence[Value]],
    rows: Sequence[Sequence[Value]],
    shared: tuple[tuple[str, str], ...] = (),
) -> None:
    """Insert a chunk of rows.

    Args:
        columns: whose values are given.
        batches: the values of ``ROWS_A_STATEMENT`` rows each.
        rows: the values of the rows behind these.
        shared: further columns, each with the SQL of its value in every row.
    """
    spend_rows(con, ROWS_A_STATEMENT * len(batches) + len(rows))
    if batches:
        con.executemany(_statement(table, columns, shared, ROWS_A_STATEMENT), batches)
    con.executemany(_statement(table, columns, shared, 1), rows)


@lru_cache(maxsize=64)
def _statement(table: str, columns: tuple[str, ...], shared: tuple[tuple[str, str], ...], rows: int) -> str:
    """An INSERT. ``table`` and the names of columns are those of our own schema, never of a file."""
    names = [*columns, *(name for name, _ in shared)]
    row = f"({', '.join([*'?' * len(columns), *(value for _, value in shared)])})"
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"


def storable(text: str) -> str:
    """The text as SQLite can store it: without surrogates, which are not valid UTF-8, and NULs, which end a text."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def positive_or_none(values: npt.NDArray[np.integer]) -> list[int | None]:
    """The values, with None for those below 0, which stand for unknown."""
    return _or_none(values, values >= 0)


def finite_or_none(values: npt.NDArray[np.floating[Any]]) -> list[float | None]:
    """The values, with None for NaN and infinity, which stand for unknown."""
    return _or_none(values, np.isfinite(values))


def _or_none(values: npt.NDArray[Any], is_known: npt.NDArray[np.bool_]) -> list[Any]:
    known = values.astype(object)
    known[~is_known] = None
    return list(known.tolist())
