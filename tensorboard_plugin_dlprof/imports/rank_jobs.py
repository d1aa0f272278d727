"""Makes the job of many ranks on demand: reads of each rank what the job needs, and compares them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

import msgspec

from tensorboard_plugin_dlprof.database.naming import is_database_name
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.jobs import WORK_NAME, Job, JobQueue

MAX_QUEUE = 10

_AFTER_CRASH = "Raise --dlprof_memory_limit, or make the job with the command dlprof import --job."


class RankFile(msgspec.Struct, frozen=True):
    """The source or the database of a rank, and what identifies its content."""

    path: Path
    """Where it was found; its place among the others says which it is."""
    real: Path
    size_bytes: int
    mtime_ns: int
    shown_name: str

    @property
    def is_database(self) -> bool:
        """Whether it was imported already."""
        return is_database_name(self.path.name)


class RankJob(Job, eq=False, kw_only=True):
    """The making of a job."""

    folder: Path
    files: tuple[RankFile, ...]


class RankJobManager:
    """The jobs of many ranks that one server makes.

    Args:
        turn: Held while it runs.
    """

    def __init__(self, cache: Cache, memory_bytes: int, turn: Lock, kernel_rules: str = "") -> None:
        self._cache, self._kernel_rules = cache, kernel_rules
        self._jobs: JobQueue[RankJob] = JobQueue(
            "comparison of ranks", _AFTER_CRASH, cache, memory_bytes, turn, self._make, lambda: None
        )

    def databases(self, folder: Path, files: tuple[RankFile, ...]) -> Iterator[Path]:
        """The databases that were made of these files, of the jobs whose ranks have this folder in common."""
        number = 0
        while (path := self._path(folder, files, number)).is_file():
            yield path
            number += 1

    def start(self, folder: Path, files: tuple[RankFile, ...]) -> None:
        """Queue the making of the job of these files, which are below the folder, unless it is queued or running.

        Raises:
            QueueFull: Too many are waiting, or the system starts no more threads.
        """
        with self._jobs.lock:
            known = self.status(folder, files)
            if known is None or not known.is_active:
                self._jobs.start(self._key(folder, files), RankJob(folder.name, folder=folder, files=files), MAX_QUEUE)

    def cancel(self, folder: Path, files: tuple[RankFile, ...]) -> None:
        """End the making of a job or remove it from the queue. Does nothing if there is none."""
        self._jobs.cancel(self._key(folder, files))

    def status(self, folder: Path, files: tuple[RankFile, ...]) -> RankJob | None:
        """The making of the job of these files; None if none was requested."""
        return self._jobs.get(self._key(folder, files))

    def _key(self, folder: Path, files: tuple[RankFile, ...]) -> str:
        return self._path(folder, files, 0).name

    def _path(self, folder: Path, files: tuple[RankFile, ...], number: int) -> Path:
        versions = [f"{each.real}\0{each.size_bytes}\0{each.mtime_ns}" for each in files]
        return self._cache.job_path(folder, versions, number)

    def _make(self, job: RankJob, work: Path) -> str:
        """Make the databases of a job. Returns the error message, empty for none."""
        # A job is named after its folder.
        folder = work / (job.folder.name or "job")
        job.hidden |= {os.fspath(folder): WORK_NAME}
        job.hidden |= {os.fspath(each.real): each.shown_name for each in job.files}
        order = {
            "kind": "ranks",
            "files": [
                [os.fspath(each.real), os.fspath(each.path.relative_to(job.folder)), each.is_database]
                for each in job.files
            ],
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
                self._cache.publish(database, self._path(common, job.files, number))
        return ""
