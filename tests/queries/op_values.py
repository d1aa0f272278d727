"""What is said of an op in several places, which must be the same."""

from __future__ import annotations

from collections.abc import Mapping

from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.ops import top_ops
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import find_table


def op_values(file: UntrustedConnection, key: str) -> dict[str, set[object]]:
    """Name of an op -> what the table and the Dashboard say of it under this key."""
    scope = find_scope(file)
    said: dict[str, set[object]] = {}
    for row in page(file, find_table("ops"), scope, PageRequest(limit=100)).rows:
        said[str(row["name"])] = {row[key]}
    for op in top_ops(file, scope, 100):
        facts: Mapping[str, object] = op
        said[op["name"]].add(facts[key])
    return said
