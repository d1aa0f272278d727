"""A page of a table as plain data: rows, columns, how many there are, their sums, and what all have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import MutableMapping
from functools import cache
from typing import TypedDict, cast

from tensorboard_plugin_dlprof.queries.constant import constant_columns
from tensorboard_plugin_dlprof.queries.filters import ColumnType
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey
from tensorboard_plugin_dlprof.queries.totals import totals


class ColumnDescription(TypedDict):
    """A column of a table."""

    key: str
    label: str
    type: ColumnType
    description: str
    sortable: bool
    filterable: bool
    searchable: bool
    hidden: bool
    """Shown when the user asks for it."""
    tier: int
    """0 for what the table is read for; where the page is too narrow for all, a higher one is left out first."""


class TablePage(TypedDict):
    """A page of a table."""

    table: str
    columns: list[ColumnDescription]
    rows: list[Row]
    key: str
    """Key of the column that names a row."""
    offset: int
    total: int
    filtered: int
    sort: str
    totals: dict[str, float | None]
    """Sums of the columns that can be summed, over all rows that pass search and filters."""
    constant: list[str]
    """The columns in which all rows are alike, those too that search and filters leave out."""


def page_of(
    connection: sqlite3.Connection,
    table: Table,
    scope: Scope,
    request: PageRequest,
    counts: MutableMapping[CountKey, int] | None = None,
) -> TablePage:
    """One page with its columns, totals, and the columns in which all rows are alike."""
    answer = page(connection, table, scope, request, counts)
    return {
        "table": table.name,
        "columns": descriptions(table.columns),
        "rows": answer.rows,
        "key": table.key,
        "offset": request.offset,
        "total": answer.total,
        "filtered": answer.filtered,
        "sort": answer.sort,
        "totals": totals(connection, table, scope, request),
        "constant": constant_columns(connection, table, scope, request, answer.rows, answer.total),
    }


@cache
def descriptions(columns: tuple[Column, ...]) -> list[ColumnDescription]:
    """The descriptions of a table's columns."""
    keys = ColumnDescription.__annotations__
    return [cast("ColumnDescription", {key: getattr(column, key) for key in keys}) for column in columns]
