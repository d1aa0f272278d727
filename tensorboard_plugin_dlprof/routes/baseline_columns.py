"""Columns of a baseline beside those of a profile's own tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.groups import pattern_of
from tensorboard_plugin_dlprof.comparing.page import RowSide
from tensorboard_plugin_dlprof.comparing.tables import modules, times_of_ops, types
from tensorboard_plugin_dlprof.queries.launch_sizes import launch_sizes
from tensorboard_plugin_dlprof.queries.page_answer import TablePage, descriptions
from tensorboard_plugin_dlprof.queries.page_request import PageRequest, Per
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.table import Column
from tensorboard_plugin_dlprof.queries.table_query import TableQuery
from tensorboard_plugin_dlprof.queries.tables import table_of

_MOST_ROWS = 5_000
"""Tables with more rows are not read as a whole for each page."""

_Known = Mapping[object, tuple[int | None, int | None]]
"""By the key of a row: times of A and B; None where they cannot be told apart from those of other rows."""


def _columns(measure: str, of_rows: str = "", *, label: str = "", has_own: bool = False) -> tuple[Column, ...]:
    """Those of a table; ``label`` stands before A and B; ``has_own``: a column of its own shows the time of this
    profile, be it with copies."""
    described = (
        ("a_ns", f"{label}A", f"{measure} of the baseline{of_rows}."),
        ("b_ns", f"{label}B", f"{measure} of this profile{of_rows}."),
        ("change_ns", "Change", f"{measure} of B less that of A{of_rows}."),
    )
    return tuple(
        Column(
            key,
            head,
            "duration_ns",
            description,
            sql="",
            sortable=False,
            filterable=False,
            hidden=has_own and key == "b_ns",
        )
        for key, head, description in described
    )


_OF_ITERATIONS = _columns("Duration", has_own=True)
_WITHOUT_COPIES = "without copies, which are a part of the iteration of their own"
# The tables' own GPU time has the copies of ops: the heads say which time this is.
_OF_OPS = _columns("Kernel time", f", by unit of comparison, {_WITHOUT_COPIES}", label="Kernel Time ", has_own=True)
_BESIDE_SUMS = tuple(
    msgspec.structs.replace(column, label=f"{column.label} per Iteration")
    for column in _columns(
        "Kernel time", f" in an iteration, on average, {_WITHOUT_COPIES}", label="Kernel Time ", has_own=True
    )
)


def _columns_of_ops(per_iteration: bool, per: Per) -> tuple[Column, ...]:
    """Those of a comparison by iteration or not, beside times of one kind."""
    return _BESIDE_SUMS if per_iteration and per != "iteration" else _OF_OPS


def with_baseline(
    answer: TablePage, asked: PageRequest, comparison: Comparison, connection: sqlite3.Connection
) -> TablePage:
    """A page of a table of ``TABLES`` with the times of the baseline and of this profile, and the change.

    Rows without counterpart have no change; different programs have none at all, and are shown as without baseline.
    """
    if not comparison.is_same_program:
        return answer
    known = TABLES[asked.table](comparison)
    for row in answer["rows"]:
        a_ns, b_ns = known.get(row[answer["key"]], (None, None))
        row.update(a_ns=a_ns, b_ns=b_ns, change_ns=None if a_ns is None or b_ns is None else b_ns - a_ns)
    of_ops = _columns_of_ops(comparison.per == "iteration", asked.per)
    columns = descriptions(_OF_ITERATIONS if asked.table == "iterations" else of_ops)
    own = answer["columns"]
    # Beside the GPU time, behind what tells rows apart, such as their direction.
    shown = {column["key"]: place for place, column in enumerate(own) if not column["hidden"]}
    place = shown.get("gpu_time_ns", 1) if "direction" in shown else 1
    return {
        **answer,
        "columns": [*own[:place], *columns, *own[place:]],
        "constant": [*answer["constant"], *_empty(answer, asked, known, connection)],
    }


def _empty(answer: TablePage, asked: PageRequest, known: _Known, connection: sqlite3.Connection) -> list[str]:
    """The columns that are empty in every row, whatever search and filters leave out, as in ``constant_columns``."""
    if not 1 < answer["total"] <= _MOST_ROWS:
        return []
    every = msgspec.structs.replace(asked, where={}, search="")
    table = table_of(connection, asked.table)
    query = TableQuery(table, find_scope(connection, asked.aggregation, asked.domain), every)
    rows = connection.execute(query.ids(columns=[table.column(answer["key"])]), query.values)
    times = [known.get(key, (None, None)) for (key,) in rows]
    empty = [key for key, side in zip(("a_ns", "b_ns"), zip(*times, strict=True), strict=True) if set(side) == {None}]
    return [*empty, *(() if any(None not in pair for pair in times) else ("change_ns",))]


def add_launch_sizes(side: RowSide, connection: sqlite3.Connection) -> None:
    """Add the grids and blocks of its kernels to a side of ``./compare_row``."""
    sizes = launch_sizes(connection, [op["op_id"] for op in side["ops"]])
    for kernel in side["kernels"]:
        kernel["sizes"] = sizes.get(kernel["name"], [])


def _of_types(comparison: Comparison) -> _Known:
    return {row["op_type"]: (row["a_ns"], row["b_ns"]) for row in types(comparison.rows)}


def _of_groups(comparison: Comparison) -> _Known:
    return {f"{row['path']}/": (row["a_ns"], row["b_ns"]) for row in modules(comparison.rows)}


def _of_ops(comparison: Comparison) -> _Known:
    return {op: (a_ns, b_ns) for op, (a_ns, b_ns) in times_of_ops(comparison.rows).items()}


def _of_iterations(comparison: Comparison) -> _Known:
    """Durations of an iteration and of the baseline's with the same number; if the two share no number, of that in the
    same place."""
    a, b = comparison.a.first, comparison.b.first
    if not (a.marked and b.marked):
        return {}
    of_a = dict(zip(a.iteration_values, a.iteration_time, strict=True))
    if of_a.keys().isdisjoint(b.iteration_values):
        of_a = dict(zip(b.iteration_values, a.iteration_time, strict=False))
    return {
        number: (of_a.get(number), time_ns)
        for number, time_ns in zip(b.iteration_values, b.iteration_time, strict=True)
    }


def _of_patterns(comparison: Comparison, own_name: int) -> _Known:
    """Sums over the ops of B of one pattern, and what they replace; a row of several says nothing about one of them."""
    known: dict[object, tuple[int | None, int | None]] = {}
    for row in comparison.rows:
        # As the keys of ``op_paths`` and ``op_names``.
        patterns = {" ".join(pattern_of(op, own_name)) for op in row.b or row.a}
        for pattern in patterns:
            a_ns, b_ns = known.get(pattern, (0, 0))
            is_alone = len(patterns) == 1 and a_ns is not None and b_ns is not None
            known[pattern] = ((a_ns or 0) + row.a_ns, (b_ns or 0) + row.b_ns) if is_alone else (None, None)
    return known


TABLES: Mapping[str, Callable[[Comparison], _Known]] = {
    **dict.fromkeys(("ops", "ops_of_group", "ops_of_type", "ops_of_path", "ops_of_name", "ops_of_kernel"), _of_ops),
    "op_types": _of_types,
    "op_paths": partial(_of_patterns, own_name=0),
    "op_names": partial(_of_patterns, own_name=1),
    "groups": _of_groups,
    "iterations": _of_iterations,
}
"""Tables that show a baseline where one is chosen."""
