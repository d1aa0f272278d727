"""What a command has left."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from tests.database.views import read_only


def names(folder: Path) -> set[str]:
    """Files without the event file."""
    return {path.name for path in folder.iterdir() if "tfevents" not in path.name}


def rows(database: Path, sql: str) -> list[Any]:
    """What a program that knows nothing of us would read."""
    with closing(read_only(database)) as connection:
        return connection.execute(sql).fetchall()
