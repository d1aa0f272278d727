"""Which iterations of a database the diagnosis of an aggregation is of."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.queries.findings import aggregated
from tensorboard_plugin_dlprof.queries.iterations import iteration_rows
from tensorboard_plugin_dlprof.queries.scope import Scope, aggregations


def diagnosed_positions(connection: sqlite3.Connection, scope: Scope) -> tuple[int, int] | None:
    """First and last position of the iterations that the diagnosis is of; None for the typical ones.

    The first aggregation stands for the typical iterations. Others were added by users for the sake of their
    iterations, unless these were found in another way.
    """
    # A damaged database may have none.
    if scope.aggregation in [aggregation["id"] for aggregation in aggregations(connection)[:1]]:
        return None
    rows, is_binned = iteration_rows(connection, scope)
    positions = [position for position, row in enumerate(rows) if row["profiled"]]
    start, _, key_op = aggregated(connection, scope)
    return None if is_binned or start is None or key_op or not positions else (positions[0], positions[-1])
