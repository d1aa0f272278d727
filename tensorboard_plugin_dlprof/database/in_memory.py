"""Small tables in memory, for rows that are computed on request and paged like those of a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any


@contextmanager
def in_memory(
    create: Sequence[str], tables: Iterable[tuple[str, Sequence[Sequence[Any]]]]
) -> Iterator[sqlite3.Connection]:
    """A connection to a database in memory.

    Args:
        create: our own CREATE TABLE statements.
        tables: name of each table, and its rows.
    """
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as con:
        for statement in create:
            con.execute(statement)
        for name, rows in tables:
            if rows:
                con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        yield con
