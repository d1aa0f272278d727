"""Makes the job of many ranks on demand: reads of each rank what their job needs, and compares them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

import msgspec

from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.jobs import WORK_NAME, Job, JobQueue

MAX_QUEUE = 10

_AFTER_CRASH = "Raise --dlprof_memory_limit, or make the job with the command dlprof import --job."


class RankSource(msgspec.Struct, frozen=True):
    """The file of a rank, which identifies its content."""

    path: Path
    """Where it was found; its place among the others says which it is."""
    real: Path
    size_bytes: int
    mtime_ns: int
    shown_name: str


class RankJob(Job, eq=False, kw_only=True):
    """The making of a job."""

    folder: Path
    sources: tuple[RankSource, ...]


class RankJobManager:
    """The jobs of many ranks that one server makes.

    Args:
        cache: Stores their databases.
        memory_bytes: Memory limit of the process that makes one.
        turn: Held while it runs.
        kernel_rules: Content of the user's file of kernel rules; empty for none.
    """

    def __init__(self, cache: Cache, memory_bytes: int, turn: Lock, kernel_rules: str = "") -> None:
        self._cache, self._kernel_rules = cache, kernel_rules
        self._jobs: JobQueue[RankJob] = JobQueue(
            "comparison of ranks", _AFTER_CRASH, cache, memory_bytes, turn, self._make, lambda: None
        )

    def databases(self, folder: Path, sources: tuple[RankSource, ...]) -> Iterator[Path]:
        """The databases that were made of these sources, of the jobs whose ranks have this folder in common."""
        number = 0
        while (path := self._path(folder, sources, number)).is_file():
            yield path
            number += 1

    def start(self, folder: Path, sources: tuple[RankSource, ...]) -> None:
        """Queue the making of the job of these sources, which are below the folder, unless it is queued or running.

        Raises:
            QueueFull: Too many are waiting, or the system starts no more threads.
        """
        with self._jobs.lock:
            known = self._jobs.get(os.fspath(folder))
            if known is None or not known.is_active:
                job = RankJob(folder.name, folder=folder, sources=sources)
                self._jobs.start(os.fspath(folder), job, MAX_QUEUE)

    def cancel(self, folder: Path) -> None:
        """End the making of a job or remove it from the queue. Does nothing if there is none."""
        self._jobs.cancel(os.fspath(folder))

    def status(self, folder: Path) -> RankJob | None:
        """The making of the job below a folder; None if none was requested."""
        return self._jobs.get(os.fspath(folder))

    def process_id(self) -> int | None:
        """Process id of the running worker; None if there is none."""
        return self._jobs.process_id()

    def _path(self, folder: Path, sources: tuple[RankSource, ...], number: int) -> Path:
        versions = [f"{each.real}\0{each.size_bytes}\0{each.mtime_ns}" for each in sources]
        return self._cache.job_path(folder, versions, number)

    def _make(self, job: RankJob, work: Path) -> str:
        """Make the databases of a job. Returns the error message, empty for none."""
        # A job is named after its folder.
        folder = work / (job.folder.name or "job")
        job.hidden |= {os.fspath(folder): WORK_NAME}
        job.hidden |= {os.fspath(each.real): each.shown_name for each in job.sources}
        order = {
            "kind": "ranks",
            "sources": [[os.fspath(each.real), os.fspath(each.path.relative_to(job.folder))] for each in job.sources],
            "folder": os.fspath(folder),
            "kernel_rules": self._kernel_rules,
        }
        outcome = self._jobs.run_worker(job, order, work)
        if not outcome.finished:
            return self._jobs.message_of(outcome)
        made: dict[Path, list[Path]] = {}
        for database in outcome.result["databases"]:
            made.setdefault((job.folder / database).parent, []).append(folder / database)
        for common, databases in made.items():
            for number, database in enumerate(databases):
                self._cache.publish(database, self._path(common, job.sources, number))
        return ""
