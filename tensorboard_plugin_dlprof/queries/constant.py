"""Columns of a table with one value in all its rows, which a page says once instead of in every row."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.table_query import TableQuery

_MOST_ROWS = 5_000
"""Tables with more rows are not read as a whole for each page, which may take 10 ms (benchmarks/serving.py)."""


def constant_columns(
    connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest, rows: Sequence[Row], total: int
) -> list[str]:
    """The keys of the columns with the same value, or none, in each of ``total`` rows, of which a page shows ``rows``.

    Search and filters do not matter, so that columns stay where they are while somebody types. Empty for tables of one
    row, and of very many.
    """
    if not rows or not 1 < total <= _MOST_ROWS:
        return []
    first = rows[0]
    alike = [column for column in table.columns if all(row[column.key] == first[column.key] for row in rows)]
    if len(rows) == total:
        return [column.key for column in alike]
    if table.filler is not None:
        return []  # SQL knows too little of its cells
    values = TableQuery(table, scope, request).scope_values
    result = []
    for column in alike:
        distinct = f"SELECT DISTINCT ({column.sql}) FROM {table.source([column.sql])} WHERE {table.where} LIMIT 2"
        if len(connection.execute(distinct, values).fetchall()) == 1:
            result.append(column.key)
    return result
