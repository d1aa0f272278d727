"""Reads the SQL scripts of the package, ``sql/*.sql``."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from pathlib import Path

CAPABILITIES = {"extensions": ("diagnosis", "memory", "ranks", "throughput", "timeline")}
"""Scripts with more tables of ours, one for each capability; they count as parts of ``extensions.sql``."""

TABLE_SCRIPTS = ("schema", "work", "extensions")
"""The scripts in ``sql/`` that create the tables of our databases."""

VIEW_SCRIPTS = ("work_views", "views")
"""The scripts that create the views of our databases."""

DLPROF_SCRIPTS = ("schema", "dlprof_work")
"""The scripts that create the tables of DLProf 1.8."""


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of ``sql/<name>.sql`` and of what belongs to it, in order.

    Comments before a statement are left out, as SQLite does when it stores the statement.
    """
    found: list[str] = []
    for script in (name, *CAPABILITIES.get(name, ())):
        statement = ""
        text = (Path(__file__).parent / "sql" / f"{script}.sql").read_text(encoding="utf-8")
        for line in text.splitlines(keepends=True):
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
    """The tables that ``sql/<name>.sql`` creates, and whether each is numbered by an ``id`` from 1."""
    words = [statement.split(maxsplit=5) for statement in statements(name) if statement.startswith(NEW_TABLE)]
    return {table: column == "id" and "PRIMARY KEY" in rest.split(",")[0] for _, _, table, _, column, rest in words}


def indexed_table(statement: str) -> str:
    """The table of one of our CREATE INDEX statements."""
    return re.split(r"\sON\s+", statement, maxsplit=1)[1].split()[0]
