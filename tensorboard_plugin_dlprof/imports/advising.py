"""Findings and efficiency for databases that hold none, such as NVIDIA's: worked out in the worker process when
somebody asks."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child, Outcome
from tensorboard_plugin_dlprof.imports.reaggregation import QueueFull

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
    """

    def __init__(self, cache: Cache, memory_bytes: int, seconds: float = SECONDS, places: int = MAX_WAITING) -> None:
        self._cache = cache
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._places = threading.BoundedSemaphore(places)
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, dict[str, Any]] = OrderedDict()
        self._failed: OrderedDict[Path, None] = OrderedDict()

    def findings(
        self,
        database: Path,
        aggregation: int,
        iter_start: int | None,
        iter_stop: int | None,
        key_op: str | None = None,
    ) -> dict[str, Any]:
        """The verdict on an aggregation as ``pipeline.judge_database`` gives it; empty where none was reached.

        What is known is given at once, whatever is being worked out meanwhile.

        Raises:
            QueueFull: too many requests wait.
        """
        try:
            status = database.stat()
        except OSError:
            return {}
        key = (os.fspath(database), status.st_mtime_ns, status.st_size, aggregation)
        if (known := self._remembered(key)) is not None:
            return known
        if not self._places.acquire(blocking=False):
            raise QueueFull("The rules are being asked about several profiles already; try again in a moment.")
        try:
            with self._one_at_a_time:
                if (known := self._remembered(key)) is not None:
                    return known
                job = {"kind": "judge", "iter_start": iter_start, "iter_stop": iter_stop, "key_op": key_op}
                found = self._work_out(database, job).result
                self._remember(key, found)
                return found
        except (OSError, ProfileError):
            return {}
        finally:
            self._places.release()

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
        if self._is_made(path) or not work_out:
            return path if path.is_file() else None
        if not self._places.acquire(blocking=False):
            raise QueueFull("Several profiles are being measured already; try again in a moment.")
        try:
            with self._one_at_a_time:
                if not self._is_made(path):
                    about = {"aggregation": aggregation, "iter_start": iter_start, "iter_stop": iter_stop}
                    self._measure(database, path, {**about, "key_op": key_op})
                return path if path.is_file() else None
        except (OSError, ProfileError):
            return None
        finally:
            self._places.release()

    def _is_made(self, path: Path) -> bool:
        """Whether it was tried: what failed once fails again."""
        if path.is_file():
            self._cache.touch(path)
            return True
        with self._lock:
            return path in self._failed

    def _measure(self, database: Path, path: Path, about: dict[str, Any]) -> None:
        if self._work_out(database, {"kind": "measure", **about}, path).finished:
            return
        with self._lock:
            self._failed[path] = None
            while len(self._failed) > KEPT:
                self._failed.popitem(last=False)

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

    def _work_out(self, database: Path, job: dict[str, Any], target: Path | None = None) -> Outcome:
        """Runs the job; a file that it makes is put in place as ``target``."""
        work = self._cache.make_work_folder()
        try:
            made = work / _MADE
            about = {"source": os.path.realpath(database), "database": os.fspath(made)}
            child = Child({**job, **about, "memory_bytes": self._memory_bytes}, work)
            alarm = threading.Timer(self._seconds, child.end)
            alarm.start()
            outcome = child.listen(lambda _stage, _fraction: None)
            alarm.cancel()
            if not outcome.finished:
                reason = outcome.error or outcome.crash or "it took too long"
                _LOG.warning("Nothing was worked out about %s: %s", ascii(database.name), ascii(reason))
            elif target is not None:
                self._cache.publish(made, target)
            return outcome
        finally:
            shutil.rmtree(work, ignore_errors=True)
