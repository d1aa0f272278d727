"""The SQL texts of the package: ``sql/*.sql``."""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib.resources import files


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of ``sql/<name>.sql``, in order."""
    found: list[str] = []
    statement = ""
    for line in (files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement.strip())
            statement = ""
    return tuple(found)
