"""Writes a profile and its aggregations into one new database."""

from __future__ import annotations

import getpass
import platform
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.tables import Feedback
from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.database.advice_rows import Advice, write_advice, write_device_peaks
from tensorboard_plugin_dlprof.database.aggregated_rows import (
    AggregationWriter,
    Numbering,
    fresh_numbering,
    write_feedback,
)
from tensorboard_plugin_dlprof.database.copying import create_tables
from tensorboard_plugin_dlprof.database.coverage import warnings
from tensorboard_plugin_dlprof.database.diagnosis_rows import write_diagnosis
from tensorboard_plugin_dlprof.database.extension_rows import (
    write_aggregated_extensions,
    write_coverage,
    write_raw_extensions,
)
from tensorboard_plugin_dlprof.database.fingerprint import SourceIdentity, identify
from tensorboard_plugin_dlprof.database.op_patterns import write_op_patterns
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.raw_rows import write_raw_tables
from tensorboard_plugin_dlprof.database.sql_files import INDEX_SCRIPTS, VIEW_SCRIPTS, count_rows, run
from tensorboard_plugin_dlprof.database.sub_op_rows import write_sub_ops
from tensorboard_plugin_dlprof.database.texts import Dictionary, number_texts
from tensorboard_plugin_dlprof.database.track_rows import ids_of_ours, write_tracks
from tensorboard_plugin_dlprof.database.work_rows import (
    StoredLaunches,
    write_iteration_kernels,
    write_kernels,
    write_op_calls,
)
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.metadata import DEFAULT_DOMAIN
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.timeline.build import build_tracks


class Judgement(msgspec.Struct, frozen=True):
    """What the expert system makes of the aggregation."""

    feedback: Sequence[Feedback] = ()
    """Rows of DLProf's table of findings."""
    advice: Advice | None = None
    """Efficiency and findings."""
    diagnosis: dict[str, Any] | None = None
    """Of the typical iterations; None if the aggregation is of others."""
    broken_rules: Sequence[str] = ()
    """Invariants that the numbers violate, as sentences."""


def write_database(
    path: Path,
    source: Path,
    profile: Profile,
    aggregate: Callable[[], Aggregation],
    judge: Callable[[Aggregation], Judgement] = lambda _aggregation: Judgement(),
    *,
    profile_name: str = "",
    original_command: str = "",
    identity: SourceIdentity | None = None,
) -> list[str]:
    """Create a database, or replace it, atomically.

    Args:
        source: the file that the profile was read from.
        aggregate: called after the raw tables are written, because both take much memory.
        judge: called after the aggregation is written, likewise.
        profile_name: given by the user, else empty.
        original_command: command line to store, in which the caller has masked secrets.
        identity: of the source; computed if not given.

    Returns:
        Sentences about what was skipped, missing or repaired, for the user.

    Raises:
        OutputNotWritable: the folder is missing, read-only or full.
        NotFound, UnsafeFile: the source is gone or not a regular file.
    """
    identity = identity or identify(source)
    with published(path, _expected_bytes(profile)) as con:
        create_tables(con)
        dictionary = Dictionary()
        dictionary.id(DEFAULT_DOMAIN)
        text = number_texts(profile, dictionary)
        write_raw_tables(con, profile, dictionary, text, profile_name, original_command)
        write_op_calls(con, profile.instances, text, write_sub_ops(con, profile))
        launches = write_kernels(con, profile.kernels, profile.strings, text)
        release_freed()
        write_raw_extensions(con, profile, identity, text, profile_name)
        release_freed()
        write_tracks(con, build_tracks(profile), ids_of_ours(profile, launches, text))
        release_freed()
        aggregation = aggregate()
        release_freed()
        write_aggregation(con, 1, profile, aggregation, launches, dictionary, text, fresh_numbering(profile))
        _write_judgement(con, profile, aggregation, judge(aggregation), text)
        insert_rows(con, "dictionary", ("id", "string"), dictionary.rows())
        run(con, *INDEX_SCRIPTS, *VIEW_SCRIPTS)
        write_op_patterns(con)
        count_rows(con)
    return warnings(profile)


def write_aggregation(
    con: sqlite3.Connection,
    aggr_id: int,
    profile: Profile,
    aggregation: Aggregation,
    launches: StoredLaunches,
    dictionary: Dictionary,
    text: Int64s,
    numbering: Numbering,
) -> None:
    """Store an aggregation in DLProf's tables and ours.

    Args:
        profile: its raw tables are in the database.
        launches: of the kernels, as they are in the database.
        dictionary: assigns ids to texts; the caller stores it afterwards.
        text: ``dictionary.id`` of each id in ``Profile.strings`` that is the name of a kernel.
        numbering: of the rows that are in the database already.
    """
    who = {"server_user_name": _user(), "server_host_name": storable(platform.node())}
    when = {"start_timestamp": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}
    insert_row(con, "aggregations", {"id": aggr_id, **who, **when})
    AggregationWriter(con, dictionary, text, numbering).write(aggr_id, aggregation)
    write_aggregated_extensions(con, aggr_id, aggregation, numbering)
    write_iteration_kernels(con, aggr_id, profile.kernels, aggregation, launches, numbering)


def _write_judgement(
    con: sqlite3.Connection, profile: Profile, aggregation: Aggregation, judgement: Judgement, text: Int64s
) -> None:
    profile.coverage.broken_rules += judgement.broken_rules
    write_coverage(con, profile)
    write_feedback(con, 1, judgement.feedback)
    if judgement.diagnosis is not None:
        write_diagnosis(con, judgement.diagnosis)
    if judgement.advice is not None:
        write_device_peaks(con, judgement.advice.efficiency.peaks)
        write_advice(con, 1, profile, aggregation, judgement.advice, text, np.arange(1, len(profile.ops) + 1))


def _user() -> str:
    try:
        return storable(getpass.getuser())
    except (KeyError, OSError, ImportError):  # the user of a container may have no name
        return ""


def _expected_bytes(profile: Profile) -> int:
    """The approximate size of the database, from the measured bytes per row including its share of other tables and
    indexes."""
    work = len(profile.memcpys.op) + len(profile.memsets.op) + len(profile.syncs.op) + len(profile.calls.op)
    instances = len(profile.instances.op)
    events = sum(len(history.in_use_bytes) for history in profile.memory_histories)
    return 200_000 + 150 * len(profile.kernels.op) + 80 * (work + instances) + 12 * events
