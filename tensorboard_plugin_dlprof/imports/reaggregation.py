"""Adds and deletes aggregations on demand in the server's copies of databases, one job at a time, in a worker."""

from __future__ import annotations

import copy
import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.jobs import WORK_NAME, Job, JobQueue
from tensorboard_plugin_dlprof.opening.locking import exclusive
from tensorboard_plugin_dlprof.opening.regular_file import Identity, identity_of

MAX_QUEUE = 20
ENDED_SECONDS = 3_600.0
"""Ended jobs are listed this long, so that users can still see the result after a break."""

MAX_ENDED = 200
RACES = 3
"""Attempts at a job. If another server with the same cache changes the copy meanwhile, the job is repeated on the
changed copy."""

_COPY = "copy.sqlite"
_AFTER_CRASH = "Raise --dlprof_memory_limit, or use the command dlprof aggregate."


class Request(msgspec.Struct, frozen=True):
    """A requested change. ``kind`` is ``aggregate``, for which all fields except ``aggregation`` matter, or ``delete``,
    for which only ``aggregation`` does."""

    kind: Literal["aggregate", "delete"]
    iter_start: int | None = None
    iter_stop: int | None = None
    key_op: str | None = None
    candidate: str | None = None
    aggregation: int | None = None


class Subject(msgspec.Struct, frozen=True):
    """A profile's own database, which is never changed, and its name in messages."""

    profile_id: str
    database: Path
    shown_name: str


class ReaggregationJob(Job, eq=False, kw_only=True):
    """The change of a profile's aggregations."""

    job_id: str
    subject: Subject
    request: Request
    aggregation: int | None = None
    """The new aggregation, once it is done."""


class ReaggregationManager:
    """The re-aggregations of one server.

    Args:
        turn: ``ImportManager.turn``, held while a worker process runs.
    """

    def __init__(
        self, cache: Cache, memory_bytes: int, turn: threading.Lock, finished: Callable[[], None] = lambda: None
    ) -> None:
        self._cache = cache
        self._jobs: JobQueue[ReaggregationJob] = JobQueue(
            "aggregation", _AFTER_CRASH, cache, memory_bytes, turn, self._aggregate, finished
        )

    def start(self, subject: Subject, request: Request) -> ReaggregationJob:
        """Queue a job and return it; if an equal one is waiting or running already, return that one.

        Raises:
            QueueFull: Too many jobs are waiting.
        """
        with self._jobs.lock:
            self._forget_old()
            for job in self._jobs.by_key.values():
                if job.is_active and (job.subject, job.request) == (subject, request) and not job.is_cancelled:
                    return copy.copy(job)
            job_id = secrets.token_hex(8)
            job = ReaggregationJob(subject.shown_name, job_id=job_id, subject=subject, request=request)
            return self._jobs.start(job_id, job, MAX_QUEUE)

    def cancel(self, profile_id: str, job_id: str) -> ReaggregationJob | None:
        """End a job or remove it from the queue, and return it; None if the profile has no such job."""
        job = self._jobs.get(job_id)
        return None if job is None or job.subject.profile_id != profile_id else self._jobs.cancel(job_id)

    def jobs(self, profile_id: str) -> list[ReaggregationJob]:
        """The jobs of a profile, oldest first."""
        with self._jobs.lock:
            self._forget_old()
            return [job for job in self._jobs.all().values() if job.subject.profile_id == profile_id]

    def _forget_old(self) -> None:
        ended = [job for job in self._jobs.by_key.values() if job.finished_at is not None]
        surplus = len(ended) - MAX_ENDED
        for number, job in enumerate(ended):
            if number < surplus or time.time() - (job.finished_at or 0.0) > ENDED_SECONDS:
                del self._jobs.by_key[job.job_id]

    def _aggregate(self, job: ReaggregationJob, work: Path) -> str:
        """Change the aggregations in a copy. Returns the error message, empty for none."""
        database, made = job.subject.database, work / _COPY
        job.hidden |= {os.fspath(made): WORK_NAME, os.fspath(database): job.shown_name}
        for _ in range(RACES):
            source = self._cache.newest(database)
            before = _identity(source)
            for path in (source, self._cache.folder):
                job.hidden |= dict.fromkeys((os.fspath(path), os.path.realpath(path)), job.shown_name)
            made.unlink(missing_ok=True)
            order = {"source": os.path.realpath(source), "database": os.fspath(made)}
            outcome = self._jobs.run_worker(job, {**order, **msgspec.structs.asdict(job.request)}, work)
            if not outcome.finished:
                if job.is_cancelled or before == _identity(source):
                    return self._jobs.message_of(outcome)
                continue
            aggregation = int(outcome.result["aggregation"])
            if outcome.result.get("is_new") is not True:
                job.aggregation = aggregation
                return ""
            with exclusive(self._cache.folder):
                if before == _identity(self._cache.newest(database)):
                    self._cache.publish(made, self._cache.copy_path(database))
                    job.aggregation = aggregation
                    return ""
        return "The profile kept changing while it was aggregated; try again."


def _identity(path: Path) -> Identity:
    try:
        return identity_of(path.stat())
    except OSError:
        raise OutputNotWritable("The database of this profile is gone; reload the list of profiles.") from None
