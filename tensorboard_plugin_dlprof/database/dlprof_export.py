"""Writes a database with DLProf 1.8's own 36 tables, for tools that read these and not its views."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tensorboard_plugin_dlprof.columns.rows import insert_rows
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.sql_files import DLPROF_SCRIPTS, layout_of, run
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.opening.sqlite_file import reading

_ROWS_AT_ONCE = 8_192

_NODES = "kernel_iteration_node"
"""Numbered anew: our view of that name gives each row the id of its kernel."""


def write_dlprof_file(source: Path, target: Path, progress: Callable[[float], None] = lambda _fraction: None) -> None:
    """Write a DLProf 1.8 database.

    Args:
        source: one of our databases; it is only read.
        target: the file to create or to replace.
        progress: called with the fraction of the tables written so far, 0 to 1.

    Raises:
        ProfileError: the source is no database, or damaged; the target cannot be written.
    """
    con = open_database(source)
    layout = layout_of(*DLPROF_SCRIPTS)
    try:
        with reading(con.shown_name, UnfitDatabase), published(target, 2 * source.stat().st_size) as new:
            run(new, *DLPROF_SCRIPTS)
            for number, (table, columns) in enumerate(layout.items()):
                con.authorizer_calls = 0
                wanted = columns[1:] if table == _NODES else columns
                order = "aggr_id, id" if table == _NODES else "id"
                cursor = con.execute(f"SELECT {', '.join(wanted)} FROM {table} ORDER BY {order}")
                while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                    insert_rows(new, table, wanted, rows)
                progress((number + 1) / len(layout))
            run(new, "indexes", "dlprof_work_indexes", "views")
    finally:
        con.close()
