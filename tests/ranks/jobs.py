"""Imports profiles and makes jobs of them, for tests."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_ranks_of, import_source
from tensorboard_plugin_dlprof.ranks.job_step import Made, make_jobs
from tensorboard_plugin_dlprof.samples.job import Plan, write_job

Edit = Callable[[int, dict[str, Any]], dict[str, Any]]
"""What a test does to the trace of a rank before it is imported."""


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


def imported(folder: Path, plan: Plan, edit: Edit = lambda _rank, trace: trace) -> Path:
    """The folder with the imported ranks of a job, whose traces were edited before."""
    for rank, path in enumerate(write_job(plan, folder / "job")):
        trace = edit(rank, json.loads(gzip.decompress(path.read_bytes())))
        path.write_bytes(gzip.compress(json.dumps(trace).encode(), 1))
        if trace:
            target = path.with_name(f"{path.name.partition('.')[0]}.dlprof_rank.sqlite")
            import_ranks_of(path, target, ImportOptions(), lambda _stage, _fraction: None)
    return folder / "job"


def kernels(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The communication kernels of a trace."""
    return [event for event in trace["traceEvents"] if event["cat"] == "kernel" and event["name"].startswith("nccl")]
