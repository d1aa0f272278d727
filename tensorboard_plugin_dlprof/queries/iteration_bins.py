"""A range of iterations in as many bars as a chart can draw, summed by SQLite."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

from tensorboard_plugin_dlprof.errors import BadRequest
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
    first, last = (
        whole(value)
        for value in connection.execute(
            "SELECT min(iter_value), max(iter_value) FROM iteration_list WHERE aggr_id = ?", (scope.aggregation,)
        ).fetchone()
    )
    times = performance(connection, scope)
    if first is None or last is None:
        low = high = size = 0
    else:
        low, high = max(first, first if start is None else start), min(last, last if stop is None else stop)
        size = max(-(-(high - low + 1) // bins), 1)
    rows = _rows(connection, scope, low, high, size) if size else []
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
    parts = ", ".join(f"sum(part.{column}_duration)" for column in RESOURCE_COLUMNS)
    length = "iteration.stop_time - iteration.start_time"
    cursor = connection.execute(
        f"SELECT min(iteration.iter_value), max(iteration.iter_value), count(*), min(iteration.start_time), "
        f"sum({length}), min({length}), max({length}), part.iter_value IS NOT NULL AS profiled, {parts} "
        "FROM iteration_list AS iteration LEFT JOIN iteration_aggregation_list AS part "
        "ON part.aggr_id = iteration.aggr_id AND part.iter_value = iteration.iter_value "
        "WHERE iteration.aggr_id = :aggregation AND iteration.iter_value BETWEEN :low AND :high "
        "GROUP BY (iteration.iter_value - :low) / :size, profiled ORDER BY min(iteration.iter_value)",
        {"aggregation": scope.aggregation, "low": low, "high": high, "size": size},
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
