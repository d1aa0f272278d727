"""Compares the views of two databases, cell for cell, whatever their ids and the order of their rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

WHO_AND_WHEN = {
    "aggr_start", "aggr_end", "user_name", "host_name", "nsys_version", "dlprof_version", "dlprof_build",
    "original_command", "current_version", "original_version",
}  # fmt: skip
"""Columns that depend on who ran which tool when, not on the profile."""


def read_only(path: Path) -> sqlite3.Connection:
    """A plain connection, as a program that knows nothing of us would open it."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def view_names(con: sqlite3.Connection) -> list[str]:
    """The views that the file itself holds."""
    rows = con.execute("SELECT name FROM sqlite_master WHERE type = 'view' AND name LIKE 'view~_%' ESCAPE '~'")
    return sorted(row[0] for row in rows)


def differences(expected: sqlite3.Connection, actual: sqlite3.Connection) -> dict[str, str]:
    """What differs, by view; empty where every cell agrees."""
    result = {}
    for view in sorted({*view_names(expected), *view_names(actual)}):
        wanted, got = cells(expected, view), cells(actual, view)
        if wanted != got:
            result[view] = (
                f"missing {list((wanted - got).items())[:3]}, not expected {list((got - wanted).items())[:3]}"
            )
    return result


def cells(con: sqlite3.Connection, view: str) -> Counter[tuple[tuple[str, object], ...]]:
    """The rows of a view as named cells, without those of who and when; floats to nine digits."""
    cursor = con.execute(f'SELECT * FROM "{view}"')
    names = [column[0] for column in cursor.description]
    return Counter(
        tuple(
            (name, f"{value:.9g}" if isinstance(value, float) else value)
            for name, value in zip(names, row, strict=True)
            if name not in WHO_AND_WHEN
        )
        for row in cursor
    )
