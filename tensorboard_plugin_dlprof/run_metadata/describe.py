"""Reads the contents of a profile's event file from its database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.queries.extension import info
from tensorboard_plugin_dlprof.queries.headline import headline, source_facts
from tensorboard_plugin_dlprof.queries.iteration_shares import iteration_shares
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import tensor_core_efficiency
from tensorboard_plugin_dlprof.queries.throughput import rates_by_iteration
from tensorboard_plugin_dlprof.run_metadata.dlprof_plugin_pb2 import Headline, ProfileMetadata
from tensorboard_plugin_dlprof.run_metadata.event_file import ScalarSeries
from tensorboard_plugin_dlprof.units import NS_PER_MS

SCHEMA_VERSION = 1
"""``ProfileMetadata.schema_version``."""


def describe(connection: sqlite3.Connection, database_name: str) -> ProfileMetadata:
    """The metadata of the database with this file name; fields that are unknown are not set.

    Raises:
        UnfitDatabase: The database has no aggregation.
    """
    numbers = headline(connection)
    facts = source_facts(connection)
    stored = info(connection)
    utc_start_ns = int(stored.get("utc_start_ns", "-1"))
    # Protobuf does not set fields that are None. Empty texts mean unknown, so they are converted to None.
    return ProfileMetadata(
        schema_version=SCHEMA_VERSION,
        database_name=shown(Path(database_name)),
        source_name=facts["source_name"] or None,
        source_fingerprint=stored.get("source_fingerprint") or None,
        source_format=facts["format"] or None,
        rank=facts["rank"],
        world_size=facts["world_size"],
        gpu_names=numbers["gpu_names"],
        profile_name=_profile_name(connection) or None,
        captured_at_ns=utc_start_ns if utc_start_ns >= 0 else None,
        headline=Headline(
            wall_time_ns=numbers["wall_time_ns"],
            iterations=numbers["iterations"],
            average_iteration_ns=numbers["average_iteration_ns"],
            gpu_utilization_fraction=numbers["gpu_utilization_fraction"],
            tensor_core_time_fraction=numbers["tensor_core_time_fraction"],
            tensor_core_efficiency_fraction=tensor_core_efficiency(connection, find_scope(connection))["fraction"],
        ),
    )


def iteration_scalars(connection: sqlite3.Connection, suffix: str = "") -> list[ScalarSeries]:
    """Lines for the SCALARS tab, by iteration number.

    Args:
        suffix: Appended to the tags, to distinguish the profiles of a run.

    Returns:
        Iteration time; if the profile has GPU work, utilisations; samples and tokens a second where they are known.
    """
    rows = list(iteration_shares(connection, find_scope(connection)))
    series = [
        ScalarSeries(
            f"{PLUGIN_NAME}/iteration_time_ms{suffix}",
            "Duration of an iteration in milliseconds.",
            [(row.iteration, row.duration_ns / NS_PER_MS) for row in rows],
        )
    ]
    if headline(connection)["gpu_utilization_fraction"] is not None:
        series += [
            ScalarSeries(
                f"{PLUGIN_NAME}/gpu_utilization{suffix}",
                "Share of the iteration, from 0 to 1, in which a kernel was running.",
                _known([(row.iteration, row.kernel_fraction) for row in rows]),
            ),
            ScalarSeries(
                f"{PLUGIN_NAME}/tensor_core_time_share{suffix}",
                "Share of the iteration, from 0 to 1, in which a kernel on Tensor Cores was running.",
                _known([(row.iteration, row.tensor_core_fraction) for row in rows]),
            ),
        ]
    for name in ("samples", "tokens"):
        points = rates_by_iteration(connection, find_scope(connection), name)
        if points:
            series.append(ScalarSeries(f"{PLUGIN_NAME}/{name}_per_s{suffix}", f"{name.title()} a second.", points))
    return series


def _known(points: list[tuple[int, float | None]]) -> list[tuple[int, float]]:
    return [(step, value) for step, value in points if value is not None]


def _profile_name(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT profile_name FROM view_system_config").fetchone()
    return str(row[0] or "") if row else ""
