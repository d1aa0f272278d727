"""Puts columns into tables: the fastest way that the standard sqlite3 module has.

Several rows go into one statement (a third of the time is the call itself), whole-number tables through one
NumPy matrix, everything in chunks so that memory does not grow with the table.
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

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.mapped_files import let_go_of_much

Value: TypeAlias = "int | float | str | bytes | None"

ROWS_A_STATEMENT = 32
"""More is no faster. Times the columns it stays below the 999 variables that any SQLite allows."""

_FEW_ROWS = 256
"""To make a statement of many rows and to prepare it takes as long as to add so many rows one by one."""

_ROWS_A_CHUNK = 4_096

_OBJECTS_A_CHUNK = 512
"""Rows of any values: some hold packed columns of thousands of kernels."""

_BITS = 64
"""Of a number of SQLite's, one of which is the sign."""

_ROWS_TO_LET_GO = 1 << 19
"""Columns in files take no more memory than for so many rows."""


def insert_integers(
    con: sqlite3.Connection, table: str, columns: Mapping[str, npt.NDArray[np.integer] | int], count: int
) -> None:
    """Add rows of integers. A column that is one number has it in every row.

    What is the same in every row, be it given as one number or not, stands in the statement, and what is small shares
    a value with others: most of the time goes into handing over values.
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
    bits = {name: _bits(column) for name, column in varying.items()}
    for begin in range(0, count, _ROWS_A_CHUNK):
        if begin % _ROWS_TO_LET_GO == 0 and begin:
            let_go_of_much()
        rows = min(_ROWS_A_CHUNK, count - begin)
        _insert_chunk(
            con, table, {name: column[begin : begin + rows] for name, column in varying.items()}, bits, same, rows
        )


def _insert_chunk(
    con: sqlite3.Connection,
    table: str,
    columns: Mapping[str, npt.NDArray[np.integer]],
    bits: Mapping[str, int],
    same: Mapping[str, int],
    rows: int,
) -> None:
    """Rows lie by op, so that many columns have one value in thousands of them, or count: a statement then gets one
    value for all its rows."""
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
    """How many of some rows go into statements of many rows."""
    return rows - rows % ROWS_A_STATEMENT if rows >= _FEW_ROWS else 0


_Together = tuple[tuple[str, int], ...]
"""Columns that share a value, and how many bits of it each takes, from the highest on."""


def _bits(column: npt.NDArray[np.integer]) -> int:
    """In how many bits any value of a column fits."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    return high.bit_length() if low >= 0 else _BITS


@lru_cache(maxsize=64)
def _shared(columns: _Together) -> tuple[_Together, ...]:
    """Which columns share a value: the largest first, each with the first of those that leave it room."""
    shared: list[list[tuple[str, int]]] = []
    for name, bits in sorted(columns, key=lambda column: -column[1]):
        for together in shared:
            if sum(taken for _, taken in together) + bits < _BITS:
                together.append((name, bits))
                break
        else:
            shared.append([(name, bits)])
    return tuple(map(tuple, shared))


def _joined(columns: Mapping[str, npt.NDArray[np.integer]], together: _Together, rows: int) -> Int64s:
    """The values that some columns share."""
    (name, _), *others = together
    values = columns[name][:rows].astype(np.int64)
    for name, bits in others:
        values <<= bits
        values |= columns[name][:rows].astype(np.int64, copy=False)
    return values


def _parts(together: _Together, place: int) -> list[str]:
    """What SQLite is to make of the value at a place: the number of each of the columns that share it."""
    parts: list[str] = []
    shift = sum(bits for _, bits in together)
    for number, (_, bits) in enumerate(together):
        shift -= bits
        shifted = f" >> {shift}" if shift else ""
        parts.append(f"?{place}{shifted}" + (f" & {(1 << bits) - 1}" if number else ""))
    return parts


@lru_cache(maxsize=64)
def _following_statement(
    table: str, following: tuple[tuple[str, int], ...], free: tuple[_Together, ...], same: tuple[tuple[str, int], ...]
) -> str:
    """The values of the first row of columns that follow from it, then those of the other columns row by row: what has
    no number of its own is the value behind the one before it."""
    constant = [str(value) for _, value in same]

    def row(number: int) -> str:
        known = [f"?{place} + {number}" if step else f"?{place}" for place, (_, step) in enumerate(following, 1)]
        first = len(following) + number * len(free) + 1
        own = chain.from_iterable(_parts(together, place) for place, together in enumerate(free, first))
        return f"({', '.join([*known, *own, *constant])})"

    names = [*(name for name, _ in following), *(name for name, _ in chain(*free)), *(name for name, _ in same)]
    rows = ", ".join(map(row, range(ROWS_A_STATEMENT)))
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {rows}"


def _step(column: npt.NDArray[np.integer]) -> int | None:
    """From each value to the next, 0 or 1; nothing where that differs."""
    step = int(column[1]) - int(column[0]) if len(column) > 1 else None
    if step not in (0, 1) or int(column[-1]) - int(column[0]) != step * (len(column) - 1):
        return None
    return step if (column[1:] == column[:-1] + step).all() else None


def insert_rows(con: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Add rows of any values."""
    waiting = iter(rows)
    one = _statement(table, tuple(columns))
    while chunk := list(islice(waiting, _OBJECTS_A_CHUNK)):
        whole = _in_whole_statements(len(chunk))
        if whole:
            _insert_whole(con, table, tuple(columns), chunk[:whole])
        con.executemany(one, chunk[whole:])


def _insert_whole(con: sqlite3.Connection, table: str, columns: tuple[str, ...], rows: list[Sequence[Value]]) -> None:
    """Rows for whole statements. What is one and the same object in all of them is handed over once for each."""
    values = list(zip(*rows, strict=True))
    steady = [name for name, column in zip(columns, values, strict=True) if all(map(is_, column, repeat(column[0])))]
    free = [name for name in columns if name not in steady]
    first = [column[0] for name, column in zip(columns, values, strict=True) if name in steady]
    flat = list(chain.from_iterable(zip(*(values[columns.index(name)] for name in free), strict=True)))
    alone = tuple(((name, _BITS),) for name in free)
    statement = _following_statement(table, tuple((name, 0) for name in steady), alone, ())
    width = ROWS_A_STATEMENT * len(free)
    con.executemany(
        statement, ([*first, *flat[row * width : (row + 1) * width]] for row in range(len(rows) // ROWS_A_STATEMENT))
    )


def storable(text: str) -> str:
    """The text as SQLite can store it: sources hold surrogates, which are no UTF-8, and NULs, which end a text."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _statement(table: str, columns: tuple[str, ...], same: Mapping[str, int] = MappingProxyType({})) -> str:
    """Inserts one row. ``table`` and the names of columns are those of our own schema, never of a file."""
    row = f"({', '.join([*'?' * len(columns), *map(str, same.values())])})"
    return f"INSERT INTO {table} ({', '.join([*columns, *same])}) VALUES {row}"
