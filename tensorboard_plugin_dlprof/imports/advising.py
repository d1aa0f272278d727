"""Our findings on databases that hold none, such as NVIDIA's: worked out in the worker process when somebody asks."""

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
from tensorboard_plugin_dlprof.imports.child import Child

_LOG = logging.getLogger(__name__)

SECONDS = 60.0
"""Who waits for a page does not wait longer; a database of a million kernels takes some ten seconds."""

KEPT = 64
"""Answers, of some ten kilobytes each."""

Key = tuple[str, int, int, int]


class Advisor:
    """The findings of one server, remembered until the database changes.

    Args:
        cache: where the worker process gets a folder of its own.
        memory_bytes: what it may use.
        seconds: how long it may take.
    """

    def __init__(self, cache: Cache, memory_bytes: int, seconds: float = SECONDS) -> None:
        self._cache = cache
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._one_at_a_time = threading.Lock()
        self._known: OrderedDict[Key, dict[str, Any]] = OrderedDict()

    def findings(
        self, database: Path, aggregation: int, iter_start: int | None, iter_stop: int | None
    ) -> dict[str, Any]:
        """The verdict on an aggregation as ``pipeline.judge_database`` gives it; empty where none was reached."""
        try:
            status = database.stat()
            key = (os.fspath(database), status.st_mtime_ns, status.st_size, aggregation)
            with self._one_at_a_time:
                if key not in self._known:
                    self._known[key] = self._work_out(database, iter_start, iter_stop)
                    while len(self._known) > KEPT:
                        self._known.popitem(last=False)
                self._known.move_to_end(key)
                return self._known[key]
        except (OSError, ProfileError):
            return {}

    def _work_out(self, database: Path, iter_start: int | None, iter_stop: int | None) -> dict[str, Any]:
        work = self._cache.make_work_folder()
        try:
            job = {
                "kind": "judge", "source": os.path.realpath(database), "memory_bytes": self._memory_bytes,
                "iter_start": iter_start, "iter_stop": iter_stop,
            }  # fmt: skip
            child = Child(job, work)
            alarm = threading.Timer(self._seconds, child.end)
            alarm.start()
            outcome = child.listen(lambda _stage, _fraction: None)
            alarm.cancel()
            if not outcome.finished:
                reason = outcome.error or outcome.crash or "it took too long"
                _LOG.warning("No findings on %s: %s", ascii(database.name), ascii(reason))
            return outcome.result
        finally:
            shutil.rmtree(work, ignore_errors=True)
