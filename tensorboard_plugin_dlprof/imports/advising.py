"""Imports NVIDIA's databases, and diagnoses, in a worker process on request.

Results are kept. After a failure, there is no result, and a request some time later tries again.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.errors import ProfileError, QueueFull
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child
from tensorboard_plugin_dlprof.imports.failures import Failures
from tensorboard_plugin_dlprof.opening.threads import start_thread

_LOG = logging.getLogger(__name__)

SECONDS = 60.0
"""Time limit of a job, because users do not wait longer for a page. A database of a million kernels takes some ten
seconds."""

MAX_WAITING = 8
"""Most requests that wait for a worker process, each in a thread of the server; further ones are refused."""

KEPT = 64
"""Most verdicts that are kept, of some ten kilobytes each."""

_MADE = "made.sqlite"

Key = tuple[str, int, int, str]
"""Path, modification time and size of a database, and what of it was worked out."""


class Advisor:
    """What one server worked out about databases. It is kept until they change: diagnoses in memory, imports in the
    cache folder.

    Args:
        cache: Provides work folders for the worker process.
        memory_bytes: Memory limit of the worker process.
        seconds: Time limit of a job.
        places: Most requests that wait at once.
        clock: A monotonic clock in seconds, for the pauses after failures.
    """

    def __init__(
        self,
        cache: Cache,
        memory_bytes: int,
        seconds: float = SECONDS,
        places: int = MAX_WAITING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cache = cache
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._places = threading.BoundedSemaphore(places)
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, dict[str, Any]] = OrderedDict()
        self._failures = Failures(clock)
        self._foreign: dict[tuple[str, int, int], bool] = {}

    def diagnosis(self, database: Path, chosen: tuple[int, int] | None) -> dict[str, Any] | None:
        """Where the time goes, as ``pipeline.diagnose_source`` returns it; None after a failure.

        Args:
            database: The database.
            chosen: First and last position of the iterations that means are of; None for the typical ones.

        Raises:
            QueueFull: Too many requests are waiting.
        """
        return self._kept_in_memory(database, f"diagnosis {chosen}", {"kind": "diagnose", "chosen": chosen})

    def _kept_in_memory(self, database: Path, what: str, job: dict[str, Any]) -> dict[str, Any] | None:
        """The result of a job, from memory if it is known."""
        try:
            status = database.stat()
        except OSError:
            return None
        key = (os.fspath(database), status.st_mtime_ns, status.st_size, what)
        if (known := self._remembered(key)) is not None:
            return known
        if self._failures.is_paused(key):
            return None
        with self._turn("Several profiles are being looked into already; try again in a moment."):
            if (known := self._remembered(key)) is not None or self._failures.is_paused(key):
                return known
            found = self._tried(key, database, job)
            if found is not None:
                self._remember(key, found)
            return found

    def in_our_schema(self, database: Path) -> Path:
        """The database itself if it is ours, else what it was imported into; the database after a failure.

        Raises:
            QueueFull: Too many requests are waiting.
        """
        try:
            status = database.stat()
        except OSError:
            return database
        identity = (os.fspath(database), status.st_mtime_ns, status.st_size)
        if identity not in self._foreign:
            from tensorboard_plugin_dlprof.database.connection import is_foreign

            self._foreign[identity] = is_foreign(database)
        if not self._foreign[identity]:
            return database
        path = self._cache.path(database, status.st_size, status.st_mtime_ns)
        if not self._is_made(path) and not self._failures.is_paused(path):
            with self._turn("Several profiles are being imported already; try again in a moment."):
                if not self._is_made(path) and not self._failures.is_paused(path):
                    self._tried(path, database, {"kind": "carry_over"}, path)
        return path if path.is_file() else database

    @contextmanager
    def _turn(self, refusal: str) -> Iterator[None]:
        """Wait until no other job runs; raises ``QueueFull`` if too many requests are waiting."""
        if not self._places.acquire(blocking=False):
            raise QueueFull(refusal)
        try:
            with self._one_at_a_time:
                yield
        finally:
            self._places.release()

    def _is_made(self, path: Path) -> bool:
        if not path.is_file():
            return False
        self._cache.touch(path)
        return True

    def _remembered(self, key: Key) -> dict[str, Any] | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def _remember(self, key: Key, found: dict[str, Any]) -> None:
        with self._lock:
            self._known[key] = found
            while len(self._known) > KEPT:
                self._known.popitem(last=False)

    def _tried(
        self, what: Key | Path, database: Path, job: dict[str, Any], target: Path | None = None
    ) -> dict[str, Any] | None:
        """The result of the job; None if it failed, which is then recorded for ``what``."""
        try:
            result = self._work_out(database, job, target)
        except (OSError, ProfileError) as error:
            _LOG.warning("Nothing was worked out about %s: %s", ascii(database.name), ascii(str(error)))
            result = None
        if result is None:
            self._failures.add(what)
        else:
            self._failures.clear(what)
        return result

    def _work_out(self, database: Path, job: dict[str, Any], target: Path | None) -> dict[str, Any] | None:
        """Run the job, and move the file that it makes to ``target``. Returns None if it did not finish."""
        work = self._cache.make_work_folder()
        try:
            made = work / _MADE
            about = {"source": os.path.realpath(database), "database": os.fspath(made)}
            child = Child({**job, **about, "memory_bytes": self._memory_bytes}, work)
            is_done, is_late = threading.Event(), threading.Event()

            def end_late() -> None:
                if not is_done.wait(self._seconds):
                    is_late.set()
                    child.end()

            try:
                start_thread(end_late, "dlprof-advice")
                outcome = child.listen(lambda _stage, _fraction: None)
            except QueueFull:
                child.end()
                raise
            finally:
                is_done.set()
            if not outcome.finished:
                reason = "it took too long" if is_late.is_set() else outcome.error or outcome.crash
                _LOG.warning("Nothing was worked out about %s: %s", ascii(database.name), ascii(reason))
                return None
            if target is not None:
                self._cache.publish(made, target)
            return outcome.result
        finally:
            shutil.rmtree(work, ignore_errors=True)
