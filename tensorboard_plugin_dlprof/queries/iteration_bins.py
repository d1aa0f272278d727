"""Sums a range of iterations into as many bars as a chart can draw."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.iteration_sums import BLOCKS, SINGLE, Bar, block_width, sums, with_unrecorded
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
"""``first`` to ``last`` are the numbers of all iterations, ``from`` to ``to`` those that the bars cover."""


def iteration_bars(
    connection: sqlite3.Connection,
    scope: Scope,
    start: int | None = None,
    stop: int | None = None,
    bins: int = DEFAULT_BINS,
) -> Bars:
    """The iterations numbered ``start`` to ``stop``, inclusive, summed into about ``bins`` bars.

    All bars span equally many numbers, except that a bar also ends where the aggregated iterations begin or end.

    Args:
        connection: to a DLProf database.
        scope: the aggregation.
        start: number of the first iteration; by default, the first of all.
        stop: number of the last iteration; by default, the last of all.
        bins: wanted number of bars.

    Raises:
        BadRequest: ``start`` is greater than ``stop``.
    """
    if start is not None and stop is not None and start > stop:
        raise BadRequest(f"from={start} is greater than to={stop}; give them in order.")
    # SQLite looks up min or max alone in an index, but would read all rows for both in one statement.
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
    rows: list[Bar] = []
    if size:
        width = block_width(connection, scope)
        values = {"low": low, "high": high, "first": low}
        source = f"{SINGLE} AND iteration.iter_value BETWEEN :low AND :high"
        if width and size >= width:
            # Bars span whole blocks; single iterations are read where the range begins or ends inside a block.
            size = max(-(-(high - low // width * width + 1) // (bins * width)), 1) * width
            begin, behind = -(-low // width), (high + 1) // width
            values |= {"first": low - low % width, "begin": begin, "behind": behind}
            values |= {"begin_value": begin * width, "behind_value": max(begin, behind) * width}
            inside = "iteration.iter_value >= :begin_value AND iteration.iter_value < :behind_value"
            source = f"{source} AND NOT ({inside}) UNION ALL {BLOCKS} AND block >= :begin AND block < :behind"
        rows = sums(connection, scope, source, "(first_value - :first) / :size", {**values, "size": size})
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
        "rows": with_unrecorded(connection, rows),
    }
