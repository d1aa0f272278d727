"""Inserts columns and rows into tables, as fast as Python's sqlite3 module allows.

Each statement inserts several rows, since the call itself takes a third of the time; integers go through one NumPy
matrix. Everything is inserted in chunks, so that memory does not grow with the table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from operator import is_
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.allowance import spend_rows
from tensorboard_plugin_dlprof.columns.store import release_pages

Value: TypeAlias = "int | float | str | bytes | None"

ROWS_A_STATEMENT = 32
"""More is no faster. Times the number of columns, it stays below the 999 variables that every SQLite allows."""

_FEW_ROWS = 256
"""Building and preparing a statement of many rows takes as long as inserting this many rows one by one."""

_ROWS_A_CHUNK = 4_096

_OBJECTS_A_CHUNK = 512
"""Smaller for rows of any values, because some contain packed columns of thousands of kernels."""

_BITS = 64
"""Bits of SQLite's integers, one of which is the sign."""

_ROWS_TO_LET_GO = 1 << 19
"""After this many rows, the memory of columns that are in files is released."""


Columns: TypeAlias = "Mapping[str, npt.NDArray[np.integer] | int | str]"
"""Integers by column, at least one of them an array; an int, or a word of our own, is the value of every row."""


def insert_integers(con: sqlite3.Connection, table: str, columns: Columns) -> None:
    """Insert rows of integers.

    Most of the time goes into passing values to SQLite. So a value that all rows share is written into the statement,
    and several columns of small numbers are passed in one value.

    Args:
        con: the database.
        table: one of our own names.
        columns: all of the same length.
    """
    count = next(len(column) for column in columns.values() if not isinstance(column, int | str))
    same: dict[str, str] = {}
    """As SQL."""
    varying: dict[str, npt.NDArray[np.integer]] = {}
    for name, column in columns.items():
        if isinstance(column, int | str):
            same[name] = str(column) if isinstance(column, int) else f"'{column}'"
        elif varying and count and (column == column[0]).all():
            same[name] = str(column[0])
        else:
            varying[name] = column
    bits = {name: _bits(column) for name, column in varying.items()}
    for begin in range(0, count, _ROWS_A_CHUNK):
        if begin % _ROWS_TO_LET_GO == 0 and begin:
            release_pages()
        rows = min(_ROWS_A_CHUNK, count - begin)
        spend_rows(con, rows)
        _insert_chunk(
            con, table, {name: column[begin : begin + rows] for name, column in varying.items()}, bits, same, rows
        )


