"""A page of a table as plain data: rows, columns, how many there are, their sums, and what all have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import MutableMapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TypedDict, cast

from tensorboard_plugin_dlprof.queries import crossing
from tensorboard_plugin_dlprof.queries.filters import ColumnType
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.per_iteration import mean
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import FILLED, Column, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey, TableQuery

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
    alike = [column for column in alike if column.sql != FILLED]  # SQL knows nothing of its cells
    if not alike:
        return []
    # In one statement: one for each column would read the joins as often, which a file of others has few of allowed.
    tests = ", ".join(
        f"count({sql}) IN (0, count(*)) AND min({sql}) IS max({sql})" for sql in (f"({c.sql})" for c in alike)
    )
    found = f"SELECT {tests} FROM {table.source([column.sql for column in alike])} WHERE {table.where}"
    row = connection.execute(found, TableQuery(table, scope, request).scope_values).fetchone()
    return [column.key for column, is_constant in zip(alike, row, strict=True) if is_constant]


_MAY_REPEAT = MappingProxyType({"calls": "ops"})
"""Columns that may say the same as another one in every row: where ops are called once."""


def repeated_columns(
    connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest, rows: Sequence[Row], total: int
) -> dict[str, str]:
    """The keys of the columns that say the same as another one in each of ``total`` rows, and of that one.

    Search and filters do not matter, as for ``constant_columns``.
    """
    if not rows or not 1 < total <= _MOST_ROWS:
        return {}
    columns = {column.key: column for column in table.columns}
    pairs = {key: of for key, of in _MAY_REPEAT.items() if key in columns and of in columns}
    alike = {key: of for key, of in pairs.items() if all(row[key] == row[of] for row in rows)}
    if len(rows) == total:
        return alike
    query = TableQuery(table, scope, request)

    def differ(key: str, of: str) -> bool:
        used = [columns[key].sql, columns[of].sql]
        values = [f"({sql}) / {query.divisors.get(name, 1)}.0" for name, sql in zip((key, of), used, strict=True)]
        other = f"SELECT 1 FROM {table.source(used)} WHERE ({table.where}) AND {' IS NOT '.join(values)} LIMIT 1"
        return connection.execute(other, query.scope_values).fetchone() is not None

    return {key: of for key, of in alike.items() if not differ(key, of)}


_SUMMED = frozenset(
    {
        *("op_paths", "op_names", "op_types", "ops", "ops_of_group", "ops_of_path", "ops_of_name", "ops_of_type"),
        *("ops_of_kernel", *crossing.TABLES),
        *("kernels_of_op", "kernels_of_group", "kernels_of_path", "kernels_of_name", "kernels_of_type"),
        *("efficiency", "compare", "compare_types", "compare_groups", "compare_of_group", "compare_new"),
        *("gaps", "gap_groups", "memory_block_groups"),
    }
)
"""Tables whose rows do not contain each other, and are few enough to be summed for each page."""

_ADDITIVE = frozenset(
    {
        *("a_ns", "a_ops", "b_ns", "b_ops", "of_change_fraction"),
        *("calls", "change_ns", "duration_ns", "total_ns"),
        *("cpu_overhead_ns", "cpu_time_ns", "eligible_ops", "gain_ns", "gpu_idle_ns", "gpu_time_fraction"),
        *("gpu_time_ns", "in_kernel_ns", "kernel_calls", "kernel_ns", "kernel_time_ns", "kernels", "unrated_time_ns"),
        *("at_peak", "at_peak_bytes", "blocks", "held_fraction", "stay", "total_bytes"),
    }
)
"""Columns whose sum means something: a gap with two causes is in two groups, a share of a window is of one GPU."""


def totals(connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest) -> dict[str, float | None]:
    """The sum of each column that can be summed, over the rows that pass; None if all its values are unknown.

    Empty for tables that are not summed.

    Raises:
        BadRequest: as for ``pages.page``.
    """
    if table.name not in _SUMMED:
        return {}
    counted = {"ops"} if table.name in ("op_paths", "op_names", "op_types", "op_paths_of_iteration") else set()
    columns = [column for column in table.columns if column.key in _ADDITIVE | counted]
    if not columns:
        return {}
    query = TableQuery(table, scope, request)
    row = connection.execute(query.sums(columns), query.values).fetchone()
    return {
        column.key: value
        if value is None
        else round(value, 9)
        if column.type == "fraction"
        else mean(round(value), query.divisors.get(column.key, 1), whole=column.type == "duration_ns")
        for column, value in zip(columns, row, strict=True)
    }


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
    repeated: dict[str, str]
    """The columns that say the same as another one in all these rows, by its key."""
    note: str
    """What the rows do not tell by themselves, in a sentence; empty if nothing."""


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
        "repeated": repeated_columns(connection, table, scope, request, answer.rows, answer.total),
        "note": crossing.crossing(connection, table.name, scope, request),
    }


@cache
def descriptions(columns: tuple[Column, ...]) -> list[ColumnDescription]:
    """The descriptions of a table's columns."""
    keys = ColumnDescription.__annotations__
    return [cast("ColumnDescription", {key: getattr(column, key) for key in keys}) for column in columns]
