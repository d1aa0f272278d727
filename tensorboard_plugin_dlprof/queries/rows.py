"""Reads rows of a table by their ids, as cells: a foreign database may contain anything in any column.

Cells are converted by column, since most time goes into work per cell.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES, ColumnType
from tensorboard_plugin_dlprof.queries.numbers import number

Cell: TypeAlias = str | int | float | bool | None

_SHOWN_LETTERS = 8_192
_SHOWN_LETTERS_OF_LONG_TEXT = 65_536

_TEXTS: frozenset[type] = frozenset({str, type(None)})
_WHOLE_NUMBERS: frozenset[type] = frozenset({int, type(None)})


def cells(column: ColumnType, values: Sequence[Any]) -> Sequence[Cell]:
    """The values of a column, as SQLite returned them, in a form that JSON can represent."""
    types = set(map(type, values))
    # Most columns contain what they should, and checking each value would take longer than reading it.
    if column in TEXT_TYPES:
        letters = _SHOWN_LETTERS_OF_LONG_TEXT if column == "long_text" else _SHOWN_LETTERS
        if types <= _TEXTS and max(map(len, filter(None, values)), default=0) <= letters:
            return values
        return [_text(value, letters) for value in values]
    if column in _NUMBERS:
        return values if types <= _WHOLE_NUMBERS else [number(value) for value in values]
    shown = _OTHERS[column]
    return [shown(value) for value in values]


def _text(value: object, letters: int) -> Cell:
    if value is None or isinstance(value, bytes):
        return None
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= letters else text[:letters] + "…"


def _boolean(value: object) -> Cell:
    known = number(value)
    return None if known is None else bool(known)


def _fraction(value: object) -> Cell:
    known = number(value)
    return None if known is None else float(known)


_NUMBERS: frozenset[ColumnType] = frozenset({"integer", "number", "duration_ns", "bytes"})

_OTHERS: Mapping[ColumnType, Callable[[object], Cell]] = {"boolean": _boolean, "fraction": _fraction}


Row: TypeAlias = dict[str, Cell]

IDS_AT_ONCE = 500
"""Ids in one statement; our limit for SQLite is 999 parameters."""

_ROWS_AT_ONCE = 50
"""Rows fetched at once. Few, because a damaged database may have texts of 64 kB in every cell."""


def read_rows(
    connection: sqlite3.Connection,
    select: str,
    columns: Mapping[str, ColumnType],
    values: Mapping[str, str | int | float],
    ids: Sequence[int],
) -> dict[int, Row]:
    """The rows with these ids, by id; missing rows are left out.

    Args:
        select: SELECT of the id and the columns, which ends with the id expression of its condition.
        columns: key -> type, in the order of ``select``.
        values: parameters of the statement.
        ids: ids of the rows.
    """
    result: dict[int, Row] = {}
    for start in range(0, len(ids), IDS_AT_ONCE):
        names = {f"id{number}": row_id for number, row_id in enumerate(ids[start : start + IDS_AT_ONCE])}
        cursor = connection.execute(f"{select} IN ({', '.join(':' + name for name in names)})", {**values, **names})
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            row_ids, *of_columns = zip(*rows, strict=True)
            result.update(zip(row_ids, _shown(of_columns, columns), strict=True))
    return result


def shown_rows(cursor: sqlite3.Cursor, columns: Mapping[str, ColumnType]) -> Iterator[Row]:
    """The rows of a query for the columns, key -> type, in this order."""
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        yield from _shown(list(zip(*rows, strict=True)), columns)


def _shown(values: Sequence[Sequence[object]], columns: Mapping[str, ColumnType]) -> Iterator[Row]:
    """Rows of cells, from the values by column."""
    shown = zip(*map(cells, columns.values(), values), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in shown)


T = TypeVar("T")


class RowsById(Generic[T]):
    """What is known of the rows of some tables.

    Args:
        sql: By the name of a table, a SELECT of an id and of values, which ends with ``IN ({})`` for the ids.
        made: What is made of the values of a row.
        unknown: What stands for a row that there is not.
    """

    def __init__(
        self, con: sqlite3.Connection, sql: Mapping[str, str], made: Callable[[list[Any]], T], unknown: T
    ) -> None:
        self._con, self._sql, self._made, self._unknown = con, sql, made, unknown
        self._known: dict[tuple[str, int], T] = {}

    def of(self, keys: Sequence[tuple[str, int]]) -> list[T]:
        """What is known of each of some rows, by table and id."""
        wanted = sorted({key for key in keys if key not in self._known})
        for table in dict.fromkeys(table for table, _ in wanted):
            numbers = [number for of_table, number in wanted if of_table == table]
            for begin in range(0, len(numbers), IDS_AT_ONCE):
                some = numbers[begin : begin + IDS_AT_ONCE]
                self._known |= {(table, number): self._unknown for number in some}
                for row_id, *values in self._con.execute(self._sql[table].format(",".join("?" * len(some))), some):
                    self._known[table, row_id] = self._made(values)
        return [self._known[key] for key in keys]
