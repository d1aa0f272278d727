"""Sums of neighbouring iterations, which charts draw as one bar, computed by SQLite from single iterations.

Aggregated iterations, iterations before them, and iterations after them are never in the same sum.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import RESOURCE_COLUMNS, RESOURCES
from tensorboard_plugin_dlprof.queries.unknown_kernels import OF_ITERATION, UNKNOWN_PART, at_least
from tensorboard_plugin_dlprof.queries.unrecorded import unrecorded_resources

MOST_SUMS = 4_000
"""More than any chart draws."""

_MOST_SINGLE = 200_000
"""Iterations returned one by one; a limit for damaged databases, which may claim any number."""


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
    """Whether the iterations are aggregated."""
    parts: dict[str, int | None] | None
    """Exclusive times (ns) that add up to the duration; None for iterations that are not aggregated. If
    ``unknown_kernel`` is not 0, ``tensor_core`` is a lower bound, and None instead of 0."""


def _part(resource: str) -> str:
    """Expression for the time of one of ``RESOURCES``, of ``iteration_aggregation_list AS part``."""
    if resource == "unknown_kernel":
        return UNKNOWN_PART
    column = f"part.{RESOURCE_COLUMNS[resource]}_duration"
    return f"({column} - {UNKNOWN_PART})" if resource == "other_kernel" else column


SINGLE = (
    "SELECT iteration.iter_value AS first_value, iteration.iter_value AS last_value, 1 AS iterations, "
    "iteration.start_time AS start_ns, iteration.stop_time - iteration.start_time AS duration_ns, "
    "iteration.stop_time - iteration.start_time AS shortest_ns, "
    "iteration.stop_time - iteration.start_time AS longest_ns, part.iter_value IS NOT NULL AS is_aggregated, "
    + ", ".join(f"{_part(resource)} AS {resource}_ns" for resource in RESOURCES)
    + " FROM iteration_list AS iteration LEFT JOIN iteration_aggregation_list AS part "
    f"ON part.aggr_id = iteration.aggr_id AND part.iter_value = iteration.iter_value "
    f"{OF_ITERATION} WHERE iteration.aggr_id = :aggregation"
)
"""A SELECT of the iterations of ``:aggregation``, each as a block of one."""


def with_unrecorded(connection: sqlite3.Connection, bars: list[Bar]) -> list[Bar]:
    """The bars, with None for the parts that the recording could not contain."""
    unknown = dict.fromkeys(unrecorded_resources(connection))
    for bar in bars if unknown else ():
        if bar["parts"] is not None:
            bar["parts"].update(unknown)
    return bars


def parts_of_bar(times: Iterable[int | None]) -> dict[str, int | None]:
    """The parts of a bar, given the time of each of ``RESOURCES`` in order."""
    parts = dict(zip(RESOURCES, times, strict=True))
    return {**parts, "tensor_core": at_least(parts["tensor_core"], parts["unknown_kernel"])}


_BEHIND = "first_value > :last_aggregated"
"""Distinguishes iterations after the aggregated ones from those before them, which may fall into the same bar."""


def last_aggregated(connection: sqlite3.Connection, scope: Scope) -> int:
    """The number of the last aggregated iteration; 0 if there is none."""
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
        connection: to a DLProf database.
        scope: the aggregation.
        source: SELECT of iterations or blocks, such as ``SINGLE``.
        bar: expression that has the same value for all rows of one sum.
        values: parameters of both, besides ``:aggregation``.
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
    """Sums of the iterations numbered ``low`` to ``high``, each spanning ``size`` numbers, counted from ``low``.

    ``are_all`` says that there are no other iterations, so that they can be read in the order of the file.
    """
    # Reading the two tables separately is faster than joining them.
    values = {"aggregation": scope.aggregation, "low": low, "high": high, "size": size}
    bar = "(iter_value - :low) / :size AS bar"
    where = "WHERE {table}aggr_id = :aggregation AND iter_value BETWEEN :low AND :high GROUP BY bar"
    indexed = "NOT INDEXED" if are_all else ""
    parts = ", ".join(f"sum({_part(resource)})" for resource in RESOURCES)
    aggregated = {
        row[0]: row[1:]
        for row in connection.execute(
            f"SELECT {bar}, count(*), {parts} FROM iteration_aggregation_list AS part {indexed} "
            f"{OF_ITERATION} {where.format(table='part.')}",
            values,
        ).fetchmany(MOST_SUMS)
    }
    cursor = connection.execute(
        f"SELECT {bar}, min(iter_value), max(iter_value), count(*), min(start_time), sum(stop_time - start_time), "
        "min(stop_time - start_time), max(stop_time - start_time) "
        f"FROM iteration_list {indexed} {where.format(table='')} ORDER BY bar",
        values,
    )
    found: list[Bar] = []
    for number, *row in cursor.fetchmany(MOST_SUMS):
        profiled, *of_parts = aggregated.get(number, (0, *[None] * len(RESOURCES)))
        if profiled in (0, row[2]):
            found.append(_of_row([*row, profiled, *of_parts]))
        else:
            edges = {"low": row[0], "high": row[1]}
            within = f"{SINGLE} AND iteration.iter_value BETWEEN :low AND :high"
            found += sums(connection, scope, within, ":low", edges)
    return found


def _of_row(row: Sequence[object]) -> Bar:
    """A bar from a row: first and last number, count, start, duration, shortest, longest, whether aggregated, parts."""
    return Bar(
        iteration=whole(row[0]),
        stop_iteration=whole(row[1]),
        count=whole(row[2]),
        start_ns=whole(row[3]),
        duration_ns=whole(row[4]),
        shortest_ns=whole(row[5]),
        longest_ns=whole(row[6]),
        profiled=bool(row[7]),
        parts=parts_of_bar(map(whole, row[8:])) if row[7] else None,
    )
