"""Puts columns into tables: the fastest way that the standard sqlite3 module has.

Several rows go into one statement (a third of the time is the call itself), whole-number tables through one
NumPy matrix, everything in chunks so that memory does not grow with the table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.mapped_files import let_go_of_much

Value: TypeAlias = "int | float | str | bytes | None"

ROWS_A_STATEMENT = 32
"""More is no faster. Times the columns it stays below the 999 variables that any SQLite allows."""

_ROWS_A_CHUNK = 4_096

_ROWS_TO_LET_GO = 1 << 19
"""Columns in files take no more memory than for so many rows."""


def insert_integers(
    con: sqlite3.Connection, table: str, columns: Mapping[str, npt.NDArray[np.integer] | int], count: int
) -> None:
    """Add rows of integers. A column that is one number has it in every row.

    What is the same in every row, be it given as one number or not, stands in the statement: most of the time goes
    into handing over values.
    """
    same: dict[str, int] = {}
    varying: dict[str, npt.NDArray[np.integer]] = {}
    for name, column in columns.items():
        if isinstance(column, int):
            same[name] = column
        elif varying and count and (column == column[0]).all():
            same[name] = int(column[0])
        else:
            varying[name] = column
    one, several = (_statement(table, tuple(varying), rows, same) for rows in (1, ROWS_A_STATEMENT))
    for begin in range(0, count, _ROWS_A_CHUNK):
        if begin % _ROWS_TO_LET_GO == 0 and begin:
            let_go_of_much()
        rows = min(_ROWS_A_CHUNK, count - begin)
        chunk = np.empty((rows, len(varying)), np.int64)
        for position, column in enumerate(varying.values()):
            chunk[:, position] = column[begin : begin + rows]
        whole = rows - rows % ROWS_A_STATEMENT
        con.executemany(several, chunk[:whole].reshape(-1, ROWS_A_STATEMENT * len(varying)).tolist())
        con.executemany(one, chunk[whole:].tolist())


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


def _statement(table: str, columns: tuple[str, ...], rows: int, same: Mapping[str, int] = MappingProxyType({})) -> str:
    """``table`` and the names of columns are those of our own schema, never of a file."""
    row = f"({', '.join([*'?' * len(columns), *map(str, same.values())])})"
    return f"INSERT INTO {table} ({', '.join([*columns, *same])}) VALUES {', '.join([row] * rows)}"
