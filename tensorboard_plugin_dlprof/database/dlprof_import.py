"""Carries a database of NVIDIA's DLProf over into our schema: its rows and aggregates as they are, by its own ids."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tensorboard_plugin_dlprof.columns.rows import insert_rows
from tensorboard_plugin_dlprof.database.copying import contradictions_refused, create_tables, mask_command_lines
from tensorboard_plugin_dlprof.database.digest import DIGEST_KEY, NO_DIGEST
from tensorboard_plugin_dlprof.database.lookups import integers
from tensorboard_plugin_dlprof.database.op_patterns import write_op_patterns
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.sql_files import (
    INDEX_SCRIPTS,
    TABLE_SCRIPTS,
    VIEW_SCRIPTS,
    count_rows,
    layout_of,
    run,
)
from tensorboard_plugin_dlprof.database.track_rows import ItemIds
from tensorboard_plugin_dlprof.diagnosis.windows import typical_range
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION, DLPROF_VERSION, EXTENSION_VERSION, VERSION
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.profile.tables import Profile

_ROWS_A_FETCH = 8_192


@contextmanager
def carried_over(con: UntrustedConnection, source: Path, target: Path) -> Iterator[sqlite3.Connection]:
    """A database of ours with the rows of DLProf's, which becomes ``target`` when the block ends without an exception.

    Args:
        con: from ``connection.open_database(source)``, where views have DLProf's rows in our schema.
        source: the database to carry over; it is only read.
        target: the file to create or to replace.

    Raises:
        UnfitDatabase: contradictory rows, such as two with one id.
        OutputNotWritable: the target's folder is missing, read-only or full.
    """
    layout = layout_of(*TABLE_SCRIPTS)
    with published(target, 3 * source.stat().st_size) as new, contradictions_refused(con):
        create_tables(new, may_hold_null=True)
        for table, columns in layout.items():
            con.authorizer_calls = 0
            cursor = con.execute(f"SELECT {', '.join(columns)} FROM {table}")
            while rows := cursor.fetchmany(_ROWS_A_FETCH):
                insert_rows(new, table, columns, rows)
        _write_versions(new)
        mask_command_lines(new)
        yield new
        _write_proposals(new)
        _write_own_feedback(new)
        # DLProf says which ops are eligible; of no op that is unknown.
        new.execute("UPDATE ext_op_efficiency SET eligibility = 'not_eligible' WHERE eligibility = 'unknown'")
        run(new, *INDEX_SCRIPTS, *VIEW_SCRIPTS)
        write_op_patterns(new)
        count_rows(new)


def aggregations_of(con: sqlite3.Connection) -> list[tuple[int, int, int, str | None]]:
    """Of each aggregation: its id, first and last iteration, and key op if there is one."""
    rows = con.execute(
        "SELECT DISTINCT aggr_id, iter_start, iter_stop, key_node_name FROM view_aggregations ORDER BY aggr_id"
    )
    return [(int(number), int(start), int(stop), str(key) if key else None) for number, start, stop, key in rows]


def ids_of_ops(con: sqlite3.Connection) -> Int64s:
    """``read_only_ops.id`` of each row of ``Profile.ops``, in the order of ``reader.read_profile``."""
    return integers(con, "SELECT id FROM read_only_ops ORDER BY id", 1)[0]


def ids_of(con: sqlite3.Connection, profile: Profile) -> ItemIds:
    """The ids of what tracks refer to; ``profile`` is from ``reader.read_profile(con)``."""
    known = {text: number for number, text in con.execute("SELECT id, string FROM dictionary")}
    launches, memcpys, memsets = (
        integers(con, f"SELECT {column} FROM {table} ORDER BY id", 1)[0]
        for table, column in (("kernels", "launch_id"), ("read_only_memcpys", "id"), ("read_only_memsets", "id"))
    )
    texts = np.array([known.get(profile.strings[text], 0) for text in range(len(profile.strings))], np.int64)
    return ItemIds(lambda rows: launches[rows], memcpys, memsets, ids_of_ops(con), texts)


def _write_versions(new: sqlite3.Connection) -> None:
    new.execute("UPDATE db_version SET current_version = ?", (DLPROF_VERSION,))
    facts = {
        "extension_version": EXTENSION_VERSION,
        "importer_version": VERSION,
        "classification_version": CLASSIFICATION_VERSION,
        DIGEST_KEY: NO_DIGEST,
    }
    insert_rows(new, "ext_info", ("key", "value"), [(key, str(value)) for key, value in facts.items()])


def _write_proposals(new: sqlite3.Connection) -> None:
    """Store the typical iterations of each aggregation."""
    for (number,) in new.execute("SELECT DISTINCT aggr_id FROM ext_aggregations").fetchall():
        rows = new.execute(
            "SELECT iter_value, stop_time - start_time FROM iteration_list WHERE aggr_id = ? ORDER BY iter_value",
            (number,),
        )
        known = [row for row in rows.fetchall() if isinstance(row[0], int) and isinstance(row[1], int)]
        result = typical_range([value for value, _ in known], [duration_ns for _, duration_ns in known])
        if result is not None:
            new.execute(
                "UPDATE ext_aggregations SET proposal_start = ?, proposal_stop = ?, proposal_reason = ? "
                "WHERE aggr_id = ?",
                (result.iter_start, result.iter_stop, result.reason, number),
            )


def _write_own_feedback(new: sqlite3.Connection) -> None:
    """Store the sentences of DLProf's detectors behind the findings of our rules, if these have none of them."""
    new.execute(
        "INSERT INTO ext_findings (aggr_id, position, detector, severity, confidence, area, problem, recommendation, "
        "numbers, reasoning, link) SELECT own.aggr_id, 1000000 + own.id, own.exp_sys_id, 'advice', 'low', '', "
        "own.problem, own.recommendation, '{}', '', '' FROM expert_systems_feedback AS own "
        "JOIN ext_verdicts AS ours ON ours.aggr_id = own.aggr_id WHERE own.exp_sys_id NOT IN "
        "(SELECT given.detector FROM ext_findings AS given WHERE given.aggr_id = own.aggr_id)"
    )
