"""Copies databases. The copy has only our own tables, indexes and views, whatever else the original contains.

The original is never written to, and no code in it runs: only its tables are read, and inserted with the same ids.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.database.op_patterns import write_op_patterns
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.sql_files import (
    INDEX_SCRIPTS,
    TABLE_SCRIPTS,
    VIEW_SCRIPTS,
    count_rows,
    layout_of,
    run,
    statements,
)
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.opening.masking import mask_command_line
from tensorboard_plugin_dlprof.opening.regular_file import identity_of, resolved
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection

_ORPHANS = (
    (
        "node_time_metrics",
        "SELECT node_time_metrics_id FROM op_nodes UNION ALL SELECT group_op_time_metrics_id FROM group_ops "
        "UNION ALL SELECT op_type_metrics_id FROM op_type_metrics",
    ),
    ("kernel_time_metrics", "SELECT kernel_time_metrics_id FROM op_nodes"),
    (
        "category_summary",
        "SELECT nodes_total_id FROM model_summary UNION ALL SELECT nodes_tc_eligible_id FROM model_summary "
        "UNION ALL SELECT nodes_using_tc_id FROM model_summary UNION ALL SELECT nodes_other_id FROM model_summary "
        "UNION ALL SELECT kernels_total_id FROM kernel_summary_metrics "
        "UNION ALL SELECT kernels_using_tc_id FROM kernel_summary_metrics "
        "UNION ALL SELECT kernels_non_tc_id FROM kernel_summary_metrics "
        "UNION ALL SELECT memory_time_id FROM memory_summary_metrics",
    ),
    (
        "metric",
        "SELECT cpu_time_metric_id FROM node_time_metrics UNION ALL SELECT gpu_time_metric_id FROM node_time_metrics "
        "UNION ALL SELECT api_time_metric_id FROM node_time_metrics "
        "UNION ALL SELECT cpu_overhead_time_metric_id FROM node_time_metrics "
        "UNION ALL SELECT gpu_idle_time_metric_id FROM node_time_metrics "
        "UNION ALL SELECT api_time_metric_id FROM kernel_time_metrics "
        "UNION ALL SELECT gpu_time_metric_id FROM kernel_time_metrics "
        "UNION ALL SELECT api_time_metric_id FROM kernel_summaries "
        "UNION ALL SELECT gpu_time_metric_id FROM kernel_summaries",
    ),
)
"""Tables without an ``aggr_id``, each with a query for the ids that other tables refer to."""


@contextmanager
def copied(
    con: UntrustedConnection,
    source: Path,
    target: Path,
    progress: Callable[[float], None] = lambda _fraction: None,
    without: int | None = None,
) -> Iterator[sqlite3.Connection]:
    """A copy that can be changed in the block, and becomes ``target`` when the block ends without an exception.

    Args:
        con: from ``connection.open_database(source)``; closed when the block ends without an exception.
        source: the database to copy.
        target: the database to create or to replace; may be ``source``.
        progress: called with the fraction copied so far, 0 to 1.
        without: ``aggr_id`` of an aggregation to leave out. Its row in ``aggregations`` stays, so that its id is not
            used again.

    Raises:
        UnfitDatabase: contradictory rows, such as two with one id; or another process replaced the source meanwhile.
        OutputNotWritable: the target's folder is missing, read-only or full.
    """
    before = identity_of(source.stat())

    def check() -> None:
        if identity_of(source.stat()) != before:
            raise UnfitDatabase(f"{con.shown_name} changed while it was copied; try again.")

    with published(target, 2 * source.stat().st_size, check) as new:
        with contradictions_refused(con):
            _copy_tables(con, new, source, progress, without)
            yield new
            run(new, *INDEX_SCRIPTS, *VIEW_SCRIPTS)
            write_op_patterns(new)
            count_rows(new)
        # Windows cannot replace an open file.
        con.close()


@contextmanager
def contradictions_refused(con: UntrustedConnection) -> Iterator[None]:
    """Turns rows of a database that contradict each other, as its indexes tell, into an ``UnfitDatabase``."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise UnfitDatabase(
            f"{con.shown_name} is damaged: it has contradictory rows, such as two with the same id; make it again."
        ) from None


def _copy_tables(
    con: UntrustedConnection,
    new: sqlite3.Connection,
    source: Path,
    progress: Callable[[float], None],
    without: int | None,
) -> None:
    """Fill an empty database with the rows of another."""
    layout = layout_of(*TABLE_SCRIPTS)
    create_tables(new, may_hold_null=_may_hold_null(con))
    with _attached(new, source):
        for number, (table, names) in enumerate(layout.items()):
            _copy_within(new, table, without if "aggr_id" in names else None)
            progress((number + 1) / len(layout))
    mask_command_lines(new)
    if without is not None:
        for table, used in _ORPHANS:
            new.execute(f"DELETE FROM {table} WHERE id NOT IN ({used})")


def create_tables(new: sqlite3.Connection, *, may_hold_null: bool = False) -> None:
    """Create our tables, without NOT NULL for rows of a foreign file, which may hold it anywhere."""
    for statement in statements(*TABLE_SCRIPTS):
        new.execute(re.sub(r"\s+NOT NULL", "", statement) if may_hold_null else statement)


def _may_hold_null(con: sqlite3.Connection) -> bool:
    """Whether the rows of a database of ours come from a foreign file."""
    (sql,) = con.execute("SELECT sql FROM main.sqlite_master WHERE name = 'dictionary'").fetchone()
    return "NOT NULL" not in str(sql)


@contextmanager
def _attached(new: sqlite3.Connection, source: Path) -> Iterator[None]:
    """Attaches the source as ``old`` to the new database, for reading its tables only.

    ``open_database`` has checked that they are real tables without generated columns; should the file have changed
    since, the authorizer still refuses views and triggers.
    """
    new.execute("ATTACH ? AS old", (f"{resolved(source).as_uri()}?mode=ro&immutable=1",))
    new.execute("PRAGMA trusted_schema = OFF")

    def authorize(action: int, _first: str | None, _second: str | None, database: str | None, inner: str | None) -> int:
        reads = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and inner is None)
        writes = action == sqlite3.SQLITE_INSERT and database == "main" and inner is None
        return sqlite3.SQLITE_OK if reads or writes else sqlite3.SQLITE_DENY

    new.set_authorizer(authorize)
    try:
        yield
    finally:
        # Python 3.10 treats None as an authorizer that fails, and then denies everything.
        new.set_authorizer(lambda *_asked: sqlite3.SQLITE_OK)


def _copy_within(new: sqlite3.Connection, table: str, without: int | None) -> None:
    """Copy a table from the attached ``old``.

    For ``SELECT *`` without a condition, SQLite transfers records without decoding them: ten million kernels take
    seconds instead of half a minute.
    """
    if without is None:
        new.execute(f"INSERT INTO main.{table} SELECT * FROM old.{table}")
    else:
        new.execute(f"INSERT INTO main.{table} SELECT * FROM old.{table} WHERE aggr_id <> ?", (without,))


def mask_command_lines(new: sqlite3.Connection) -> None:
    """Mask secrets: NVIDIA's databases contain the command line as it was typed, including any access tokens."""
    for number, command in new.execute("SELECT id, original_command FROM read_only_system_config").fetchall():
        if isinstance(command, str):
            masked = mask_command_line(command)
            new.execute("UPDATE read_only_system_config SET original_command = ? WHERE id = ?", (masked, number))
