"""Parts of the wall time that a recording could not hold: of them it is not known that they are 0."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.queries.extension import recorded
from tensorboard_plugin_dlprof.queries.ops import NO_GPU_WORK

ON_GPU = ("tensor_core", "unknown_kernel", "other_kernel", "memory")


def unrecorded_resources(connection: sqlite3.Connection) -> frozenset[str]:
    """Those of ``summary.RESOURCES``: of the GPU without any work of one, I/O without system calls, the data loader
    without ops and ranges. None of NVIDIA's databases, which do not say."""
    words = recorded(connection)
    if words is None:
        return frozenset()
    silent = set[str]()
    if connection.execute(f"SELECT {NO_GPU_WORK}").fetchone()[0]:
        silent.update(ON_GPU)
    for resource, sources in (("io", {"io"}), ("data_loader", {"ops", "nvtx"})):
        if not sources.intersection(words) and not _has_spans(connection, resource):
            silent.add(resource)
    return frozenset(silent)


def _has_spans(connection: sqlite3.Connection, resource: str) -> bool:
    (found,) = connection.execute("SELECT EXISTS (SELECT 1 FROM ext_time_spans WHERE kind = ?)", (resource,)).fetchone()
    return bool(found)
