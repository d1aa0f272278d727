"""Parts of the wall time that a recording could not contain, and which are therefore unknown rather than 0."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.queries.extension import recorded
from tensorboard_plugin_dlprof.queries.ops import NO_GPU_WORK

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.queries.summary import Resource

ON_GPU: tuple[Resource, ...] = ("tensor_core", "unknown_kernel", "other_kernel", "memory")


def unrecorded_resources(connection: sqlite3.Connection) -> frozenset[Resource]:
    """The members of ``summary.RESOURCES`` that could not be recorded.

    These are the parts of the GPU without any GPU work, I/O without system calls, and the data loader if no ops were
    recorded and no range of it was found, since a user's own ranges do not say whether there is one. Empty for
    NVIDIA's databases, which do not store what was recorded.
    """
    words = recorded(connection)
    if words is None:
        return frozenset()
    silent: set[Resource] = set()
    if connection.execute(f"SELECT {NO_GPU_WORK}").fetchone()[0]:
        silent.update(ON_GPU)
    sources: dict[Resource, str] = {"io": "io", "data_loader": "ops"}
    for resource, source in sources.items():
        if source not in words and not _has_spans(connection, resource):
            silent.add(resource)
    return frozenset(silent)


def _has_spans(connection: sqlite3.Connection, resource: str) -> bool:
    (result,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM ext_time_spans WHERE kind = ?)", (resource,)
    ).fetchone()
    return bool(result)
