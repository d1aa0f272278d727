"""Stores the number of rows of every table of our databases, by which ``dlprof check`` notices that rows were lost.

Counting ten million rows means reading them all, so where ids are dense, the largest id gives the count.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tensorboard_plugin_dlprof.database.connection import layout_of
from tensorboard_plugin_dlprof.database.sql_files import TABLE_SCRIPTS, tables

_COUNTS = "ext_row_counts"


def count_rows_of_new(con: sqlite3.Connection) -> None:
    """Store the counts of a new database, whose ids run from 1 without gaps. Call it after all rows are written."""
    numbers = [
        f"('{table}', (SELECT {'coalesce(max(id), 0)' if has_id else 'count(*)'} FROM {table}))"
        for script in TABLE_SCRIPTS
        for table, has_id in tables(script).items()
        if table != _COUNTS
    ]
    con.execute(f"INSERT INTO {_COUNTS} VALUES {', '.join(numbers)}")


def count_rows(con: sqlite3.Connection) -> None:
    """Store the counts of a database whose ids may have gaps, by reading all rows."""
    for table, _ in _tables():
        con.execute(f"INSERT INTO {_COUNTS} SELECT ?, count(*) FROM {table}", (table,))


def last_ids(con: sqlite3.Connection) -> dict[str, int]:
    """The largest id of each table that has ids. Pass it to ``count_added_rows`` once rows were added."""
    return {table: last_id(con, table) for table, columns in _tables() if "id" in columns}


def last_id(con: sqlite3.Connection, table: str) -> int:
    """The largest id in use, 0 in an empty table. ``table`` must be one of our own names, never one from a file."""
    return int(con.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])


def count_added_rows(con: sqlite3.Connection, before: dict[str, int]) -> None:
    """Update the stored counts after rows were added; ``before`` is what ``last_ids`` returned earlier."""
    for table, columns in _tables():
        if table in before:
            added = last_id(con, table) - before[table]
            con.execute(f"UPDATE {_COUNTS} SET row_count = row_count + ? WHERE table_name = ?", (added, table))
        elif "aggr_id" in columns or table == "ext_coverage":
            con.execute(
                f"UPDATE {_COUNTS} SET row_count = (SELECT count(*) FROM {table}) WHERE table_name = ?", (table,)
            )


def _tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every counted table, with its columns."""
    return ((table, columns) for table, columns in layout_of(*TABLE_SCRIPTS).items() if table != _COUNTS)
