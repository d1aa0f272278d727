"""The SQL texts of the package: ``sql/*.sql``."""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of ``sql/<name>.sql``, in order."""
    found: list[str] = []
    statement = ""
    for line in (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if line.endswith(";\n") and sqlite3.complete_statement(statement):
            found.append(statement.strip())
            statement = ""
    return tuple(found)
