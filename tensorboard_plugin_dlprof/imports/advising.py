"""Findings and efficiency for databases that hold none, such as NVIDIA's: worked out in the worker process when
somebody asks. A failure is no answer: it is remembered for a while only."""

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

_LOG = logging.getLogger(__name__)

SECONDS = 60.0
"""Who waits for a page does not wait longer; a database of a million kernels takes some ten seconds."""

MAX_WAITING = 8
"""Requests that wait for a process, each in a thread of the server; more are put off."""

KEPT = 64
"""Answers, of some ten kilobytes each."""

_MADE = "made.sqlite"

Key = tuple[str, int, int, int]


class Advisor:
    """What one server worked out, remembered until the database changes: findings here, efficiency in the cache.

    Args:
        cache: where the worker process gets a folder of its own.
        memory_bytes: what it may use.
        seconds: how long it may take.
        places: for requests that wait.
        clock: seconds that only grow, by which what failed is tried again.
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

    def findings(
        self,
        database: Path,
        aggregation: int,
        iter_start: int | None,
        iter_stop: int | None,
        key_op: str | None = None,
    ) -> dict[str, Any] | None:
        """The verdict on an aggregation as ``pipeline.judge_database`` gives it; None where none was reached this time.

        What is known is given at once, whatever is being worked out meanwhile.

        Raises:
            QueueFull: too many requests wait.
        """
        try:
            status = database.stat()
        except OSError:
            return None
        key = (os.fspath(database), status.st_mtime_ns, status.st_size, aggregation)
        if (known := self._remembered(key)) is not None:
            return known
        if self._failures.is_paused(key):
            return None
        with self._turn("The rules are already being run on several profiles; try again in a moment."):
            if (known := self._remembered(key)) is not None or self._failures.is_paused(key):
                return known
            job = {"kind": "judge", "iter_start": iter_start, "iter_stop": iter_stop, "key_op": key_op}
            found = self._tried(key, database, job)
            if found is not None:
                self._remember(key, found)
            return found

    def measured(
        self,
        database: Path,
        aggregation: int,
        iter_start: int | None,
        iter_stop: int | None,
        key_op: str | None = None,
        work_out: bool = True,
    ) -> Path | None:
        """The file with the efficiency of an aggregation's ops (``pipeline.measure_database``); none where it cannot be
        worked out, or was not yet and ``work_out`` is false.

        Raises:
            QueueFull: too many requests wait.
        """
        try:
            path = self._cache.measured_path(database, aggregation)
        except OSError:
            return None
        if self._is_made(path) or not work_out or self._failures.is_paused(path):
            return path if path.is_file() else None
        with self._turn("Several profiles are being measured already; try again in a moment."):
            if not self._is_made(path) and not self._failures.is_paused(path):
                about = {"iter_start": iter_start, "iter_stop": iter_stop, "key_op": key_op}
                self._tried(path, database, {"kind": "measure", "aggregation": aggregation, **about}, path)
            return path if path.is_file() else None

    @contextmanager
    def _turn(self, refusal: str) -> Iterator[None]:
        """Waits until no other question is worked out; refuses where too many wait."""
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
        """The result of the job; None where it failed, which ``what`` is then known for."""
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
        """Runs the job; a file that it makes is put in place as ``target``. None where it did not finish."""
        work = self._cache.make_work_folder()
        try:
            made = work / _MADE
            about = {"source": os.path.realpath(database), "database": os.fspath(made)}
            child = Child({**job, **about, "memory_bytes": self._memory_bytes}, work)
            is_late = threading.Event()

            def end() -> None:
                is_late.set()
                child.end()

            alarm = threading.Timer(self._seconds, end)
            alarm.start()
            try:
                outcome = child.listen(lambda _stage, _fraction: None)
            finally:
                alarm.cancel()
            if not outcome.finished:
                reason = "it took too long" if is_late.is_set() else outcome.error or outcome.crash
                _LOG.warning("Nothing was worked out about %s: %s", ascii(database.name), ascii(reason))
                return None
            if target is not None:
                self._cache.publish(made, target)
            return outcome.result
        finally:
            shutil.rmtree(work, ignore_errors=True)
