"""Adds and deletes aggregations on demand in the server's copies of databases, one job at a time, in a worker."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from tensorboard_plugin_dlprof.errors import OutputNotWritable, ProfileError, QueueFull
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child, Outcome
from tensorboard_plugin_dlprof.imports.manager import WORK_NAME
from tensorboard_plugin_dlprof.opening.locking import exclusive
from tensorboard_plugin_dlprof.opening.threads import start_thread

_LOG = logging.getLogger(__name__)

MAX_QUEUE = 20
ENDED_SECONDS = 3_600.0
"""Ended jobs are listed this long, so that users can still see the result after a break."""

MAX_ENDED = 200
RACES = 3
"""Attempts at a job. If another server with the same cache changes the copy meanwhile, the job is repeated on the
changed copy."""

_COPY = "copy.sqlite"


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


class Job(msgspec.Struct):
    """``state`` is queued, running, done, failed or cancelled. ``fraction`` is of the whole job, times since 1970."""

    job_id: str
    subject: Subject
    request: Request
    state: Literal["queued", "running", "done", "failed", "cancelled"] = "queued"
    message: str = ""
    stage: str = "Starting"
    fraction: float = 0.0
    aggregation: int | None = None
    started_at: float | None = None
    finished_at: float | None = None

    @property
    def elapsed_s(self) -> float:
        """Running time in seconds, until now or until the end."""
        return (self.finished_at or time.time()) - self.started_at if self.started_at else 0.0


class _Running(Job):
    """A job with the manager's internal state; callers get copies without it."""

    child: Child | None = None
    cancelled: bool = False

    def job(self) -> Job:
        return Job(*(getattr(self, field) for field in Job.__struct_fields__))


