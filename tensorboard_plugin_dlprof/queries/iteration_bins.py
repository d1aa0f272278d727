"""A range of iterations in as many bars as a chart can draw, summed by SQLite."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.iteration_sums import (
    BLOCKS,
    SINGLE,
    Bar,
    block_width,
    sums,
    sums_by_number,
)
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import performance

DEFAULT_BINS = 1_000
MAX_BINS = 2_000


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
        rows = sums_by_number(connection, scope, low, high, size, are_all=(low, high) == (first, last))
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


def _rows_of_blocks(
    connection: sqlite3.Connection, scope: Scope, low: int, high: int, size: int, width: int
) -> list[Bar]:
    """Bars of whole stored blocks, and of single iterations where the range begins and ends within one."""
    first, behind = -(-low // width), (high + 1) // width
    single = f"SELECT *, NULL FROM ({SINGLE} AND iteration.iter_value"
    return sums(
        connection,
        scope,
        f"{BLOCKS} AND block >= :first AND block < :behind "
        f"UNION ALL {single} BETWEEN :low AND min(:high, :first * :width - 1)) "
        f"UNION ALL {single} BETWEEN max(:low, :first * :width, :behind * :width) AND :high)",
        "(first_value - :origin) / :size",
        {
            "low": low,
            "high": high,
            "size": size,
            "origin": low - low % width,
            "width": width,
            "first": first,
            "behind": behind,
        },
    )
