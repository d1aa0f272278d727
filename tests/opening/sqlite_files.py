"""SQLite files for the tests of how they are opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted, reading, require_tables, seal

PAGE_BYTES = 4096


def database(path: Path, script: str = "CREATE TABLE work(start INTEGER, name TEXT)") -> Path:
    """A database made by a script."""
    with closing(sqlite3.connect(path)) as con:
        con.executescript(f"PRAGMA page_size={PAGE_BYTES}; {script}")
    return path


def filled(path: Path) -> Path:
    """A database of some ten pages with a known sum."""
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
    return database(
        path, f"CREATE TABLE work(start INTEGER, name TEXT); {rows} INSERT INTO work SELECT i, 'k' || i FROM n"
    )


def read_all(path: Path) -> list[tuple[object, ...]]:
    """What the package does with a file: open, check, seal, read."""
    with closing(open_untrusted(path)) as con, reading("it"):
        require_tables(con, {"work": ("start", "name")})
        seal(con)
        return list(con.execute("SELECT start, name FROM work"))


def truncate(path: Path, size: int) -> None:
    """Cut a file."""
    with path.open("r+b") as file:
        file.truncate(size)
