"""A range of iterations in as many bars as a chart can draw, summed by SQLite."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.iterations import BEHIND, aggregated_values, block_width
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import RESOURCE_COLUMNS, RESOURCES, performance

DEFAULT_BINS = 1_000
MAX_BINS = 2_000


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
    parts: dict[str, int | None] | None


Bars = TypedDict(
    "Bars",
    {
        "first": "int | None",
        "last": "int | None",
        "total": "int | None",
        "profiled": "int | None",
        "iter_start": "int | None",
        "iter_stop": "int | None",
        "from": "int | None",
        "to": "int | None",
        "bin_size": int,
        "binned": bool,
        "rows": "list[Bar]",
    },
)
"""``first`` to ``last`` are the numbers of all iterations, ``from`` to ``to`` those of the bars."""


def iteration_bars(
    connection: sqlite3.Connection,
    scope: Scope,
    start: int | None = None,
    stop: int | None = None,
    bins: int = DEFAULT_BINS,
) -> Bars:
    """The iterations numbered ``start`` to ``stop``, all by default, in about ``bins`` bars.

    Bars hold equally many numbers, and end where aggregated iterations begin or end.

    Raises:
        BadRequest: ``start`` is behind ``stop``.
    """
    if start is not None and stop is not None and start > stop:
        raise BadRequest(f"from={start} is behind to={stop}; give them in order.")
    # Each on its own: both in one statement would read all numbers.
    first, last = (
        whole(value)
        for value in connection.execute(
            "SELECT (SELECT min(iter_value) FROM iteration_list WHERE aggr_id = :aggregation), "
            "(SELECT max(iter_value) FROM iteration_list WHERE aggr_id = :aggregation)",
            {"aggregation": scope.aggregation},
        ).fetchone()
    )
    times = performance(connection, scope)
    if first is None or last is None:
        low = high = size = 0
    else:
        low, high = max(first, first if start is None else start), min(last, last if stop is None else stop)
        size = max(-(-(high - low + 1) // bins), 1)
    width = block_width(connection, scope)
    rows: list[Bar] = []
    if width and size >= width:
        # Whole blocks, counted from where the first of them begins.
        size = -(-(high - low // width * width + 1) // (bins * width)) * width
        rows = _rows_of_blocks(connection, scope, low, high, size, width)
    elif size:
        rows = _rows(connection, scope, low, high, size)
    return {
        "first": first,
        "last": last,
        "total": times["total_iterations"],
        "profiled": times["profiled_iterations"],
        "iter_start": times["iter_start"],
        "iter_stop": times["iter_stop"],
        "from": low if size else None,
        "to": high if size else None,
        "bin_size": max(size, 1),
        "binned": size > 1,
        "rows": rows,
    }


def _rows(connection: sqlite3.Connection, scope: Scope, low: int, high: int, size: int) -> list[Bar]:
    return _summed(
        connection,
        f"{_SINGLE} AND iteration.iter_value BETWEEN :low AND :high",
        {"low": low, "high": high, "size": size, "origin": low, **aggregated_values(connection, scope)},
    )


def _rows_of_blocks(
    connection: sqlite3.Connection, scope: Scope, low: int, high: int, size: int, width: int
) -> list[Bar]:
    """Bars of whole stored blocks, and of single iterations where the range begins and ends within one."""
    parts = ", ".join(f"{resource}_ns" for resource in RESOURCES)
    first, behind = -(-low // width), (high + 1) // width
    return _summed(
        connection,
        "SELECT first_value, last_value, iterations, start_ns, duration_ns, shortest_ns, longest_ns, is_aggregated, "
        f"{parts} FROM ext_iteration_blocks WHERE aggr_id = :aggregation AND block >= :first AND block < :behind "
        f"UNION ALL {_SINGLE} AND iteration.iter_value BETWEEN :low AND min(:high, :first * :width - 1) "
        f"UNION ALL {_SINGLE} AND iteration.iter_value BETWEEN max(:low, :first * :width, :behind * :width) AND :high",
        {
            **aggregated_values(connection, scope),
            "low": low,
            "high": high,
            "size": size,
            "origin": low - low % width,
            "width": width,
            "first": first,
            "behind": behind,
        },
    )


_SINGLE = (
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
"""Iterations as blocks of one."""


def _summed(connection: sqlite3.Connection, blocks: str, values: dict[str, int]) -> list[Bar]:
    parts = ", ".join(f"sum({resource}_ns)" for resource in RESOURCES)
    cursor = connection.execute(
        "SELECT min(first_value), max(last_value), sum(iterations), min(start_ns), sum(duration_ns), "
        f"min(shortest_ns), max(longest_ns), is_aggregated, {parts} FROM ({blocks}) "
        f"GROUP BY (first_value - :origin) / :size, is_aggregated, {BEHIND} ORDER BY min(first_value)",
        values,
    )
    return [
        Bar(
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
        for row in cursor.fetchmany(2 * MAX_BINS)
    ]
