"""Reads the SQL scripts of the package, ``sql/*.sql``."""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path

_PARTS = {"extensions": ("extensions", "ranks")}
"""Scripts that are read together with others: all tables of our own."""


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of ``sql/<name>.sql`` and its parts, in order.

    Comments before a statement are left out, as SQLite does when it stores the statement."""
    found: list[str] = []
    statement = ""
    texts = ((Path(__file__).parent / "sql" / f"{part}.sql").read_text("utf-8") for part in _PARTS.get(name, (name,)))
    for line in "".join(texts).splitlines(keepends=True):
        if not statement and (line.startswith("--") or line.isspace()):
            continue
        statement += line
        if line.endswith(";\n") and sqlite3.complete_statement(statement):
            found.append(statement.strip())
            statement = ""
    return tuple(found)


NEW_TABLE = "CREATE TABLE "


@cache
def tables(name: str) -> dict[str, bool]:
    """The tables that ``sql/<name>.sql`` creates, and whether the first column of each is an ``id``."""
    words = [statement.split(maxsplit=5) for statement in statements(name) if statement.startswith(NEW_TABLE)]
    return {table: column == "id" for _, _, table, _, column, _ in words}
