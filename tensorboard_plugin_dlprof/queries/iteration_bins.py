"""A range of iterations in as many bars as a chart can draw."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TypedDict

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.iteration_blocks import bars_by_number, iteration_blocks
from tensorboard_plugin_dlprof.queries.iteration_sums import Bar, sums_by_number, with_unrecorded
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import performance
from tensorboard_plugin_dlprof.queries.whole_numbers import NotWholeNumbers

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
    rows: list[Bar] | None = None
    blocks = iteration_blocks(connection, scope)
    if blocks is not None and size >= blocks.width:
        # Whole blocks, counted from where the first of them begins.
        numbers = high - low // blocks.width * blocks.width + 1
        size = max(-(-numbers // (bins * blocks.width)), 1) * blocks.width
        with suppress(NotWholeNumbers):
            rows = bars_by_number(connection, scope, blocks, low, high, size)
    if size and rows is None:
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
        "rows": with_unrecorded(connection, rows or []),
    }
