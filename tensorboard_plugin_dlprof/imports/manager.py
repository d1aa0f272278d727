"""Imports on demand: one at a time, in the order of the requests."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import ProfileError, UnsafeFile
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.jobs import WORK_NAME, Job, JobQueue
from tensorboard_plugin_dlprof.storage.listings import Object
from tensorboard_plugin_dlprof.storage.store import Store

MAX_QUEUE = 100

FETCHED_FRACTION = 0.5
"""How far an import is when its source was fetched from the cloud."""

GIGABYTE = 1 << 30
DEFAULT_MEMORY_BYTES = 8 * GIGABYTE

_DATABASE = "profile.sqlite"
_AFTER_CRASH = "Profile fewer steps, raise --dlprof_memory_limit, or import it with the command dlprof import."


class Source(msgspec.Struct, frozen=True):
    """A file to import, and its name in messages."""

    profile_id: str
    real: Path
    size_bytes: int
    mtime_ns: int
    shown_name: str
    store: Store | None = None
    """The place in the cloud that it is fetched from; None for a file of this machine."""
    object: Object | None = None
    """Which object of that place."""
    is_database: bool = False
    """Whether it is finished once it is fetched."""


class ImportJob(Job, eq=False, kw_only=True):
    """The import of a source."""

    source: Source


def default_memory_bytes() -> int:
    """Half of the machine's memory, at most 8 GB."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return DEFAULT_MEMORY_BYTES
    return min(DEFAULT_MEMORY_BYTES, max(GIGABYTE, total // 2))


class ImportManager:
    """The imports of one server, by profile.

    Args:
        memory_bytes: Memory limit of an import; by default ``default_memory_bytes()``.
    """

    def __init__(
        self,
        cache: Cache,
        memory_bytes: int | None = None,
        finished: Callable[[], None] = lambda: None,
        kernel_rules: str = "",
    ) -> None:
        self.cache = cache
        self.memory_bytes = memory_bytes or default_memory_bytes()
        self.turn = threading.Lock()
        """Held while a worker process runs, so that only one of any kind runs at a time."""
        self._kernel_rules = kernel_rules
        self._jobs: JobQueue[ImportJob] = JobQueue(
            "import", _AFTER_CRASH, cache, self.memory_bytes, nullcontext(), self._import, finished
        )

    def start(self, source: Source) -> None:
        """Queue the import of a source, unless it is queued, running or done already.

        Raises:
            QueueFull: Too many imports are waiting, or the system starts no more threads.
        """
        if self.cache.find(source.real, source.size_bytes, source.mtime_ns) is not None:
            return
        with self._jobs.lock:
            known = self._jobs.get(source.profile_id)
            if known is None or not known.is_active:
                self._jobs.start(source.profile_id, ImportJob(source.shown_name, source=source), MAX_QUEUE)

    def cancel(self, profile_id: str) -> None:
        """End an import or remove it from the queue. Does nothing if there is none."""
        self._jobs.cancel(profile_id)

    def status(self, profile_id: str) -> ImportJob | None:
        """A profile's import; None if none was requested, or it is done."""
        job = self._jobs.get(profile_id)
        return None if job is None or job.state == "done" else job

    def states(self) -> tuple[tuple[str, str, str, float], ...]:
        """Of all imports: profile, state, stage and fraction. Changes when the list of profiles does."""
        return tuple((key, job.state, job.stage, job.fraction) for key, job in self._jobs.all().items())

    def is_busy(self) -> bool:
        """Whether an import is running or waiting."""
        return any(job.is_active for job in self._jobs.all().values())

    def _import(self, job: ImportJob, work: Path) -> str:
        """Import a source into the cache. Returns the error message, empty for none."""
        source, made = job.source, work / _DATABASE
        file = self._fetched(job, work)
        job.hidden |= {os.fspath(made): WORK_NAME}
        job.hidden |= dict.fromkeys(map(os.fspath, (file, source.real)), source.shown_name)
        if source.is_database:
            if job.is_cancelled:
                return "It was not fetched."
            made = file
        else:
            order = {
                "kind": "import",
                "source": os.fspath(file),
                "database": os.fspath(made),
                "kernel_rules": self._kernel_rules,
            }
            with self.turn:
                outcome = self._jobs.run_worker(job, order, work, 0.0 if source.store is None else FETCHED_FRACTION)
            if not outcome.finished:
                return self._jobs.message_of(outcome)
        self.cache.publish(made, self.cache.path(source.real, source.size_bytes, source.mtime_ns))
        return ""

    def _fetched(self, job: ImportJob, work: Path) -> Path:
        """The source on this machine: fetched into a folder of its own if it is in the cloud."""
        source = job.source
        if source.store is None or source.object is None:
            return source.real
        target = work / "fetched" / source.real.name
        target.parent.mkdir()
        share = 1.0 if source.is_database else FETCHED_FRACTION

        def progress(stage: str, fraction: float) -> None:
            self._jobs.set_progress(job, stage, share * fraction)

        try:
            source.store.fetch(source.object, target, progress, self.cache.max_bytes, lambda: job.is_cancelled)
        except ProfileError as error:
            job.of_source = isinstance(error, UnsafeFile)
            raise
        return target
