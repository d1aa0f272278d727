"""Sums of neighbouring iterations, which charts draw as one bar: worked out by SQLite from single ones.

A sum never holds aggregated iterations and others, nor others from both sides of the aggregated ones.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TypedDict

from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import RESOURCE_COLUMNS, RESOURCES

MOST_SUMS = 4_000
"""More than any chart draws."""

_MOST_SINGLE = 200_000
"""Of one question; a damaged database may claim any number."""


class Bar(TypedDict):
    """One iteration, or several: sums over ``count`` iterations from ``iteration`` to ``stop_iteration``."""

    iteration: int | None
    stop_iteration: int | None
    count: int | None
    start_ns: int | None
    duration_ns: int | None
    shortest_ns: int | None
    longest_ns: int | None
    profiled: bool
    """Whether they are aggregated."""
    parts: dict[str, int | None] | None
    """Exclusive times that add up to the duration; unknown for iterations that are not aggregated."""


SINGLE = (
    "SELECT iteration.iter_value AS first_value, iteration.iter_value AS last_value, 1 AS iterations, "
    "iteration.start_time AS start_ns, iteration.stop_time - iteration.start_time AS duration_ns, "
    "iteration.stop_time - iteration.start_time AS shortest_ns, "
    "iteration.stop_time - iteration.start_time AS longest_ns, part.iter_value IS NOT NULL AS is_aggregated, "
    + ", ".join(
        f"part.{column}_duration AS {resource}_ns" for column, resource in zip(RESOURCE_COLUMNS, RESOURCES, strict=True)
    )
    + " FROM iteration_list AS iteration LEFT JOIN iteration_aggregation_list AS part "
    "ON part.aggr_id = iteration.aggr_id AND part.iter_value = iteration.iter_value "
    "WHERE iteration.aggr_id = :aggregation"
)
"""The iterations of ``:aggregation``, as blocks of one."""

_BEHIND = "first_value > :last_aggregated"
"""Tells iterations behind the aggregated ones from those before them, where both are in one bar."""


def last_aggregated(connection: sqlite3.Connection, scope: Scope) -> int:
    """The number of the last iteration that is aggregated; 0 where none is."""
    ((last,),) = connection.execute(
        "SELECT max(iter_value) FROM iteration_aggregation_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchall()
    return whole(last) or 0


def single_iterations(connection: sqlite3.Connection, scope: Scope, low: int, high: int) -> list[Bar]:
    """The iterations numbered ``low`` to ``high``, each by itself."""
    cursor = connection.execute(
        f"{SINGLE} AND iteration.iter_value BETWEEN :low AND :high ORDER BY first_value",
        {"aggregation": scope.aggregation, "low": low, "high": high},
    )
    return [_of_row(row) for row in cursor.fetchmany(_MOST_SINGLE)]


def sums(connection: sqlite3.Connection, scope: Scope, source: str, bar: str, values: Mapping[str, int]) -> list[Bar]:
    """Sums of iterations, in order.

    Args:
        connection: where they are.
        scope: of which aggregation.
        source: statement that gives them, such as ``SINGLE``.
        bar: expression of what those have in common that are summed.
        values: what both are bound to beside ``:aggregation``.
    """
    parts = ", ".join(f"sum({resource}_ns)" for resource in RESOURCES)
    cursor = connection.execute(
        "SELECT min(first_value), max(last_value), sum(iterations), min(start_ns), sum(duration_ns), "
        f"min(shortest_ns), max(longest_ns), is_aggregated, {parts} FROM ({source}) "
        f"GROUP BY {bar}, is_aggregated, {_BEHIND} ORDER BY min(first_value)",
        {"aggregation": scope.aggregation, "last_aggregated": last_aggregated(connection, scope), **values},
    )
    return [_of_row(row) for row in cursor.fetchmany(MOST_SUMS)]


def sums_by_number(
    connection: sqlite3.Connection, scope: Scope, low: int, high: int, size: int, *, are_all: bool
) -> list[Bar]:
    """Sums of the iterations numbered ``low`` to ``high``, each of those with ``size`` numbers from ``low`` on.

    ``are_all`` says that there are no others: they are read in the order in which they lie in the file then.
    """
    # The two tables apart, which is faster than joined.
    values = {"aggregation": scope.aggregation, "low": low, "high": high, "size": size}
    bar = "(iter_value - :low) / :size AS bar"
    where = "WHERE aggr_id = :aggregation AND iter_value BETWEEN :low AND :high GROUP BY bar"
    if are_all:
        where = f"NOT INDEXED {where}"
    parts = ", ".join(f"sum({column}_duration)" for column in RESOURCE_COLUMNS)
    aggregated = {
        row[0]: row[1:]
        for row in connection.execute(
            f"SELECT {bar}, count(*), {parts} FROM iteration_aggregation_list {where}", values
        ).fetchmany(MOST_SUMS)
    }
    cursor = connection.execute(
        f"SELECT {bar}, min(iter_value), max(iter_value), count(*), min(start_time), sum(stop_time - start_time), "
        f"min(stop_time - start_time), max(stop_time - start_time) FROM iteration_list {where} ORDER BY bar",
        values,
    )
    found: list[Bar] = []
    for number, *row in cursor.fetchmany(MOST_SUMS):
        profiled, *of_parts = aggregated.get(number, (0, *[None] * len(RESOURCES)))
        if profiled in (0, row[2]):
            found.append(_of_row([*row, profiled, *of_parts]))
        else:
            edges = {"low": row[0], "high": row[1]}
            found += sums(connection, scope, f"{SINGLE} AND iteration.iter_value BETWEEN :low AND :high", ":low", edges)
    return found


def _of_row(row: Sequence[object]) -> Bar:
    """First and last number, count, start, duration, the shortest and the longest, whether aggregated, parts."""
    return Bar(
        iteration=whole(row[0]),
        stop_iteration=whole(row[1]),
        count=whole(row[2]),
        start_ns=whole(row[3]),
        duration_ns=whole(row[4]),
        shortest_ns=whole(row[5]),
        longest_ns=whole(row[6]),
        profiled=bool(row[7]),
        parts=dict(zip(RESOURCES, map(whole, row[8:]), strict=True)) if row[7] else None,
    )
