"""Imports on demand: one at a time, in the order of the requests."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import ProfileError, QueueFull, UnsafeFile
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child, Outcome
from tensorboard_plugin_dlprof.opening.threads import start_thread
from tensorboard_plugin_dlprof.storage.listings import Object
from tensorboard_plugin_dlprof.storage.store import Store

_LOG = logging.getLogger(__name__)

MAX_QUEUE = 100
WORK_NAME = "the cache folder of the server"
"""Stands in messages for the path of an unfinished database, which users of the page must not see."""

FETCHED_FRACTION = 0.5
"""How far an import is when its source was fetched from the cloud."""

GIGABYTE = 1 << 30
DEFAULT_MEMORY_BYTES = 8 * GIGABYTE


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


class Status(msgspec.Struct, frozen=True):
    """``state`` is queued, importing, failed or cancelled. ``fraction`` is of the whole import, from 0 to 1."""

    state: str
    message: str = ""
    of_source: bool = False
    """Whether the cause of a failure is the source, not this server."""
    stage: str = ""
    fraction: float = 0.0
    elapsed_s: float = 0.0


class _Job(msgspec.Struct):
    source: Source
    state: str = "queued"
    message: str = ""
    of_source: bool = False
    stage: str = "Starting"
    fraction: float = 0.0
    started: float = 0.0
    child: Child | None = None
    cancelled: bool = False


class _Jobs(msgspec.Struct):
    """Jobs by profile, in the order of the requests. Finished ones are removed; failed ones stay until the next request
    for their profile."""

    by_profile: dict[str, _Job] = msgspec.field(default_factory=dict)

    def next_queued(self) -> _Job | None:
        return next((job for job in self.by_profile.values() if job.state == "queued"), None)

    def count_queued(self) -> int:
        return sum(job.state == "queued" for job in self.by_profile.values())


def default_memory_bytes() -> int:
    """Half of the machine's memory, at most 8 GB."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return DEFAULT_MEMORY_BYTES
    return min(DEFAULT_MEMORY_BYTES, max(GIGABYTE, total // 2))


class ImportManager:
    """The imports of one server.

    Args:
        cache: Stores the databases.
        memory_bytes: Memory limit of an import; by default ``default_memory_bytes()``.
        finished: Called after every import with the id of the profile.
        kernel_rules: Content of the user's file of kernel rules; empty for none.
    """

    def __init__(
        self,
        cache: Cache,
        memory_bytes: int | None = None,
        finished: Callable[[str], None] = lambda _id: None,
        kernel_rules: str = "",
    ) -> None:
        self.cache = cache
        self.memory_bytes = memory_bytes or default_memory_bytes()
        self.turn = threading.Lock()
        """Held while a worker process runs, so that only one of any kind runs at a time."""
        self._finished = finished
        self._kernel_rules = kernel_rules
        self._lock = threading.Lock()
        self._jobs = _Jobs()
        self._thread: threading.Thread | None = None

    def start(self, source: Source) -> None:
        """Queue the import of a source, unless it is queued, running or done already.

        Raises:
            QueueFull: Too many imports are waiting, or the system starts no more threads.
        """
        if self.cache.find(source.real, source.size_bytes, source.mtime_ns) is not None:
            return
        with self._lock:
            job = self._jobs.by_profile.get(source.profile_id)
            if job is not None and job.state in ("queued", "importing"):
                return
            if self._jobs.count_queued() >= MAX_QUEUE:
                raise QueueFull(f"{MAX_QUEUE} imports are waiting already; try again when some of them are done.")
            if self._thread is None or not self._thread.is_alive():
                self._thread = start_thread(self._run, "dlprof-import")  # which first waits for this lock
            self._jobs.by_profile.pop(source.profile_id, None)
            self._jobs.by_profile[source.profile_id] = _Job(source)

    def cancel(self, profile_id: str) -> None:
        """End an import or remove it from the queue. Does nothing if there is none."""
        with self._lock:
            job = self._jobs.by_profile.get(profile_id)
            if job is None or job.state not in ("queued", "importing"):
                return
            job.cancelled = True
            if job.state == "queued":
                job.state, job.message = "cancelled", "The import was cancelled."
            child = job.child
        if child is not None:
            child.end()

    def status(self, profile_id: str) -> Status | None:
        """The status of a profile's import; None if none was requested, or it is done."""
        with self._lock:
            job = self._jobs.by_profile.get(profile_id)
            if job is None:
                return None
            elapsed = time.monotonic() - job.started if job.state == "importing" else 0.0
            return Status(job.state, job.message, job.of_source, job.stage, job.fraction, elapsed)

    def states(self) -> tuple[tuple[str, str, str, float], ...]:
        """Of all imports that are not done: profile, state, stage and fraction. Changes when the list does."""
        with self._lock:
            jobs = self._jobs.by_profile.items()
            return tuple((profile_id, job.state, job.stage, job.fraction) for profile_id, job in jobs)

    def is_busy(self) -> bool:
        """Whether an import is running or waiting."""
        with self._lock:
            return any(job.state in ("queued", "importing") for job in self._jobs.by_profile.values())

    def process_id(self) -> int | None:
        """Process id of the running worker; None if there is none."""
        with self._lock:
            children = [job.child for job in self._jobs.by_profile.values() if job.child is not None]
        return children[0].process_id if children else None

    def _run(self) -> None:
        while True:
            with self._lock:
                job = self._jobs.next_queued()
                if job is None:
                    self._thread = None
                    return
                job.state, job.started = "importing", time.monotonic()
            try:
                message = self._import(job)
            except ProfileError as error:
                message = str(error)
            except Exception:  # noqa: BLE001 - logged, and the next import goes on
                _LOG.exception("The import of %s failed.", ascii(job.source.shown_name))
                message = "The import failed through an error of the plugin; the log of TensorBoard has the details."
            self._end(job, message)
            self._finished(job.source.profile_id)

    def _end(self, job: _Job, message: str) -> None:
        with self._lock:
            job.child = None
            if job.cancelled:
                job.state, job.message = "cancelled", "The import was cancelled."
            elif message:
                job.state, job.message = "failed", message
            else:
                del self._jobs.by_profile[job.source.profile_id]

    def _import(self, job: _Job) -> str:
        """Import a source into the cache. Returns the error message, empty for none."""
        work = self.cache.make_work_folder()
        try:
            source = self._fetched(job, work)
            if job.cancelled:
                return ""
            if job.source.is_database:
                self._publish(job, source)
                return ""
            with self.turn:
                outcome = self._attempt(job, source, work)
            if outcome.crash and not job.cancelled:
                _LOG.warning("%s while it read %s.", outcome.crash, ascii(job.source.shown_name))
            if job.cancelled:
                return ""
            if not outcome.finished:
                if outcome.details:
                    name, details = ascii(job.source.shown_name), ascii(outcome.details[-4_000:])
                    _LOG.warning("The import of %s wrote: %s", name, details)
                job.of_source = outcome.of_source
                return self._sentence(job, outcome, work)
            self._publish(job, work / _DATABASE)
            return ""
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _fetched(self, job: _Job, work: Path) -> Path:
        """The source on this machine: fetched into a folder of its own if it is in the cloud."""
        source = job.source
        if source.store is None or source.object is None:
            return source.real
        target = work / "fetched" / source.real.name
        target.parent.mkdir()

        def progress(stage: str, fraction: float) -> None:
            with self._lock:
                job.stage, job.fraction = stage, fraction if source.is_database else fraction * FETCHED_FRACTION

        try:
            source.store.fetch(source.object, target, progress, self.cache.max_bytes, lambda: job.cancelled)
        except ProfileError as error:
            job.of_source = isinstance(error, UnsafeFile)
            raise
        return target

    def _publish(self, job: _Job, made: Path) -> None:
        source = job.source
        self.cache.publish(made, self.cache.path(source.real, source.size_bytes, source.mtime_ns))

    def _attempt(self, job: _Job, source: Path, work: Path) -> Outcome:
        (work / _DATABASE).unlink(missing_ok=True)
        with self._lock:
            if job.cancelled:
                return Outcome(False)
            order = {
                "kind": "import",
                "source": os.fspath(source),
                "database": os.fspath(work / _DATABASE),
                "memory_bytes": self.memory_bytes,
                "kernel_rules": self._kernel_rules,
            }
            job.child = child = Child(order, work)

        begun = 0.0 if job.source.store is None else FETCHED_FRACTION

        def progress(stage: str, fraction: float) -> None:
            with self._lock:
                job.stage, job.fraction = stage, begun + (1 - begun) * fraction

        try:
            return child.listen(progress)
        finally:
            with self._lock:
                job.child = None

    def _sentence(self, job: _Job, outcome: Outcome, work: Path) -> str:
        if outcome.crash:
            return (
                f"{outcome.crash}. Profile fewer steps, "
                "raise --dlprof_memory_limit, or import it with the command dlprof import."
            )
        fetched = os.fspath(work / "fetched" / job.source.real.name)
        error = outcome.error.replace(fetched, job.source.shown_name)
        error = error.replace(os.fspath(work / _DATABASE), WORK_NAME).replace(os.fspath(work), WORK_NAME)
        return error.replace(os.fspath(job.source.real), job.source.shown_name)


_DATABASE = "profile.sqlite"
