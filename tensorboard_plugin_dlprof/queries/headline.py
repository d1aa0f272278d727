"""The key numbers of a profile for a list of profiles."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

from tensorboard_plugin_dlprof.queries.extension import has_older_rules, info, is_of_another_version, is_ours
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.summary import gpu_utilization, performance, resource_breakdown
from tensorboard_plugin_dlprof.queries.system import gpu_names
from tensorboard_plugin_dlprof.units import NS_PER_S

_MOST_LETTERS = 255
"""As many as the name of a file may have."""


class Headline(TypedDict):
    """Key numbers of the first aggregation."""

    gpu_names: list[str]
    wall_time_ns: int | None
    iterations: int | None
    average_iteration_ns: int | None
    marked: bool | None
    """Whether iterations are marked; else the whole recording counts as one. None where that is not known."""
    gpu_utilization_fraction: float | None
    """Share of the wall time with a kernel running, which may be a collective that waits."""
    computing_fraction: float | None
    """Share of a mean iteration in which the GPU computes, the least of all GPUs; None where no diagnosis is stored."""
    tensor_core_time_fraction: float | None
    """Share of the wall time. A lower bound if the Tensor Core use of some kernels is unknown, and then None instead of
    0."""


class SourceFacts(TypedDict):
    """Facts about the file that a database was made from. Unknown texts are empty, unknown numbers None."""

    source_name: str
    format: str
    rank: int | None
    world_size: int | None
    captured_at: float | None
    """Seconds since 1970."""
    source_size_bytes: int | None
    source_mtime_ns: int | None


def headline(connection: sqlite3.Connection) -> Headline:
    """The key numbers of the first aggregation."""
    scope = find_scope(connection)
    times = performance(connection, scope)
    parts = {part["resource"]: part["fraction"] for part in resource_breakdown(connection, scope)}
    return Headline(
        gpu_names=gpu_names(connection),
        wall_time_ns=times["wall_clock_ns"],
        iterations=times["profiled_iterations"],
        average_iteration_ns=times["average_iteration_ns"],
        marked=is_marked(connection, scope),
        gpu_utilization_fraction=gpu_utilization(connection, scope)["fraction"],
        computing_fraction=_computing(connection),
        tensor_core_time_fraction=parts["tensor_core"],
    )


def is_marked(connection: sqlite3.Connection, scope: Scope) -> bool | None:
    """Whether the iterations of an aggregation are marked; None where it is not one of ours."""
    if not is_ours(connection) or is_of_another_version(connection):
        return None
    row = connection.execute(
        "SELECT candidate_source FROM ext_aggregations WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    return None if row is None else bool(row[0] != "whole_capture")


def _computing(connection: sqlite3.Connection) -> float | None:
    if not is_ours(connection) or is_of_another_version(connection) or has_older_rules(connection):
        return None
    row = connection.execute("SELECT computing_fraction FROM ext_diagnosis").fetchone()
    return row[0] if row is not None and isinstance(row[0], float) else None


def source_facts(connection: sqlite3.Connection) -> SourceFacts:
    """Facts about the source of the database; the format of NVIDIA's databases is ``dlprof``."""
    facts = info(connection)
    utc_start_ns = _number(facts.get("utc_start_ns"))
    return SourceFacts(
        source_name=facts.get("source_name", "")[:_MOST_LETTERS],
        format=facts.get("format", "dlprof")[:_MOST_LETTERS],
        rank=_number(facts.get("rank")),
        world_size=_number(facts.get("world_size")),
        captured_at=utc_start_ns / NS_PER_S if utc_start_ns else None,
        source_size_bytes=_number(facts.get("source_size_bytes")),
        source_mtime_ns=_number(facts.get("source_mtime_ns")),
    )


def rank_count(connection: sqlite3.Connection) -> int:
    """How many ranks the database holds: processes that ran kernels; 1 where it does not tell."""
    if not is_ours(connection) or is_of_another_version(connection):
        return 1
    return max(1, int(connection.execute("SELECT count(*) FROM ranks WHERE kernels > 0").fetchone()[0]))


def _number(text: str | None) -> int | None:
    """The number; None if it is negative, since -1 stands for unknown."""
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if number >= 0 else None