def _insert_chunk(
    con: sqlite3.Connection,
    table: str,
    columns: Mapping[str, npt.NDArray[np.integer]],
    bits: Mapping[str, int],
    same: Mapping[str, str],
    rows: int,
) -> None:
    """Insert up to ``_ROWS_A_CHUNK`` rows.

    Rows are ordered by op, so many columns are constant or increase by one over thousands of rows. A statement gets one
    value of such a column for all its rows.
    """
    whole = _in_whole_statements(rows)
    if whole:
        steps = {name: _step(column[:whole]) for name, column in columns.items()}
        following = {name: step for name, step in steps.items() if step is not None}
        free = _shared(tuple((name, bits[name]) for name in columns if name not in following))
        values = np.empty((whole // ROWS_A_STATEMENT, len(following) + ROWS_A_STATEMENT * len(free)), np.int64)
        for position, name in enumerate(following):
            values[:, position] = columns[name][:whole:ROWS_A_STATEMENT]
        for position, together in enumerate(free, len(following)):
            values[:, position :: len(free)] = _joined(columns, together, whole).reshape(-1, ROWS_A_STATEMENT)
        statement = _following_statement(table, tuple(following.items()), free, tuple(same.items()))
        con.executemany(statement, values.tolist())
    if whole < rows:
        last = np.stack([column[whole:] for column in columns.values()], axis=1)
        con.executemany(_statement(table, tuple(columns), same), last.tolist())


def _in_whole_statements(rows: int) -> int:
    """How many of the rows are inserted by statements of ``ROWS_A_STATEMENT`` rows; the others go one by one."""
    return rows - rows % ROWS_A_STATEMENT if rows >= _FEW_ROWS else 0


_Together = tuple[tuple[str, int], ...]
"""Columns that share a value, each with the number of its bits, from the highest bits to the lowest."""


def _bits(column: npt.NDArray[np.integer]) -> int:
    """The number of bits that every value of a column fits into."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    return high.bit_length() if low >= 0 else _BITS


@lru_cache(maxsize=64)
def _shared(columns: _Together) -> tuple[_Together, ...]:
    """Distributes columns to shared values: largest first, each into the first value with room for it."""
    shared: list[list[tuple[str, int]]] = []
    for name, bits in sorted(columns, key=lambda column: -column[1]):
        for together in shared:
            if sum(taken for _, taken in together) + bits < _BITS:
                together.append((name, bits))
                break
        else:
            shared.append([(name, bits)])
    return tuple(map(tuple, shared))


def _joined(columns: Mapping[str, npt.NDArray[np.integer]], together: _Together, rows: int) -> npt.NDArray[np.int64]:
    """The shared values: the bits of all columns of ``together``, concatenated."""
    (name, _), *others = together
    values = columns[name][:rows].astype(np.int64)
    for name, bits in others:
        values <<= bits
        values |= columns[name][:rows].astype(np.int64, copy=False)
    return values


def _parts(together: _Together, place: int) -> list[str]:
    """The SQL expressions that extract each column from the shared value of parameter ``place``."""
    parts: list[str] = []
    shift = sum(bits for _, bits in together)
    for number, (_, bits) in enumerate(together):
        shift -= bits
        shifted = f" >> {shift}" if shift else ""
        parts.append(f"?{place}{shifted}" + (f" & {(1 << bits) - 1}" if number else ""))
    return parts


@lru_cache(maxsize=64)
def _following_statement(
    table: str, following: tuple[tuple[str, int], ...], free: tuple[_Together, ...], same: tuple[tuple[str, str], ...]
) -> str:
    """An INSERT of ``ROWS_A_STATEMENT`` rows.

    Its parameters are the values of the ``following`` columns in the first row, from which SQLite computes those of the
    other rows, and then the ``free`` shared values, row by row.
    """
    constant = [value for _, value in same]

    def row(number: int) -> str:
        known = [f"?{place} + {number}" if step else f"?{place}" for place, (_, step) in enumerate(following, 1)]
        first = len(following) + number * len(free) + 1
        own = chain.from_iterable(_parts(together, place) for place, together in enumerate(free, first))
        return f"({', '.join([*known, *own, *constant])})"

    names = [*(name for name, _ in following), *(name for name, _ in chain(*free)), *(name for name, _ in same)]
    rows = ", ".join(map(row, range(ROWS_A_STATEMENT)))
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {rows}"


def _step(column: npt.NDArray[np.integer]) -> int | None:
    """0 for a constant column, 1 for one that increases by one from row to row, None for any other."""
    step = int(column[1]) - int(column[0]) if len(column) > 1 else None
    if step not in (0, 1) or int(column[-1]) - int(column[0]) != step * (len(column) - 1):
        return None
    return step if (column[1:] == column[:-1] + step).all() else None


def insert_rows(con: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Insert rows of any values; ``table`` and ``columns`` are our own names."""
    waiting = iter(rows)
    one = _statement(table, tuple(columns))
    while chunk := list(islice(waiting, _OBJECTS_A_CHUNK)):
        spend_rows(con, len(chunk))
        whole = _in_whole_statements(len(chunk))
        if whole:
            _insert_whole(con, table, tuple(columns), chunk[:whole])
        con.executemany(one, chunk[whole:])


def insert_row(con: sqlite3.Connection, table: str, row: Mapping[str, Value]) -> None:
    """Insert one row, by column."""
    insert_rows(con, table, tuple(row), [tuple(row.values())])


def insert_columns(con: sqlite3.Connection, table: str, columns: Mapping[str, Iterable[Value] | Value]) -> None:
    """Insert rows of any values, by column; a single value is that of every row."""
    single = (int, float, str, bytes, type(None))
    values = [repeat(column) if isinstance(column, single) else column for column in columns.values()]
    insert_rows(con, table, tuple(columns), zip(*values, strict=False))


def _insert_whole(con: sqlite3.Connection, table: str, columns: tuple[str, ...], rows: list[Sequence[Value]]) -> None:
    """Insert rows that fill whole statements. A column that is the same object in all rows is passed once for each
    statement."""
    values = list(zip(*rows, strict=True))
    constant = [name for name, column in zip(columns, values, strict=True) if all(map(is_, column, repeat(column[0])))]
    free = [name for name in columns if name not in constant]
    first = [column[0] for name, column in zip(columns, values, strict=True) if name in constant]
    flat = list(chain.from_iterable(zip(*(values[columns.index(name)] for name in free), strict=True)))
    alone = tuple(((name, _BITS),) for name in free)
    statement = _following_statement(table, tuple((name, 0) for name in constant), alone, ())
    width = ROWS_A_STATEMENT * len(free)
    con.executemany(
        statement, ([*first, *flat[row * width : (row + 1) * width]] for row in range(len(rows) // ROWS_A_STATEMENT))
    )


def storable(text: str) -> str:
    """The text as SQLite can store it: without surrogates, which are not valid UTF-8, and NULs, which end a text."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _statement(table: str, columns: tuple[str, ...], same: Mapping[str, str] = MappingProxyType({})) -> str:
    """An INSERT of one row. ``table`` and the names of columns are those of our own schema, never of a file."""
    row = f"({', '.join([*'?' * len(columns), *same.values()])})"
    return f"INSERT INTO {table} ({', '.join([*columns, *same])}) VALUES {row}"
