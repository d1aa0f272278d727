"""Makes a database of ours what NVIDIA's are: without a table of our own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def drop_extensions(database: Path) -> None:
    """Drops every ``ext_*`` table, with its indexes."""
    with closing(sqlite3.connect(database)) as con, con:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ext~_%' ESCAPE '~'"
        for (table,) in con.execute(tables).fetchall():
            con.execute(f"DROP TABLE {table}")
