"""Sums of neighbouring iterations, which charts draw as one bar.

Aggregated iterations, iterations before them, and iterations after them are never in the same sum. Of very many
iterations, the import stores sums over blocks of them (``database.iteration_blocks``), which are added up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import RESOURCE_COLUMNS, RESOURCES, Resource
from tensorboard_plugin_dlprof.queries.unknown_kernels import OF_ITERATION, UNKNOWN_PART, at_least
from tensorboard_plugin_dlprof.queries.unrecorded import unrecorded_resources

MOST_SUMS = 4_000
"""More than any chart draws."""

_MOST_SINGLE = 200_000
"""Iterations returned one by one; a limit for damaged databases, which may claim any number."""


class IterationRow(TypedDict):
    """One iteration, or several: sums over ``count`` iterations from ``iteration`` to ``stop_iteration``."""

    iteration: int
    stop_iteration: int
    count: int
    """Number of iterations, which does not follow from the numbers if there are gaps between them."""
    start_ns: int | None
    duration_ns: int
    profiled: bool
    """Whether the iterations are aggregated."""
    parts: dict[Resource, int | None] | None
    """Exclusive times (ns) that add up to the duration; None for iterations that are not aggregated. If
    ``unknown_kernel`` is not 0, ``tensor_core`` is a lower bound, and None instead of 0."""


class Bar(IterationRow):
    """With the extremes of its iterations."""

    shortest_ns: int
    longest_ns: int


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

_STORED = {"unknown_kernel": "unknown_part_ns", "other_kernel": "other_kernel_ns - unknown_part_ns"}

BLOCKS = (
    "SELECT first_value, last_value, iterations, start_ns, duration_ns, shortest_ns, longest_ns, is_aggregated, "
    + ", ".join(f"{_STORED.get(resource, f'{resource}_ns')} AS {resource}_ns" for resource in RESOURCES)
    + " FROM ext_iteration_blocks WHERE aggr_id = :aggregation"
)
"""A SELECT of the stored blocks of ``:aggregation``, with the columns of ``SINGLE``."""


def with_unrecorded(connection: sqlite3.Connection, bars: list[Bar]) -> list[Bar]:
    """The bars, with None for the parts that the recording could not contain."""
    unknown = dict.fromkeys(unrecorded_resources(connection))
    for bar in bars if unknown else ():
        if bar["parts"] is not None:
            bar["parts"].update(unknown)
    return bars


def parts_of_bar(times: Iterable[int | None]) -> dict[Resource, int | None]:
    """The parts of a bar, given the time of each of ``RESOURCES`` in order."""
    parts: dict[Resource, int | None] = dict(zip(RESOURCES, times, strict=True))
    return {**parts, "tensor_core": at_least(parts["tensor_core"], parts["unknown_kernel"])}


_BEHIND = "first_value > :last_aggregated"
"""Distinguishes iterations after the aggregated ones from those before them, which may fall into the same bar."""


def last_aggregated(connection: sqlite3.Connection, scope: Scope) -> int:
    """The number of the last aggregated iteration; 0 if there is none."""
    ((last,),) = connection.execute(
        "SELECT max(iter_value) FROM iteration_aggregation_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchall()
    return whole(last) or 0


def single_iterations(connection: sqlite3.Connection, scope: Scope) -> list[Bar]:
    """The iterations in order, each by itself."""
    cursor = connection.execute(f"{SINGLE} ORDER BY first_value", {"aggregation": scope.aggregation})
    return _bars(cursor.fetchmany(_MOST_SINGLE))


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
    return _bars(cursor.fetchmany(MOST_SUMS))


def block_width(connection: sqlite3.Connection, scope: Scope) -> int:
    """How many numbers of iterations a stored block spans; 0 if none are stored."""
    row = connection.execute(
        "SELECT width FROM ext_iteration_blocks WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    return max(0, whole(row[0]) or 0) if row else 0


def _bars(rows: Iterable[Sequence[object]]) -> list[Bar]:
    """Bars from rows: first and last number, count, start, duration, shortest, longest, whether aggregated, parts. What
    has no number or length, as in a damaged database, cannot be drawn."""
    bars = []
    for row in rows:
        first, last, count, start_ns, *lengths = map(whole, row[:7])
        if first is None or last is None or None in lengths:
            continue
        duration_ns, shortest_ns, longest_ns = (length or 0 for length in lengths)
        parts = parts_of_bar(map(whole, row[8:])) if row[7] else None
        bars.append(
            Bar(
                iteration=first,
                stop_iteration=last,
                count=count or 0,
                start_ns=start_ns,
                duration_ns=duration_ns,
                shortest_ns=shortest_ns,
                longest_ns=longest_ns,
                profiled=bool(row[7]),
                parts=parts,
            )
        )
    return bars
