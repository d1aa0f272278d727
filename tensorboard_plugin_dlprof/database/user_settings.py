"""Reads from one of our databases, of any version, what the user chose, so that a new import can choose the same."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.aggregation import Selection
from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, deadline, real_tables

_MOST_AGGREGATIONS = 1_000
_SECONDS = 20.0


class UserSettings(msgspec.Struct, frozen=True):
    """Everything that importing the source again with default options would lose."""

    profile_name: str
    original_command: str
    aggregations: list[Selection]
    """Ordered by id: the aggregation made by the import, then those added later."""
    has_user_rules: bool
    """Whether a rule of the user's classified at least one kernel."""
    has_counters: bool
    """Whether the import was given hardware counters (``--counters``)."""
    samples_per_iteration: int | None = None
    tokens_per_iteration: int | None = None
    """What the user said that an iteration works on."""


def read_user_settings(database: Path) -> UserSettings:
    """What is stored in one of our databases.

    Raises:
        UnfitDatabase: the database cannot be read.
    """
    with opened_database(database) as connection, deadline(connection, _SECONDS):
        config = connection.execute("SELECT profile_name, original_command FROM view_system_config")
        name, command = config.fetchone() or ("", "")
        tables = real_tables(connection)
        given = "SELECT samples_per_iteration, tokens_per_iteration FROM main.throughput_source"
        row = connection.execute(given).fetchone() if "throughput_source" in tables else None
        samples, tokens = (each if isinstance(each, int) and each > 0 else None for each in row or (None, None))
        return UserSettings(
            profile_name=str(name or ""),
            original_command=str(command or ""),
            aggregations=_aggregations(connection, tables),
            has_user_rules="ext_kernel_names" in tables and _has_user_rules(connection),
            has_counters=" --counters" in str(command or ""),
            samples_per_iteration=samples,
            tokens_per_iteration=tokens,
        )


def _aggregations(connection: UntrustedConnection, tables: frozenset[str]) -> list[Selection]:
    labels: dict[int, str] = {}
    if "ext_aggregations" in tables:
        rows = connection.execute("SELECT aggr_id, candidate_label, candidate_source FROM main.ext_aggregations")
        # The label comes first because several candidates may have the same source.
        labels = {number: str(label or source or "") for number, label, source in rows.fetchmany(_MOST_AGGREGATIONS)}
    rows = connection.execute(
        "SELECT summary.aggr_id, summary.iter_start, summary.iter_stop, "
        "summary.iter_aggregated = summary.iter_total, key_op.string "
        "FROM model_summary AS summary JOIN dictionary AS key_op ON key_op.id = summary.key_node_id "
        "ORDER BY summary.aggr_id"
    )
    return [
        Selection(
            key_op or None,
            None if is_all else start,
            None if is_all else stop,
            None if key_op else labels.get(number) or None,
        )
        for number, start, stop, is_all, key_op in rows.fetchmany(_MOST_AGGREGATIONS)
    ]


def _has_user_rules(connection: UntrustedConnection) -> bool:
    (result,) = connection.execute("SELECT count(*) FROM main.ext_kernel_names WHERE rule LIKE 'user:%'").fetchone()
    return bool(result)
