"""Computed rows as a database in memory, so that they are paged, sorted, filtered and exported like any others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

Value = str | int | float | None


def memory_database(tables: Mapping[str, tuple[Sequence[str], Iterable[Sequence[Value]]]]) -> sqlite3.Connection:
    """A database in memory.

    Args:
        tables: by name the columns and the rows. The names are ours; the values may be of any origin.

    Returns:
        A connection that several threads may use one after the other. Each table also has ``rowid``, from 1 in the
        order of the rows.
    """
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    for name, (columns, rows) in tables.items():
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
    connection.commit()
    connection.execute("PRAGMA query_only = 1")
    return connection


def copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy of a database in memory, for another thread."""
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    connection.backup(copy)
    return copy


def saved(connection: sqlite3.Connection, path: Path) -> None:
    """Write a database in memory to a new file, for another process."""
    with closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)


def opened(path: Path) -> sqlite3.Connection:
    """A connection to a file of ``saved``."""
    return sqlite3.connect(path)
