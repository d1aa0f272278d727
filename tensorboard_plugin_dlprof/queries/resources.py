"""The parts of the wall time, and which of them a recording could not contain, so that they are unknown and not 0."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from tensorboard_plugin_dlprof.queries.extension import recorded
from tensorboard_plugin_dlprof.queries.ops import NO_GPU_WORK

Resource: TypeAlias = Literal[
    "tensor_core", "unknown_kernel", "other_kernel", "memory", "data_loader", "io", "cpu", "other"
]

RESOURCES: tuple[Resource, ...] = get_args(Resource)
"""The exclusive parts of an iteration's time, in order of precedence: time with a kernel on Tensor Cores; else with a
kernel whose Tensor Core use is unknown, or a CUDA graph recorded as a whole; else with another kernel; and so on."""

RESOURCE_COLUMNS: Mapping[str, str] = {
    "tensor_core": "tc",
    "other_kernel": "non_tc",
    "memory": "memory",
    "data_loader": "dataloader",
    "io": "io",
    "cpu": "cpu",
    "other": "other",
}
"""Prefixes of DLProf's columns for ``RESOURCES``. Its other kernels are all that are not known to use Tensor Cores, so
they include ``unknown_kernel``."""


ON_GPU: tuple[Resource, ...] = ("tensor_core", "unknown_kernel", "other_kernel", "memory")


def unrecorded_resources(connection: sqlite3.Connection) -> frozenset[Resource]:
    """The members of ``RESOURCES`` that could not be recorded.

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
