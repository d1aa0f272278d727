"""Stores the number of rows of every table of our databases, by which ``dlprof check`` notices that rows were lost."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.database.sql_files import TABLE_SCRIPTS, layout_of

_COUNTS = "ext_row_counts"


def count_rows(con: sqlite3.Connection) -> None:
    """Store the counts of a database, in place of earlier ones. Call it after all rows are written."""
    con.execute(f"DELETE FROM {_COUNTS}")
    for table in layout_of(*TABLE_SCRIPTS):
        if table != _COUNTS:
            con.execute(f"INSERT INTO {_COUNTS} SELECT ?, count(*) FROM {table}", (table,))


def last_id(con: sqlite3.Connection, table: str) -> int:
    """The largest id in use, 0 in an empty table. ``table`` must be one of our own names, never one from a file."""
    return int(con.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
