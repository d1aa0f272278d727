"""Adds an aggregation to a copy of a database, or copies a database without one of its aggregations."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.tables import Feedback
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.rows import insert_rows
from tensorboard_plugin_dlprof.database.advice_rows import Advice, write_advice
from tensorboard_plugin_dlprof.database.aggregated_rows import Numbering, write_feedback
from tensorboard_plugin_dlprof.database.connection import opened_database, refuse_other_extensions
from tensorboard_plugin_dlprof.database.copying import copied
from tensorboard_plugin_dlprof.database.coverage import broken_rows
from tensorboard_plugin_dlprof.database.lookups import ids_of, integers
from tensorboard_plugin_dlprof.database.sql_files import last_id
from tensorboard_plugin_dlprof.database.texts import Dictionary
from tensorboard_plugin_dlprof.database.work_rows import stored_launches
from tensorboard_plugin_dlprof.database.writer import write_aggregation
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, UnfitDatabase
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.opening.limited_work import limited
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, reading
from tensorboard_plugin_dlprof.profile.tables import Profile

Copying = Callable[[float], None]


def same_aggregation(con: UntrustedConnection, aggregation: Aggregation) -> int | None:
    """The id of a stored aggregation over the same iterations, found in the same way; None if there is none.

    Raises:
        UnfitDatabase: the database cannot be read.
    """
    iterations, candidate = aggregation.iterations.iter_value, aggregation.candidate
    wanted = (candidate.values, candidate.start_ns, candidate.stop_ns)
    with reading(con.shown_name, UnfitDatabase):
        rows = con.execute(
            "SELECT summary.aggr_id FROM model_summary AS summary JOIN dictionary AS key ON key.id = "
            "summary.key_node_id WHERE summary.iter_start = ? AND summary.iter_stop = ? AND summary.iter_total = ? "
            "AND key.string = ? ORDER BY summary.aggr_id",
            (int(iterations[0]), int(iterations[-1]), len(candidate.values), aggregation.key_op),
        ).fetchall()
        for (number,) in rows:
            # Two ops may have one name, so the iterations themselves decide.
            stored = integers(
                con,
                "SELECT iter_value, start_time, stop_time FROM iteration_list "
                f"WHERE aggr_id = {int(number)} ORDER BY iter_value",
                3,
            )
            if all(np.array_equal(column, other) for column, other in zip(stored, wanted, strict=True)):
                return int(number)
    return None


def add_aggregation(
    source: Path,
    target: Path,
    con: UntrustedConnection,
    profile: Profile,
    aggregation: Aggregation,
    feedback: Sequence[Feedback],
    progress: Copying = lambda _fraction: None,
    advice: Advice | None = None,
) -> int:
    """Copy a database with one more aggregation, and put the copy in place atomically.

    Args:
        source: the database of ours to copy. It is only read.
        target: where the copy goes; if this is ``source``, the copy replaces it.
        con: from ``open_database(source)``; closed afterwards.
        profile: from ``read_profile(con)``.
        feedback: rows of DLProf's detectors for it.
        progress: called with the fraction copied so far, 0 to 1.
        advice: rows for our own tables.

    Returns:
        The id of the new aggregation. Ids of deleted aggregations are not used again.

    Raises:
        UnfitDatabase: the database has several NVTX domains, or contradictory rows such as two with one id.
        OutputNotWritable: the target's folder is missing, read-only or full.
    """
    with reading(con.shown_name, UnfitDatabase), copied(con, source, target, progress) as new:
        numbering = _numbering(con, new, profile)
        dictionary = Dictionary({text: number for number, text in new.execute("SELECT id, string FROM dictionary")})
        aggr_id = last_id(new, "aggregations") + 1
        text = _kernel_names(profile, aggregation, dictionary)
        write_aggregation(new, aggr_id, profile, aggregation, stored_launches(new), dictionary, text, numbering)
        insert_rows(new, "dictionary", ("id", "string"), dictionary.rows())
        write_feedback(new, aggr_id, feedback)
        broken = broken_rows(profile.coverage.broken_rules)
        new.executemany("INSERT OR IGNORE INTO ext_coverage (key, value, message) VALUES (?, ?, ?)", broken)
        if advice is not None:
            write_advice(new, aggr_id, profile, aggregation, advice, text, numbering.ops)
    return aggr_id


@limited
def leave_out_aggregation(source: Path, target: Path, aggr_id: int, progress: Copying = lambda _fraction: None) -> None:
    """Copy a database without one of its aggregations, and put the copy in place atomically.

    Raises:
        NotFound: there is no such aggregation.
        BadRequest: it is the first one, which belongs to the import and cannot be deleted.
        UnfitDatabase, OutputNotWritable: as for ``add_aggregation``.
    """
    with opened_database(source) as con:
        refuse_other_extensions(con)
        known = [row[0] for row in con.execute("SELECT DISTINCT aggr_id FROM model_summary ORDER BY aggr_id")]
        if aggr_id not in known:
            raise NotFound(f"The profile has no aggregation {aggr_id}; it may have been deleted already.")
        if aggr_id == known[0]:
            raise BadRequest(f"Aggregation {aggr_id} is the original one and cannot be deleted.")
        with copied(con, source, target, progress, without=aggr_id):
            pass


def _numbering(con: UntrustedConnection, new: sqlite3.Connection, profile: Profile) -> Numbering:
    domains = [row[0] for row in new.execute("SELECT DISTINCT domain_id FROM read_only_ops")] or [
        row[0] for row in new.execute("SELECT id FROM read_only_domains")
    ]
    if len(domains) != 1:
        raise UnfitDatabase(
            f"{con.shown_name} has {len(domains)} NVTX domains; only one with a single domain can be aggregated again."
        )

    return Numbering(
        ops=ids_of(new, "read_only_ops", len(profile.ops)),
        kernels=ids_of(new, "kernels", len(profile.kernels.op)),
        gpus=integers(new, "SELECT id FROM read_only_gpu_infos ORDER BY id", 1)[0],
        domain=int(domains[0]),
        metrics=last_id(new, "metric"),
        node_times=last_id(new, "node_time_metrics"),
        kernel_times=last_id(new, "kernel_time_metrics"),
        categories=last_id(new, "category_summary"),
    )


def _kernel_names(profile: Profile, aggregation: Aggregation, dictionary: Dictionary) -> Int64s:
    """The ``dictionary.id`` of each id in ``Profile.strings``; 0 unless a kernel of the aggregation has that name."""
    text = np.zeros(len(profile.strings), np.int64)
    for string in distinct_values(aggregation.kernel_summaries.name).tolist():
        text[string] = dictionary.id(profile.strings[string])
    return text
