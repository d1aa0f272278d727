"""Rows of a table by their ids, column by column: most of an answer's time goes into what is done for each cell."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tensorboard_plugin_dlprof.queries.cells import Cell, cells
from tensorboard_plugin_dlprof.queries.filters import ColumnType

Row: TypeAlias = dict[str, Cell]

IDS_AT_ONCE = 500
"""SQLite takes 999 variables by our limit."""

_ROWS_AT_ONCE = 50
"""A damaged database may have texts of 64 kB in every cell."""


def read_rows(
    connection: sqlite3.Connection,
    select: str,
    columns: Mapping[str, ColumnType],
    values: Mapping[str, str | int | float],
    ids: Sequence[int],
) -> dict[int, Row]:
    """The rows of those ids that there are.

    Args:
        connection: where they are.
        select: statement that gives the id and the columns, up to the id in its condition.
        columns: key -> type.
        values: what the statement is bound to.
        ids: of the rows.
    """
    found: dict[int, Row] = {}
    types = list(columns.values())
    for start in range(0, len(ids), IDS_AT_ONCE):
        names = {f"id{number}": row_id for number, row_id in enumerate(ids[start : start + IDS_AT_ONCE])}
        cursor = connection.execute(f"{select} IN ({', '.join(':' + name for name in names)})", {**values, **names})
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            row_ids, *of_columns = zip(*rows, strict=True)
            shown = zip(*map(cells, types, of_columns), strict=True)
            found.update(zip(row_ids, (dict(zip(columns, row, strict=True)) for row in shown), strict=True))
    return found
