"""Background jobs of a server: they wait in a queue, and run one after the other, each in a process of its own."""

from __future__ import annotations

import copy
import logging
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import msgspec

from tensorboard_plugin_dlprof.errors import ProfileError, QueueFull
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child, Outcome
from tensorboard_plugin_dlprof.opening.threads import start_thread

_LOG = logging.getLogger(__name__)

WORK_NAME = "the cache folder of the server"
"""Stands in messages for the path of an unfinished database."""

_LOGGED_LETTERS = 4_000


class Job(msgspec.Struct, eq=False):
    """A job, and how far it is. ``fraction`` is of the whole job, 0 to 1; times are seconds since 1970."""

    shown_name: str
    """Name of the file that it is about."""
    state: Literal["queued", "running", "done", "failed", "cancelled"] = "queued"
    message: str = ""
    of_source: bool = False
    """Whether the cause of a failure is the file, not this server."""
    stage: str = "Starting"
    fraction: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None
    is_cancelled: bool = False
    child: Child | None = None
    hidden: dict[str, str] = {}
    """Paths, which users of the page must not see -> what stands for them in messages."""

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")

    @property
    def elapsed_s(self) -> float:
        """Running time in seconds, until now or until the end."""
        return (self.finished_at or time.time()) - self.started_at if self.started_at else 0.0


_Job = TypeVar("_Job", bound=Job)


class JobQueue(Generic[_Job]):
    """The jobs of one kind.

    Args:
        kind: What messages call a job, such as ``import``.
        after_crash: What messages advise after the process of a job has died.
        turn: Held while a job runs.
        work: Does a job, in its work folder, and returns the message of an error, which is empty for none.
    """

    def __init__(
        self,
        kind: str,
        after_crash: str,
        cache: Cache,
        memory_bytes: int,
        turn: AbstractContextManager[Any],
        work: Callable[[_Job, Path], str],
        finished: Callable[[], None],
    ) -> None:
        self._kind, self._after_crash = kind, after_crash
        self._cache, self._memory_bytes = cache, memory_bytes
        self._turn, self._work, self._finished = turn, work, finished
        self.lock = threading.RLock()
        self.by_key: dict[str, _Job] = {}
        """In the order in which they were started; changed by callers who hold ``lock``."""
        self._thread: threading.Thread | None = None

    def start(self, key: str, job: _Job, most: int) -> _Job:
        """Queue a job, in the place of an ended one with this key, and return a copy of it.

        Raises:
            QueueFull: ``most`` jobs are waiting, or the system starts no more threads.
        """
        with self.lock:
            if sum(each.state == "queued" for each in self.by_key.values()) >= most:
                raise QueueFull(f"{most} {self._kind}s are waiting already; try again when some of them are done.")
            if self._thread is None or not self._thread.is_alive():
                self._thread = start_thread(self._run, f"dlprof-{self._kind}")  # which first waits for this lock
            self.by_key.pop(key, None)
            self.by_key[key] = job
            return copy.copy(job)

    def get(self, key: str) -> _Job | None:
        """A copy of a job; None if there is none with this key."""
        with self.lock:
            return copy.copy(self.by_key.get(key))

    def all(self) -> dict[str, _Job]:
        """Copies of all jobs by key, in the order in which they were started."""
        with self.lock:
            return {key: copy.copy(job) for key, job in self.by_key.items()}

    def cancel(self, key: str) -> _Job | None:
        """End a job or remove it from the queue, and return a copy of it; None if there is none with this key."""
        child = None
        with self.lock:
            job = self.by_key.get(key)
            if job is not None and job.is_active:
                job.is_cancelled, child = True, job.child
                if job.state == "queued":
                    self._end(job, "It did not begin.")
        if child is not None:
            child.end()
        return self.get(key)

    def run_worker(self, job: _Job, order: Mapping[str, Any], work: Path, begun: float = 0.0) -> Outcome:
        """Do an order of ``worker`` in a process; ``begun`` is the fraction of the job that was done before."""
        with self.lock:
            if job.is_cancelled:
                return Outcome(False)
            job.child = child = Child({**order, "memory_bytes": self._memory_bytes}, work)
        outcome = child.listen(lambda stage, fraction: self.set_progress(job, stage, begun + (1 - begun) * fraction))
        with self.lock:
            job.child, job.of_source = None, outcome.of_source
        if not outcome.finished and not job.is_cancelled and (outcome.crash or outcome.details):
            name, details = ascii(job.shown_name), ascii(outcome.details[-_LOGGED_LETTERS:])
            _LOG.warning("The %s of %s failed: %s, and wrote %s", self._kind, name, outcome.crash or "error", details)
        return outcome

    def set_progress(self, job: _Job, stage: str, fraction: float) -> None:
        """Say how far a job is."""
        with self.lock:
            job.stage, job.fraction = stage, fraction

    def message_of(self, outcome: Outcome) -> str:
        """The message about a process that failed."""
        return outcome.error or f"{outcome.crash}. {self._after_crash}"

    def _run(self) -> None:
        while True:
            with self.lock:
                job = next((job for job in self.by_key.values() if job.state == "queued"), None)
                if job is None:
                    self._thread = None
                    return
            with self._turn:
                with self.lock:
                    if job.is_cancelled:
                        continue
                    job.state, job.started_at = "running", time.time()
                message = self._message(job)
            with self.lock:
                self._end(job, message)
            self._finished()

    def _end(self, job: _Job, message: str) -> None:
        job.child, job.finished_at = None, time.time()
        if not message:
            job.state, job.fraction = "done", 1.0
        elif job.is_cancelled:
            job.state, job.message = "cancelled", f"The {self._kind} was cancelled."
        else:
            job.state, job.message = "failed", message

    def _message(self, job: _Job) -> str:
        """Do a job. Returns the message of an error, without paths; empty for none."""
        try:
            folder = self._cache.make_work_folder()
            job.hidden[str(folder)] = WORK_NAME
            try:
                message = self._work(job, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        except ProfileError as error:
            message = str(error)
        except Exception:  # noqa: BLE001 - logged, and the next job goes on
            _LOG.exception("The %s of %s failed.", self._kind, ascii(job.shown_name))
            message = f"The {self._kind} failed through an error of the plugin; the log has the details."
        for path in sorted(job.hidden, key=len, reverse=True):
            message = message.replace(path, job.hidden[path])
        return message
