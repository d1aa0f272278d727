"""Imports profiles and makes jobs of them, for tests."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.ranks.job_step import Made, make_jobs


def import_into(folder: Path, sources: Iterable[Path], root: Path | None = None) -> None:
    """Import each source into the folder; with ``root``, below it as the source lies below the root."""
    for source in sources:
        target = folder / (source.relative_to(root).parent if root else "")
        target.mkdir(parents=True, exist_ok=True)
        import_source(source, target / database_name(source.name), ImportOptions(), lambda _stage, _fraction: None)


def made_in(folder: Path) -> Made:
    """The only job of the databases below a folder."""
    (made,), unusable = make_jobs(folder, force=True)
    assert not unusable
    return made


def rows(made: Made, query: str) -> list[dict[str, Any]]:
    """Rows of a job's database."""
    with closing(sqlite3.connect(made.database)) as con:
        con.row_factory = sqlite3.Row
        return [dict(row) for row in con.execute(query)]


def answer(made: Made) -> dict[str, Any]:
    """The answer of a job."""
    (row,) = rows(made, "SELECT value FROM job_info WHERE key = 'answer'")
    data: dict[str, Any] = json.loads(row["value"])
    return data
