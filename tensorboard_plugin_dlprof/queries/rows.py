"""Reads rows of a table by their ids. Cells are converted by column, since most time goes into work per cell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from tensorboard_plugin_dlprof.queries.cells import Cell, cells
from tensorboard_plugin_dlprof.queries.filters import ColumnType

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
        connection: to the database.
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
