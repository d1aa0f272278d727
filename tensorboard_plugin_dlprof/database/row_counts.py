"""Stores how many rows every table of a database of ours has: ``dlprof check`` tells with it whether some were lost.

To count ten million rows is to read all of them, so where ids tell their number, they do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tensorboard_plugin_dlprof.database.connection import layout_of
from tensorboard_plugin_dlprof.database.sql_files import tables

_COUNTS = "ext_row_counts"

_SCRIPTS = ("schema", "extensions")
"""Which make tables."""


def count_rows_of_new(con: sqlite3.Connection) -> None:
    """Store the counts of a new database, whose ids count from 1 without gaps. Call it last."""
    numbers = [
        f"('{table}', (SELECT {'coalesce(max(id), 0)' if has_id else 'count(*)'} FROM {table}))"
        for script in _SCRIPTS
        for table, has_id in tables(script).items()
        if table != _COUNTS
    ]
    con.execute(f"INSERT INTO {_COUNTS} VALUES {', '.join(numbers)}")


def count_rows(con: sqlite3.Connection) -> None:
    """Store the counts of any database, row by row."""
    for table, _ in _tables():
        con.execute(f"INSERT INTO {_COUNTS} SELECT ?, count(*) FROM {table}", (table,))


def last_ids(con: sqlite3.Connection) -> dict[str, int]:
    """The largest id of each table, before rows are added that get larger ones."""
    return {table: _last(con, table) for table, columns in _tables() if "id" in columns}


def count_added_rows(con: sqlite3.Connection, before: dict[str, int]) -> None:
    """Store the counts again after rows were added; ``before`` as ``last_ids`` gave it."""
    for table, columns in _tables():
        if table in before:
            added = _last(con, table) - before[table]
            con.execute(f"UPDATE {_COUNTS} SET row_count = row_count + ? WHERE table_name = ?", (added, table))
        elif "aggr_id" in columns or table == "ext_coverage":
            con.execute(
                f"UPDATE {_COUNTS} SET row_count = (SELECT count(*) FROM {table}) WHERE table_name = ?", (table,)
            )


def _tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Our own names, and their columns."""
    for script in _SCRIPTS:
        yield from ((table, columns) for table, columns in layout_of(script).items() if table != _COUNTS)


def _last(con: sqlite3.Connection, table: str) -> int:
    return int(con.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
