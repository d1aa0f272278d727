"""Which iterations of a database the diagnosis of an aggregation is of."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.as_data import SCHEMA
from tensorboard_plugin_dlprof.queries.extension import has_older_rules
from tensorboard_plugin_dlprof.queries.findings import aggregated
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_rows
from tensorboard_plugin_dlprof.queries.scope import Scope, aggregations

_MOST_BYTES = 1 << 24
"""A limit for hostile files; one of a thousand iterations on four GPUs has some six megabytes."""


def stored_diagnosis(
    connection: sqlite3.Connection, selected: tuple[int, int] | None, source: str
) -> dict[str, Any] | None:
    """The diagnosis that an import stored; None if there is none, or it is damaged.

    Args:
        selected: from ``diagnosed_positions``; only the diagnosis of the typical iterations is stored.
        source: what to call the database.
    """
    if selected is not None or has_older_rules(connection):
        return None
    row = connection.execute("SELECT data FROM ext_diagnosis").fetchone()
    if row is None or not isinstance(row[0], bytes):
        return None
    reader = zlib.decompressobj()
    try:
        result = json.loads(reader.decompress(row[0], _MOST_BYTES))
    except (zlib.error, ValueError, RecursionError):
        return None
    is_known = reader.eof and isinstance(result, dict) and result.get("schema") == SCHEMA
    return {**result, "source": source} if is_known else None


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
