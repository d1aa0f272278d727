"""Puts columns into tables: the fastest way that the standard sqlite3 module has.

Several rows go into one statement (a third of the time is the call itself), whole-number tables through one
NumPy matrix, everything in chunks so that memory does not grow with the table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Value: TypeAlias = "int | float | str | None"

ROWS_A_STATEMENT = 32
"""More is no faster. Times the columns it stays below the 999 variables that any SQLite allows."""

_ROWS_A_CHUNK = 4_096


def insert_integers(
    con: sqlite3.Connection, table: str, columns: Mapping[str, npt.NDArray[np.integer] | int], count: int
) -> None:
    """Add rows of integers. A column that is one number has it in every row."""
    for begin in range(0, count, _ROWS_A_CHUNK):
        rows = min(_ROWS_A_CHUNK, count - begin)
        chunk = np.empty((rows, len(columns)), np.int64)
        for position, column in enumerate(columns.values()):
            chunk[:, position] = column if isinstance(column, int) else column[begin : begin + rows]
        whole = rows - rows % ROWS_A_STATEMENT
        several = chunk[:whole].reshape(-1, ROWS_A_STATEMENT * len(columns))
        con.executemany(_statement(table, tuple(columns), ROWS_A_STATEMENT), several.tolist())
        con.executemany(_statement(table, tuple(columns), 1), chunk[whole:].tolist())


def insert_rows(con: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Add rows of any values."""
    waiting = iter(rows)
    one, several = _statement(table, tuple(columns), 1), _statement(table, tuple(columns), ROWS_A_STATEMENT)
    while group := list(islice(waiting, ROWS_A_STATEMENT)):
        if len(group) == ROWS_A_STATEMENT:
            con.execute(several, tuple(chain.from_iterable(group)))
        else:
            con.executemany(one, group)


def storable(text: str) -> str:
    """The text as SQLite can store it: sources hold surrogates, which are no UTF-8, and NULs, which end a text."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _statement(table: str, columns: tuple[str, ...], rows: int) -> str:
    """``table`` and ``columns`` are names of our own schema, never of a file."""
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"
