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
from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.database.advice_rows import Advice, write_advice, write_device_peaks
from tensorboard_plugin_dlprof.database.aggregated_rows import (
    AggregationWriter,
    Feedback,
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
    """What the expert system makes of the aggregations; written after them."""

    feedback: Sequence[Sequence[Feedback]] = ()
    """Rows of DLProf's detectors for each aggregation; empty if there are none for any."""
    advice: Sequence[Advice] = ()
    """Efficiency and findings for each aggregation; empty if there are none for any."""
    diagnosis: dict[str, Any] | None = None
    """Of the typical iterations; None if the first aggregation is of others."""
    broken_rules: Sequence[str] = ()
    """Invariants that the numbers violate, as sentences."""


class Results(msgspec.Struct, frozen=True):
    """What is computed from a profile; written after its raw tables."""

    aggregations: Sequence[Aggregation]
    """At least one."""
    judge: Callable[[], Judgement] = Judgement
    """Called after the aggregations are written, so that another process can compute it in the meantime."""


def write_database(
    path: Path,
    source: Path,
    profile: Profile,
    results: Callable[[], Results],
    *,
    profile_name: str = "",
    original_command: str = "",
    identity: SourceIdentity | None = None,
) -> list[str]:
    """Create a database, or replace it, atomically.

    Args:
        path: the database.
        source: the file that the profile was read from.
        profile: the raw tables.
        results: called after the raw tables are written, so that another process can compute them in the meantime.
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
        result = results()
        release_freed()
        _write_aggregations(con, profile, result.aggregations, dictionary, text, launches)
        _write_judgement(con, profile, result, text)
        insert_rows(con, "dictionary", ("id", "string"), dictionary.rows())
        run(con, *INDEX_SCRIPTS, *VIEW_SCRIPTS)
        write_op_patterns(con)
        count_rows(con)
    return warnings(profile)


def _write_aggregations(
    con: sqlite3.Connection,
    profile: Profile,
    aggregations: Sequence[Aggregation],
    dictionary: Dictionary,
    text: Int64s,
    launches: StoredLaunches,
) -> None:
    numbering = fresh_numbering(profile)
    writer = AggregationWriter(con, dictionary, text, numbering)
    for number, aggregation in enumerate(aggregations, start=1):
        write_who_and_when(con, number)
        writer.write(number, aggregation)
        write_aggregated_extensions(con, number, aggregation, numbering)
        write_iteration_kernels(con, number, profile.kernels, aggregation, launches, numbering)
    writer.finish()


def _write_judgement(con: sqlite3.Connection, profile: Profile, results: Results, text: Int64s) -> None:
    result = results.judge()
    profile.coverage.broken_rules += result.broken_rules
    write_coverage(con, profile)
    for number, feedback in enumerate(result.feedback, start=1):
        write_feedback(con, number, feedback)
    if result.diagnosis is not None:
        write_diagnosis(con, result.diagnosis)
    if result.advice:
        write_device_peaks(con, result.advice[0].efficiency.peaks)
    for number, (aggregation, advice) in enumerate(zip(results.aggregations, result.advice, strict=False), start=1):
        write_advice(con, number, profile, aggregation, advice, text, np.arange(1, len(profile.ops) + 1))


def write_who_and_when(con: sqlite3.Connection, aggr_id: int) -> None:
    """Store the row in ``aggregations``: user, host and time of the aggregation."""
    who = {"server_user_name": _user(), "server_host_name": storable(platform.node())}
    insert_row(con, "aggregations", {"id": aggr_id, **who, "start_timestamp": f"{datetime.now():%Y-%m-%d %H:%M:%S}"})


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
