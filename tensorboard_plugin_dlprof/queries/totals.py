"""Sums of the columns of a table over all rows that pass search and filters."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.table_query import TableQuery

_SUMMED = frozenset(
    {
        *("op_paths", "op_names", "op_types", "ops", "ops_of_group", "ops_of_path", "ops_of_name", "ops_of_type"),
        *("kernels_of_group", "kernels_of_op", "kernel_names_of_iteration", "efficiency", "compare", "compare_types"),
        *("gaps", "gap_groups"),
    }
)
"""Tables whose rows do not contain each other, and are few enough to be summed for each page."""

_ADDITIVE = frozenset(
    {
        *("a_ns", "b_ns", "calls", "change_ns", "duration_ns", "gaps", "total_ns", "window_fraction"),
        *("cpu_overhead_ns", "cpu_time_ns", "eligible_ops", "gain_ns", "gpu_idle_ns", "gpu_time_fraction"),
        *("gpu_time_ns", "kernel_calls", "kernel_ns"),
    }
)
"""Columns whose sum means something."""


def totals(connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest) -> dict[str, float | None]:
    """The sum of each column that can be summed, over the rows that pass; None if all its values are unknown.

    Empty for tables that are not summed.

    Raises:
        BadRequest: as for ``pages.page``.
    """
    if table.name not in _SUMMED:
        return {}
    counted = {"ops"} if table.name in ("op_paths", "op_names", "op_types") else set()
    columns = [column for column in table.columns if column.key in _ADDITIVE | counted]
    if not columns:
        return {}
    query = TableQuery(table, scope, request)
    row = connection.execute(query.sums(columns), query.values).fetchone()
    return {
        column.key: value if value is None else round(value, 9 if column.type == "fraction" else None)
        for column, value in zip(columns, row, strict=True)
    }