class ReaggregationManager:
    """The re-aggregations of one server.

    Args:
        cache: Stores the copies.
        memory_bytes: Memory limit of a job.
        turn: ``ImportManager.turn``, held while a worker process runs.
        finished: Called after every job.
    """

    def __init__(
        self, cache: Cache, memory_bytes: int, turn: threading.Lock, finished: Callable[[], None] = lambda: None
    ) -> None:
        self._cache = cache
        self._memory_bytes = memory_bytes
        self._turn = turn
        self._finished = finished
        self._lock = threading.Lock()
        self._jobs: dict[str, _Running] = {}
        self._thread: threading.Thread | None = None

    def start(self, subject: Subject, request: Request) -> Job:
        """Queue a job and return it; if an equal one is waiting or running already, return that one.

        Raises:
            QueueFull: Too many jobs are waiting.
        """
        with self._lock:
            self._forget_old()
            waiting = [job for job in self._jobs.values() if job.state in ("queued", "running")]
            for job in waiting:
                if (job.subject, job.request) == (subject, request) and not job.cancelled:
                    return job.job()
            if len(waiting) >= MAX_QUEUE:
                raise QueueFull(f"{MAX_QUEUE} aggregations are waiting already; try again when some of them are done.")
            if self._thread is None or not self._thread.is_alive():
                self._thread = start_thread(self._run, "dlprof-aggregate")  # which first waits for this lock
            job = _Running(secrets.token_hex(8), subject, request)
            self._jobs[job.job_id] = job
            return job.job()

    def cancel(self, profile_id: str, job_id: str) -> Job | None:
        """End a job or remove it from the queue, and return it; None if the profile has no such job."""
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or job.subject.profile_id != profile_id:
                return None
            child = None
            if job.state in ("queued", "running"):
                job.cancelled, child = True, job.child
            if job.state == "queued":
                job.state, job.message, job.finished_at = "cancelled", "The aggregation was cancelled.", time.time()
        if child is not None:
            child.end()
        with self._lock:
            return job.job()

    def jobs(self, profile_id: str) -> list[Job]:
        """The jobs of a profile, oldest first."""
        with self._lock:
            self._forget_old()
            return [job.job() for job in self._jobs.values() if job.subject.profile_id == profile_id]

    def process_id(self) -> int | None:
        """Process id of the running worker; None if there is none."""
        with self._lock:
            children = [job.child for job in self._jobs.values() if job.child is not None]
        return children[0].process_id if children else None

    def _forget_old(self) -> None:
        ended = [job for job in self._jobs.values() if job.finished_at is not None]
        surplus = len(ended) - MAX_ENDED
        for number, job in enumerate(ended):
            if number < surplus or time.time() - (job.finished_at or 0.0) > ENDED_SECONDS:
                del self._jobs[job.job_id]

    def _run(self) -> None:
        while True:
            with self._lock:
                job = next((job for job in self._jobs.values() if job.state == "queued"), None)
                if job is None:
                    self._thread = None
                    return
            with self._turn:
                with self._lock:
                    if job.cancelled:
                        continue
                    job.state, job.started_at = "running", time.time()
                message = self._message_of(job)
            with self._lock:
                job.child, job.finished_at = None, time.time()
                if job.aggregation is not None:
                    job.state, job.fraction = "done", 1.0
                elif job.cancelled:
                    job.state, job.message = "cancelled", "The aggregation was cancelled."
                else:
                    job.state, job.message = "failed", message
            self._finished()

    def _message_of(self, job: _Running) -> str:
        """Do the job. Returns the error message, empty for none."""
        try:
            return self._work(job)
        except ProfileError as error:
            return _without_paths(str(error), job.subject)
        except Exception:  # noqa: BLE001 - logged, and the next job goes on
            _LOG.exception("The aggregation of %s failed.", ascii(job.subject.shown_name))
            return "The aggregation failed through an error of the plugin; the log has the details."

    def _work(self, job: _Running) -> str:
        work = self._cache.make_work_folder()
        try:
            for _ in range(RACES):
                source = self._cache.newest(job.subject.database)
                before = _identity(source)
                outcome = self._outcome(job, source, work)
                if job.cancelled:
                    return ""
                if not outcome.finished:
                    if before != _identity(source):
                        continue
                    return self._sentence(job, outcome, work)
                if outcome.result.get("is_new") is not True:
                    job.aggregation = int(outcome.result["aggregation"])
                    return ""
                with exclusive(self._cache.folder):
                    if before == _identity(self._cache.newest(job.subject.database)):
                        self._cache.publish(work / _COPY, self._cache.copy_path(job.subject.database))
                        job.aggregation = int(outcome.result["aggregation"])
                        return ""
            return "The profile kept changing while it was aggregated; try again."
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _outcome(self, job: _Running, source: Path, work: Path) -> Outcome:
        (work / _COPY).unlink(missing_ok=True)
        with self._lock:
            if job.cancelled:
                return Outcome(False)
            order = {
                "source": os.path.realpath(source),
                "database": os.fspath(work / _COPY),
                "memory_bytes": self._memory_bytes,
                **msgspec.structs.asdict(job.request),
            }
            job.child = child = Child(order, work)
        outcome = child.listen(lambda stage, fraction: self._progress(job, stage, fraction))
        with self._lock:
            job.child = None
        if outcome.crash and not job.cancelled:
            _LOG.warning("%s while it aggregated %s.", outcome.crash, ascii(job.subject.shown_name))
        return outcome

    def _progress(self, job: _Running, stage: str, fraction: float) -> None:
        with self._lock:
            job.stage, job.fraction = stage, fraction

    def _sentence(self, job: _Running, outcome: Outcome, work: Path) -> str:
        if outcome.details:
            name, details = ascii(job.subject.shown_name), ascii(outcome.details[-4_000:])
            _LOG.warning("The aggregation of %s wrote: %s", name, details)
        if outcome.crash:
            return f"{outcome.crash}. Raise --dlprof_memory_limit, or use the command dlprof aggregate."
        error = outcome.error.replace(os.fspath(work / _COPY), WORK_NAME).replace(os.fspath(work), WORK_NAME)
        for path in (self._cache.newest(job.subject.database), self._cache.folder):
            for spelling in (os.path.realpath(path), os.fspath(path)):
                error = error.replace(spelling, job.subject.shown_name)
        return _without_paths(error, job.subject)


def _without_paths(message: str, subject: Subject) -> str:
    """The message with the file's name in place of its path, which users of the page must not see."""
    return message.replace(os.fspath(subject.database), subject.shown_name)


def _identity(path: Path) -> tuple[int, int, int, int]:
    try:
        status = path.stat()
    except OSError:
        raise OutputNotWritable("The database of this profile is gone; reload the list of profiles.") from None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
