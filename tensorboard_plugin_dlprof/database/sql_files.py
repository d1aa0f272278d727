"""Reads and runs the SQL scripts of the package, ``sql/*.sql``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

TABLE_SCRIPTS = (
    "info",
    "schema",
    "work",
    "extensions",
    "diagnosis",
    "memory",
    "ranks",
    "throughput",
    "timeline",
)
"""The scripts that create the tables of our databases."""

INDEX_SCRIPTS = ("indexes", "work_indexes")
"""The scripts that create their indexes."""

VIEW_SCRIPTS = ("work_views", "views")
"""The scripts that create their views."""

DLPROF_SCRIPTS = ("schema", "dlprof_work")
"""The scripts that create the tables of DLProf 1.8."""


@cache
def statements(*scripts: str) -> tuple[str, ...]:
    """The statements of ``sql/<script>.sql``, in order.

    Comments before a statement are left out, as SQLite does when it stores the statement.
    """
    complete: list[str] = []
    for script in scripts:
        statement = ""
        text = (Path(__file__).parent / "sql" / f"{script}.sql").read_text(encoding="utf-8")
        for line in text.splitlines(keepends=True):
            if not statement and (line.startswith("--") or line.isspace()):
                continue
            statement += line
            if line.endswith(";\n") and sqlite3.complete_statement(statement):
                complete.append(statement.strip())
                statement = ""
    return tuple(complete)


def run(con: sqlite3.Connection, *scripts: str) -> None:
    """Execute the statements of scripts, within the transaction of the connection if there is one."""
    for statement in statements(*scripts):
        con.execute(statement)


@cache
def layout_of(*scripts: str) -> dict[str, tuple[str, ...]]:
    """The tables that scripts create, each with its columns in order."""
    with closing(sqlite3.connect(":memory:")) as con:
        run(con, *scripts)
        names = [str(row[0]) for row in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            table: tuple(str(row[0]) for row in con.execute("SELECT name FROM pragma_table_info(?)", (table,)))
            for table in names
        }


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
