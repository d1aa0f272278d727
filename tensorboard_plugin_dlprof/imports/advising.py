"""Imports NVIDIA's databases, and diagnoses, in worker processes on request.

Results are kept. Anybody may write a database that takes for ever, so nobody waits long for the databases of others: a
first attempt is short and has many places, a second one takes its time, one after the other. Requests are told after a
moment that the work goes on, and ask again.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.database.connection import is_foreign
from tensorboard_plugin_dlprof.errors import ProfileError, QueueFull
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child, Outcome
from tensorboard_plugin_dlprof.imports.lru_cache import LruCache
from tensorboard_plugin_dlprof.opening.threads import start_thread

FIRST_PAUSE_SECONDS = 5.0
"""Short, because some causes soon pass, such as a file that is being written or a full disk."""

LONGEST_PAUSE_SECONDS = 1_800.0
"""Long, because each attempt at a lasting failure may occupy a process for a minute."""

MAX_FAILURES = 1_000
"""Most failures that are remembered."""


class Failures:
    """Remembers failures and pauses after them. Each pause is twice as long as the previous one, up to a limit.

    Args:
        clock: A monotonic clock in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pauses: LruCache[Hashable, tuple[float, float]] = LruCache(MAX_FAILURES)
        """Length and end of each pause in seconds."""

    def is_paused(self, what: Hashable) -> bool:
        """Whether ``what`` failed too recently to be tried again."""
        pause = self._pauses.get(what)
        return pause is not None and self._clock() < pause[1]

    def add(self, what: Hashable, is_lasting: bool = False) -> None:
        """Record a failure of ``what``; if its cause is lasting, with the longest pause at once."""
        before, _end = self._pauses.get(what) or (0.0, 0.0)
        pause = (
            LONGEST_PAUSE_SECONDS if is_lasting else min(max(2 * before, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
        )
        self._pauses.put(what, (pause, self._clock() + pause))

    def clear(self, what: Hashable) -> None:
        """Record a success of ``what``, which forgets its failures."""
        self._pauses.put(what, (0.0, 0.0))


_LOG = logging.getLogger(__name__)

QUICK_SECONDS, QUICK_PLACES = 5.0, 4
"""Time limit of a first attempt, and how many there are at once. Most databases take a second."""

SECONDS = 60.0
"""Time limit of a second attempt, of which there is one at once. A database of a million kernels takes some ten
seconds."""

WAIT_SECONDS = 2.0
"""How long a request waits before it is told to ask again."""

MAX_JOBS = 32
"""Most jobs that run or wait, each in a thread of the server; further ones are refused."""

MAX_SECOND_ATTEMPTS = 8
"""Most jobs that run or wait for a second attempt; further ones fail, so that they take no places of first attempts."""

MAX_VERDICTS = 64
"""Most verdicts that are kept, of some ten kilobytes each."""

_MADE = "made.sqlite"
_TOO_LONG = "it took too long"

Key = tuple[str, int, int, str]
"""Path, modification time and size of a database, and what of it was worked out."""


class _Job(msgspec.Struct):
    """A job for ``worker``, whose result goes to ``target`` if it is a file."""

    what: Key | Path
    database: Path
    order: dict[str, Any]
    target: Path | None = None
    is_done: threading.Event = msgspec.field(default_factory=threading.Event)


class Advisor:
    """What one server worked out about databases. It is kept until they change: diagnoses in memory, imports in the
    cache folder.

    Args:
        memory_bytes: Memory limit of a worker process in its second attempt; that of all first attempts together.
        seconds: Time limits of the first and second attempt.
        wait_seconds: How long a request waits; None for as long as it takes.
        clock: A monotonic clock in seconds, for the pauses after failures.
    """

    def __init__(
        self,
        cache: Cache,
        memory_bytes: int,
        seconds: tuple[float, float] = (QUICK_SECONDS, SECONDS),
        wait_seconds: float | None = WAIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cache = cache
        self._memory_bytes = memory_bytes
        self.seconds = seconds
        self.wait_seconds = wait_seconds
        self._quick = threading.BoundedSemaphore(QUICK_PLACES)
        self._thorough = threading.Lock()
        self._second_attempts = threading.BoundedSemaphore(MAX_SECOND_ATTEMPTS)
        self._lock = threading.Lock()
        self._jobs: dict[Key | Path, _Job] = {}
        self._known: LruCache[Key, dict[str, Any]] = LruCache(MAX_VERDICTS)
        self._failures = Failures(clock)

    def diagnosis(self, database: Path, positions: tuple[int, int] | None) -> dict[str, Any] | None:
        """Where the time goes, as ``pipeline.diagnose_source`` returns it; None after a failure.

        Args:
            positions: First and last position of the iterations that means are of; None for the typical ones.

        Raises:
            QueueFull: It is being worked out, or too much else is.
        """
        try:
            status = database.stat()
        except OSError:
            return None
        key = (os.fspath(database), status.st_mtime_ns, status.st_size, f"diagnosis {positions}")
        if (known := self._known.get(key)) is not None:
            return known
        self._wait_for(_Job(key, database, {"kind": "diagnose", "positions": positions}))
        return self._known.get(key)

    def in_our_schema(self, database: Path) -> Path:
        """The database itself if it is ours, else what it was imported into; the database after a failure.

        Raises:
            QueueFull: It is being imported, or too many others are.
        """
        try:
            status = database.stat()
        except OSError:
            return database
        if not _is_foreign(database, status.st_mtime_ns, status.st_size):
            return database
        path = self._cache.path(database, status.st_size, status.st_mtime_ns)
        if path.is_file():
            self._cache.touch(path)
            return path
        self._wait_for(_Job(path, database, {"kind": "carry_over"}, path))
        return path if path.is_file() else database

    def is_read(self, database: Path) -> bool:
        """Whether ``in_our_schema`` has an answer without importing the database."""
        try:
            status = database.stat()
        except OSError:
            return False
        if not _is_foreign(database, status.st_mtime_ns, status.st_size):
            return True
        return self._cache.path(database, status.st_size, status.st_mtime_ns).is_file()

    def _wait_for(self, job: _Job) -> None:
        """Start the job unless it runs, or failed too recently, and wait for its end; raises as ``in_our_schema``."""
        with self._lock:
            running = self._jobs.get(job.what)
            if running is None:
                if self._failures.is_paused(job.what):
                    return
                if len(self._jobs) >= MAX_JOBS:
                    raise QueueFull("Many profiles are being read already; try again in a moment.")
                start_thread(partial(self._run, job), "dlprof-advice")  # which ends with this lock
                running = self._jobs[job.what] = job
        if not running.is_done.wait(self.wait_seconds):
            raise QueueFull("This profile is being read for the first time; try again in a moment.")

    def _run(self, job: _Job) -> None:
        """Do a job, and record its result or its failure."""
        try:
            outcome = self._attempts(job)
        except (OSError, ProfileError) as error:
            outcome = Outcome(False, error=str(error))
        with self._lock:
            if outcome.finished:
                self._failures.clear(job.what)
                if not isinstance(job.what, Path):
                    self._known.put(job.what, outcome.result)
            else:
                reason = outcome.error or outcome.crash
                _LOG.warning("Nothing was worked out about %s: %s", ascii(job.database.name), ascii(reason))
                self._failures.add(job.what, is_lasting=reason == _TOO_LONG)
            del self._jobs[job.what]
        job.is_done.set()

    def _attempts(self, job: _Job) -> Outcome:
        quick, thorough = self.seconds
        with self._quick:
            outcome = self._attempt(job, quick, self._memory_bytes // QUICK_PLACES)
        if outcome.finished or outcome.of_source:
            return outcome
        if not self._second_attempts.acquire(blocking=False):
            return Outcome(False, error="too many others take long")
        try:
            with self._thorough:
                return self._attempt(job, thorough, self._memory_bytes)
        finally:
            self._second_attempts.release()

    def _attempt(self, job: _Job, seconds: float, memory_bytes: int) -> Outcome:
        """Run a worker process, and move the file that it makes to the target."""
        work = self._cache.make_work_folder()
        try:
            made = work / _MADE
            about = {"source": os.path.realpath(job.database), "database": os.fspath(made)}
            outcome = Child({**job.order, **about, "memory_bytes": memory_bytes}, work).listen_for(seconds)
            if outcome.finished and job.target is not None:
                self._cache.publish(made, job.target)
            return Outcome(False, error=_TOO_LONG) if outcome.is_ended and not outcome.finished else outcome
        finally:
            shutil.rmtree(work, ignore_errors=True)


@lru_cache(maxsize=1_000)
def _is_foreign(database: Path, _mtime_ns: int, _size_bytes: int) -> bool:
    """``is_foreign`` of one version of a database."""
    return is_foreign(database)
